internal import ReachCore

/// A curl command line, as manuals, forms of help desks and browsers ("Copy as cURL") give it.
///
/// Options that change nothing here are ignored, such as `-s`, `-L` and `--compressed`. Others are refused by name: a request
/// that is not the one in the command must not be sent.
struct CurlCommand {
    private(set) var request = CurlRequest()
    private(set) var url = ""

    private static let ignored: Set<String> = [
        "-s", "--silent", "-S", "--show-error", "-v", "--verbose", "-i", "--include", "-L", "--location", "-f",
        "--fail",
        "--fail-with-body", "-#", "--progress-bar", "-N", "--no-buffer", "--compressed", "--http1.1", "--http2", "-4",
        "-6",
        "--no-progress-meter", "-g", "--globoff", "--tr-encoding", "--path-as-is",
    ]
    private static let ignoredWithValue: Set<String> = [
        "-m", "--max-time", "--connect-timeout", "--retry-delay", "--retry-max-time", "-w", "--write-out",
    ]
    /// Options of one letter with a value, which may follow at once: `-XPOST`.
    private static let lettersWithValue = Set("XHdFTuAebmwoKxEcrQYyzCPUt")

    /// - Parameter words: The command's words, with or without `curl` as the first.
    init(_ words: [String]) throws(CommandError) {
        var words = words[...]
        if let first = words.first, first == "curl" || first.hasSuffix("/curl") { words.removeFirst() }
        while let word = words.popFirst() {
            guard word.hasPrefix("-"), word != "-" else {
                try setURL(word)
                continue
            }
            var name = word
            var attached: String?
            if word.hasPrefix("--"), let mark = word.firstIndex(of: "=") {
                name = String(word[..<mark])
                attached = String(word[word.index(after: mark)...])
            } else if !word.hasPrefix("--"), word.count > 2 {
                name = String(word.prefix(2))
                let rest = String(word.dropFirst(2))
                if Self.lettersWithValue.contains(word.dropFirst().first ?? "-") {
                    attached = rest
                } else {
                    words = ["-" + rest] + words  // -sSL
                }
            }
            try read(name) { () throws(CommandError) in
                if let attached { return attached }
                guard let value = words.popFirst() else { throw CurlRequest.refusal("curl's \(name) takes a value") }
                return value
            }
        }
        if url.isEmpty { throw CurlRequest.refusal("the curl command has no URL") }
    }

    private mutating func read(_ name: String, _ value: () throws(CommandError) -> String) throws(CommandError) {
        switch name {
        case "-X", "--request": request.method = try value()
        case "-H", "--header": try addHeader(value())
        case "-A", "--user-agent": try add("User-Agent", value())
        case "-e", "--referer": try add("Referer", value())
        case "-b", "--cookie": try addCookie(value())
        case "-d", "--data", "--data-binary", "--data-ascii": request.data.append(.textOrFile(try value()))
        case "--data-raw": request.data.append(.text(try value()))
        case "--data-urlencode": request.data.append(.encoded(try value()))
        case "--json": try addJSON(value())
        case "-F", "--form": request.parts.append(try MultipartForm.Part(value()))
        case "-T", "--upload-file": request.upload = try value()
        case "-G", "--get": request.isQuery = true
        case "-I", "--head": request.isHead = true
        case "-u", "--user": request.user = try value()
        case "-x", "--proxy": request.proxy = try value()
        case "--url": try setURL(value())
        case "--retry": request.maximumAttempts = try Self.attempts(retries: value())
        case _ where Self.ignored.contains(name): break
        case _ where Self.ignoredWithValue.contains(name): _ = try value()
        default: throw CurlRequest.refusal("curl's \(name) is not supported" + Self.hint(name))
        }
    }

    private static func hint(_ name: String) -> String {
        switch name {
        case "-o", "--output", "-O", "--remote-name": ": \"reach queue result ID -o FILE\" writes the answer"
        case "-k", "--insecure": ": the queue sends nothing to a server that it cannot verify"
        case "-:", "--next": ": give one curl command a line"
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
        guard url.isEmpty else {
            throw CurlRequest.refusal("the curl command has a second URL, '\(text)': give one a line")
        }
        // curl guesses http.
        url = text.contains("://") ? text : "http://" + text
    }

    private mutating func addHeader(_ text: String) throws(CommandError) {
        // `Name:` removes a header of curl's own; `Name;` sends an empty one.
        if text.hasSuffix(":") { return }
        // The queue sets the length itself, and browsers copy it along.
        if text.lowercased().hasPrefix("content-length:") { return }
        request.headers += try QueueArgument.headers(text.hasSuffix(";") ? text.dropLast() + ":" : text)
    }

    private mutating func add(_ name: String, _ value: String) throws(CommandError) {
        request.headers += try QueueArgument.headers(name + ": " + value)
    }

    private mutating func addCookie(_ value: String) throws(CommandError) {
        guard value.contains("=") else {
            throw CurlRequest.refusal("-b: '\(value)' is a file of cookies, which is not supported: write NAME=VALUE")
        }
        try add("Cookie", value)
    }

    private mutating func addJSON(_ value: String) throws(CommandError) {
        request.data.append(.textOrFile(value))
        if !request.headers.contains(where: { $0.isNamed("Content-Type") }) {
            try add("Content-Type", "application/json")
        }
        if !request.headers.contains(where: { $0.isNamed("Accept") }) { try add("Accept", "application/json") }
    }
}
