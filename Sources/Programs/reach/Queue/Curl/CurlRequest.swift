internal import ReachCore
internal import ReachQueue

/// A request in curl's terms: what `reach queue add` reads from its options, and `reach queue import` from a curl command.
struct CurlRequest {
    /// One piece of data; curl joins several by `&`.
    enum Data: Equatable {
        /// `--data-raw`: the text itself.
        case text(String)
        /// `-d`: the text, or with `@` the file.
        case textOrFile(String)
        /// `--data-urlencode`: `TEXT`, `=TEXT`, `NAME=TEXT`, `@FILE` or `NAME@FILE`, percent-encoded but for the name.
        case encoded(String)
    }

    var method: String?
    var headers: [HeaderField] = []
    var data: [Data] = []
    var parts: [MultipartForm.Part] = []
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
            if number > 0 { bytes.append(UInt8(ascii: "&")) }
            switch piece {
            case .text(let text): bytes += text.utf8
            case .textOrFile(let text):
                bytes += text.hasPrefix("@") ? try QueueBodyFile(String(text.dropFirst())).read() : Array(text.utf8)
            case .encoded(let text): bytes += try Self.encoded(text)
            }
        }
        return bytes
    }

    /// `=` before `@` in the text makes it a name and its content, as curl has it.
    private static func encoded(_ text: String) throws(CommandError) -> [UInt8] {
        guard let mark = text.firstIndex(where: { $0 == "=" || $0 == "@" }) else { return escaped(Array(text.utf8)) }
        let name = text[..<mark]
        let content = String(text[text.index(after: mark)...])
        let value = text[mark] == "@" ? try QueueBodyFile(content).read() : Array(content.utf8)
        return (name.isEmpty ? [] : Array(name.utf8) + [UInt8(ascii: "=")]) + escaped(value)
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
        let bare = url.prefix { $0 != "#" }
        return bare + (bare.contains("?") ? "&" : "?") + query + url.dropFirst(bare.count)
    }

    /// Basic credentials (RFC 7617).
    private static func authorization(_ user: String) throws(CommandError) -> HeaderField {
        guard user.contains(":") else {
            throw refusal("-u: '\(user)' has no password: write \(user):PASSWORD, or an Authorization line in -H @FILE")
        }
        return HeaderField("Authorization", "Basic " + Base64.encode(Array(user.utf8)))
    }

    static func refusal(_ sentence: String) -> CommandError {
        CommandError(status: .usage, message: DisplayText.sanitized(sentence))
    }
}
