internal import ReachCore
internal import ReachQueue

/// A request in curl's terms: what `reach queue add` reads from its options, and `reach queue import` from a curl
/// command.
struct CurlRequest {
    /// One piece of data; curl joins several by `&`.
    enum Data: Equatable {
        /// `--data-raw`: the text itself.
        case text([UInt8])
        /// `--data-binary`: the text, or with `@` the file.
        case textOrFile([UInt8])
        /// `-d` of curl: a file goes without its ends of lines.
        case textOrLines([UInt8])
        /// `--data-urlencode`: `TEXT`, `=TEXT`, `NAME=TEXT`, `@FILE` or `NAME@FILE`, percent-encoded but for the name.
        case encoded([UInt8])
    }

    var method: String?
    var headers: [HeaderField] = []
    var data: [Data] = []
    var parts: [CurlForm.Part] = []
    /// `-T`: the file that is the body; `-` is standard input.
    var upload: String?
    /// `-G`: the data goes to the query.
    var isQuery = false
    /// `-I`
    var isHead = false
    /// `-u`: USER:PASSWORD
    var user: String?
    var maximumAttempts: Int?
    /// `-x`
    var proxy: String?
    /// `-L`
    var followsRedirects = false
    /// `--compressed`
    var isCompressed = false
    /// `-g`: brackets and braces in the URL are no patterns.
    var keepsGlobs = false
    /// Of `--json`, which joins several pieces as they are.
    var joinsWithoutMark = false

    /// Adds data of `--json`.
    mutating func addJSON(_ data: [UInt8]) {
        self.data.append(.textOrFile(data))
        joinsWithoutMark = true
        for name in ["Content-Type", "Accept"] where !headers.contains(where: { $0.isNamed(name) }) {
            headers.append(HeaderField(name, "application/json"))
        }
    }

    /// - Parameter keepsURL: Whether the name of a file to upload is not appended to a URL that ends with a slash.
    /// - Throws: ``CommandError`` if the options contradict each other, the URL is invalid, or a file cannot be read.
    func specification(to url: String, keepsURL: Bool = false) throws(CommandError) -> RequestSpecification {
        let bodies = [!data.isEmpty && !isQuery, !parts.isEmpty, upload != nil, isHead]
        guard bodies.count(where: { $0 }) <= 1 else {
            throw Self.refusal("-d, -F, -T and -I exclude each other: a request has one body")
        }
        let text = try joinedData()
        var request: RequestSpecification
        do throws(RequestValidationError) {
            var address = QueueArgument.url(url, uploading: keepsURL ? nil : upload)
            if isQuery, !text.isEmpty {
                address = Self.appending(String(decoding: text, as: UTF8.self), toQueryOf: address)
            }
            request = try RequestSpecification(method: method ?? usualMethod, url: address, headers: headers)
            if let proxy { request.proxy = try RequestProxy(proxy) }
        } catch {
            throw CommandError(error)
        }
        if let user { request.headers.append(try Self.authorization(user)) }
        request.maximumAttempts = maximumAttempts
        request.followsRedirects = followsRedirects
        request.isCompressed = isCompressed
        guard !data.isEmpty, !isQuery else { return request }
        request.body = .inline(text)
        // The type that curl sends with -d.
        if !headers.contains(where: { $0.isNamed("Content-Type") }) {
            request.headers.append(HeaderField("Content-Type", "application/x-www-form-urlencoded"))
        }
        return request
    }

    private var usualMethod: String {
        if isHead { return "HEAD" }
        if upload != nil { return "PUT" }
        return (data.isEmpty || isQuery) && parts.isEmpty ? "GET" : "POST"
    }

    private func joinedData() throws(CommandError) -> [UInt8] {
        var bytes: [UInt8] = []
        for (number, piece) in data.enumerated() {
            if number > 0, !joinsWithoutMark { bytes.append(UInt8(ascii: "&")) }
            switch piece {
            case .text(let text): bytes += text
            case .textOrFile(let text): bytes += try Self.file(named: text) ?? text
            case .textOrLines(let text):
                bytes += try Self.file(named: text)?.filter { $0 != 0x0a && $0 != 0x0d && $0 != 0 } ?? text
            case .encoded(let text): bytes += try Self.encoded(text)
            }
        }
        return bytes
    }

    /// The content of the file that `@FILE` names; `nil` for a text.
    private static func file(named text: [UInt8]) throws(CommandError) -> [UInt8]? {
        guard text.first == UInt8(ascii: "@") else { return nil }
        return try QueueBodyFile(ByteText.text(of: Array(text.dropFirst()))).read()
    }

    /// `=` before `@` in the text makes it a name and its content, as curl has it.
    private static func encoded(_ text: [UInt8]) throws(CommandError) -> [UInt8] {
        guard let mark = text.firstIndex(where: { "=@".utf8.contains($0) }) else { return escaped(text) }
        let name = Array(text[..<mark])
        let value = try file(named: Array(text[mark...])) ?? Array(text[(mark + 1)...])
        return (name.isEmpty ? [] : name + [UInt8(ascii: "=")]) + escaped(value)
    }

    private static func escaped(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        for byte in bytes {
            if URLCharacters.isUnreserved(byte) {
                text.append(byte)
            } else {
                URLCharacters.appendEscape(of: byte, to: &text)
            }
        }
        return text
    }

    private static func appending(_ query: String, toQueryOf url: String) -> String {
        let bare = url.prefixScalars { $0 != "#" }
        return bare + (bare.unicodeScalars.contains("?") ? "&" : "?") + query + url[bare.endIndex...]
    }

    /// Basic credentials (RFC 7617).
    private static func authorization(_ user: String) throws(CommandError) -> HeaderField {
        guard user.unicodeScalars.contains(":") else {
            throw refusal("-u: '\(user)' has no password: write \(user):PASSWORD, or an Authorization line in -H @FILE")
        }
        return HeaderField("Authorization", "Basic " + Base64.encode(ByteText.bytes(of: user)))
    }

    static func refusal(_ sentence: String) -> CommandError {
        CommandError(status: .usage, message: DisplayText.sanitized(sentence))
    }
}
