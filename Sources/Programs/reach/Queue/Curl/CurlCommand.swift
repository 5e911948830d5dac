internal import ReachCore

/// A curl command line, as manuals, forms of help desks and browsers ("Copy as cURL") give it.
///
/// Options that change neither the request nor its outcome are ignored, such as `-s`. What the queue cannot do is
/// refused by name: a request that is not the one in the command must not be sent.
struct CurlCommand {
    private(set) var request = CurlRequest()
    /// What was left out of the request, as sentences for people.
    private(set) var notes: [String] = []
    var url: String { request.keepsGlobs ? written : CurlGlob.unescaped(written) }

    private var written = ""
    private var cookies: [String] = []
    /// The values of Cookie headers. curl then sends none of `-b`.
    private var cookieHeaders: [String] = []
    /// Headers of the connection, and those that the header Connection names.
    private var dropped: [String] = []
    private var nominated: Set<String> = []
    private var keepsDots = false

    private static let ignored: Set<String> = [
        "-s", "--silent", "-S", "--show-error", "-v", "--verbose", "-i", "--include", "-f", "--fail",
        "--fail-with-body",
        "-#", "--progress-bar", "-N", "--no-buffer", "--no-progress-meter", "--tr-encoding", "--no-keepalive",
    ]
    private static let ignoredWithValue: Set<String> = [
        "-m", "--max-time", "--connect-timeout", "--retry-delay", "--retry-max-time", "-w", "--write-out",
    ]
    /// Options of one letter with a value, which may follow at once: `-XPOST`.
    private static let lettersWithValue = "XHdFTuAebmwoKxEcrQYyzCPUt".unicodeScalars

    init(_ words: [String]) throws(CommandError) { try self.init(bytes: words.map { Array($0.utf8) }) }

    /// - Parameter words: The command's words, with or without `curl` as the first.
    init(bytes words: [[UInt8]]) throws(CommandError) {
        var words = words[...]
        if let first = words.first.map(Word.init), ["curl", "curl.exe"].contains(first.lossy.split(scalar: "/").last) {
            words.removeFirst()
        }
        while let bytes = words.popFirst() {
            let word = Word(bytes)
            guard bytes.first == UInt8(ascii: "-"), bytes.count > 1 else {
                try setURL(word.text())
                continue
            }
            var name = word.lossy
            var attached: Word?
            if bytes.starts(with: "--".utf8) {
                if let mark = bytes.firstIndex(of: UInt8(ascii: "=")) {
                    name = Word(Array(bytes[..<mark])).lossy
                    attached = Word(Array(bytes[(mark + 1)...]))
                }
            } else if bytes.count > 2 {
                name = "-" + String(Unicode.Scalar(bytes[1]))
                if Self.lettersWithValue.contains(Unicode.Scalar(bytes[1])) {
                    attached = Word(Array(bytes[2...]))
                } else {
                    words = [[UInt8(ascii: "-")] + bytes[2...]] + words  // -sSL
                }
            }
            try read(name) { () throws(CommandError) in
                if let attached { return attached }
                guard let value = words.popFirst() else { throw CurlRequest.refusal("curl's \(name) takes a value") }
                return Word(value)
            }
        }
        try finish()
    }

    /// A word of the command: only data and names of files may be other than text.
    private struct Word {
        let bytes: [UInt8]

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        /// For names, which are then found in no list.
        var lossy: String { String(decoding: bytes, as: UTF8.self) }

        func text() throws(CommandError) -> String {
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw CurlRequest.refusal("'\(lossy)' is not UTF-8, which only data and names of files may be")
            }
            return text
        }
    }

    private mutating func read(_ name: String, _ value: () throws(CommandError) -> Word) throws(CommandError) {
        switch name {
        case "-X", "--request": request.method = try value().text()
        case "-H", "--header": try addHeader(value().text())
        case "-A", "--user-agent": try add("User-Agent", value().text())
        case "-e", "--referer": try add("Referer", value().text())
        case "-b", "--cookie": if let cookie = try Self.cookie(value().text()) { cookies.append(cookie) }
        // curl reads @FILE of these two without its ends of lines.
        case "-d", "--data", "--data-ascii": request.data.append(.textOrLines(try value().bytes))
        case "--data-binary": request.data.append(.textOrFile(try value().bytes))
        case "--data-raw": request.data.append(.text(try value().bytes))
        case "--data-urlencode": request.data.append(.encoded(try value().bytes))
        case "--json": request.addJSON(try value().bytes)
        case "-F", "--form": request.parts.append(try CurlForm.Part(ByteText.text(of: value().bytes), isCurls: true))
        case "--form-string": request.parts.append(try CurlForm.Part(literally: value().text()))
        case "-T", "--upload-file": request.upload = ByteText.text(of: try value().bytes)
        case "-G", "--get": request.isQuery = true
        case "-I", "--head": request.isHead = true
        case "-u", "--user": request.user = try value().text()
        case "-x", "--proxy": request.proxy = try value().text()
        case "--url": try setURL(value().text())
        case "--retry": request.maximumAttempts = try Self.attempts(retries: value().text())
        case "-L", "--location": request.followsRedirects = true
        case "--compressed": request.isCompressed = true
        case "-g", "--globoff": request.keepsGlobs = true
        case "--path-as-is": keepsDots = true
        case "--http1.1", "--http2", "--http2-prior-knowledge", "--http3":
            notes.append("\(name) is left out: the queue chooses the version of HTTP")
        case _ where Self.ignored.contains(name): break
        case _ where Self.ignoredWithValue.contains(name): _ = try value()
        default: throw Self.refusal(of: name)
        }
    }

    static func refusal(of name: String) -> CommandError {
        CurlRequest.refusal("curl's \(name) is not supported" + hint(name))
    }

    private static func hint(_ name: String) -> String {
        switch name {
        case "-o", "--output", "-O", "--remote-name": ": \"reach queue result ID -o FILE\" writes the answer"
        case "-k", "--insecure": ": the queue sends nothing to a server that it cannot verify"
        case "-:", "--next": ": give one curl command a line"
        case "-4", "--ipv4", "-6", "--ipv6":
            ": --when family=\(name.hasUTF8Suffix("4") ? 4 : 6) of reach chooses the family"
        case "--location-trusted": ": the queue sends credentials to their own server only; -L follows redirects"
        case "--resolve", "--connect-to": ": the queue looks names up"
        default: ""
        }
    }

    /// The first attempt is none of curl's retries.
    static func attempts(retries text: String) throws(CommandError) -> Int {
        guard let retries = Int(text), 0...10_000 ~= retries else {
            throw CurlRequest.refusal("--retry: '\(text)' is not a number from 0 to 10000")
        }
        return retries + 1
    }

    private mutating func setURL(_ text: String) throws(CommandError) {
        guard written.isEmpty else {
            throw CurlRequest.refusal("the curl command has a second URL, '\(text)': give one a line")
        }
        // curl guesses http.
        written = text.containsUTF8("://") ? text : "http://" + text
    }

    // MARK: - Headers

    private mutating func addHeader(_ text: String) throws(CommandError) {
        if let name = CurlHeader.connectionName(of: text) {
            dropped.append(name)
            let words = CurlHeader.value(of: text, named: "Connection")?.lowercased().split(scalar: ",") ?? []
            nominated.formUnion(words.map { String($0.trimmed) })
            return
        }
        // `Name:` removes a header of curl's own; `Name;` sends an empty one.
        if text.trimmed.hasUTF8Suffix(":") { return }
        if let value = CurlHeader.value(of: text, named: "Cookie") { return cookieHeaders.append(value) }
        request.headers += try QueueArgument.headers(text.before(";").map { $0 + ":" } ?? text)
    }

    private mutating func add(_ name: String, _ value: String) throws(CommandError) {
        request.headers += try QueueArgument.headers(name + ": " + value)
    }

    /// The value of `-b`; `nil` for an empty one.
    static func cookie(_ value: String) throws(CommandError) -> String? {
        // Begins without cookies, as every request here does.
        if value.isEmpty { return nil }
        guard value.unicodeScalars.contains("=") else {
            throw CurlRequest.refusal("-b: '\(value)' is a file of cookies, which is not supported: write NAME=VALUE")
        }
        return value
    }

    private mutating func finish() throws(CommandError) {
        if written.isEmpty { throw CurlRequest.refusal("the curl command has no URL") }
        if !request.keepsGlobs, let glob = CurlGlob.first(in: written) {
            throw CurlRequest.refusal(
                "the URL has a pattern of curl, '\(glob)', which is not supported: -g takes it as it is")
        }
        let target = try? URLReference(written, slips: .allowed)
        if keepsDots, let target, target.withoutDotSegments.path != target.path {
            throw CurlRequest.refusal(
                "curl's --path-as-is is not supported: the queue resolves \".\" and \"..\" in a path")
        }
        // RFC 6265, 5.4: a request has one field.
        let sent = cookieHeaders.isEmpty ? cookies : cookieHeaders
        if !sent.isEmpty { try add("Cookie", sent.joined(separator: "; ")) }
        if !cookies.isEmpty, !cookieHeaders.isEmpty {
            notes.append("-b is left out, as curl does beside a header Cookie")
        }
        // A field that Connection names is of the connection, too (RFC 9110, 7.6.1).
        for field in request.headers where nominated.contains(field.name.lowercased()) { dropped.append(field.name) }
        request.headers.removeAll { nominated.contains($0.name.lowercased()) }
        if request.isCompressed, request.headers.contains(where: { $0.isNamed("Accept-Encoding") }) {
            request.headers.removeAll { $0.isNamed("Accept-Encoding") }
            notes.append("Accept-Encoding is left out: with --compressed the queue asks for what it can unpack")
        }
        guard !dropped.isEmpty else { return }
        let names = dropped.joined(separator: ", ")
        notes.append("\(names) \(dropped.count == 1 ? "is" : "are") left out: the queue looks after connections itself")
    }
}

/// Headers as browsers copy them.
enum CurlHeader {
    private static let connection: Set<String> = [
        "connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
        "http2-settings",
        "expect", "content-length",
    ]

    /// The name of a header that is about the connection, or a pseudo-header of HTTP/2 such as `:method`, which some
    /// programs copy along; `nil` for all others. A change to another protocol is not left out, as it is what the
    /// request asks for.
    static func connectionName(of text: String) -> String? {
        if text.hasUTF8Prefix(":") { return text.after(":")?.cut(at: ":").map { ":" + $0.before } ?? text }
        guard let (name, value) = text.cut(at: ":"), connection.contains(name.trimmed.lowercased()) else { return nil }
        let changesProtocol = name.trimmed.lowercased() == "upgrade" && !value.trimmed.lowercased().hasUTF8Prefix("h2c")
        return changesProtocol ? nil : String(name.trimmed)
    }

    static func value(of text: String, named wanted: String) -> String? {
        guard let (name, value) = text.cut(at: ":"), HeaderField(String(name), "").isNamed(wanted) else { return nil }
        return String(value.trimmed)
    }
}

/// Patterns for several URLs in one: `[1-3]` and `{a,b}` (curl(1), URL).
enum CurlGlob {
    /// The first pattern; `nil` if there is none. An IPv6 address in brackets is none.
    static func first(in url: String) -> String? {
        let bytes = Array(url.utf8)
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            if byte == UInt8(ascii: "\\"), index + 1 < bytes.count, marks.contains(bytes[index + 1]) {
                index += 2
                continue
            }
            guard "[{".utf8.contains(byte) else {
                index += 1
                continue
            }
            let rest = bytes[index...]
            let end = rest.firstIndex { "]}".utf8.contains($0) } ?? bytes.count - 1
            let inside = String(decoding: bytes[(index + 1)..<max(index + 1, end)], as: UTF8.self)
            let isAddress = byte == UInt8(ascii: "[") && IPAddress(String(inside.prefixScalars { $0 != "%" })) != nil
            guard isAddress else { return String(decoding: bytes[index...end], as: UTF8.self) }
            index = end + 1
        }
        return nil
    }

    /// Without the backslashes by which Firefox keeps curl from taking brackets for patterns.
    static func unescaped(_ url: String) -> String {
        let bytes = Array(url.utf8)
        let kept = bytes.indices.filter { index in
            bytes[index] != UInt8(ascii: "\\") || index + 1 == bytes.count || !marks.contains(bytes[index + 1])
        }
        return String(decoding: kept.map { bytes[$0] }, as: UTF8.self)
    }

    private static let marks = "[]{}".utf8
}
