internal import ArgumentParser
internal import ReachControl
internal import ReachCore
internal import ReachLoop

struct QueueAddCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add a request to the queue, and print its number when it is safely stored.",
        discussion: """
            The letters are curl's. With -o the command then waits until the request is over, and ends as "reach queue \
            wait" does; the request goes on without it.

            Exit status: 0 stored, 2 usage, 4 no daemon answers, 69 it keeps no queue, 75 the queue is full, 77 not \
            permitted.
            """)

    @OptionGroup var request: QueueRequestOptions
    @OptionGroup var conditions: QueueConditionOptions

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp("Wait for the answer, and write its body into this file.", valueName: "file"))
    var output: String?

    @OptionGroup var queue: QueueOptions

    @Argument(help: "An http or https URL.")
    var url: String

    func run() throws {
        var submission = try request.submission(to: url)
        conditions.apply(to: &submission)
        if let file = request.uploadFile { try QueueBodyFile(file).check() }
        let receipt = try queue.ask { client throws(ControlError) in
            if let file = request.uploadFile {
                submission.body = .upload(try QueueBodyFile(file).upload(through: &client))
            }
            return try client.add(submission)
        }
        if queue.json {
            QueueOptions.printJSON { $0.queueReceipt(receipt, at: SystemClock.now) }
        } else {
            StandardOutput.write("\(receipt.id)\n")
        }
        guard let output else { return }
        let display: QueueWait.Display = queue.json ? .json : StandardOutput.isTerminal ? .bar : .none
        try QueueWait(id: receipt.id, path: queue.path, timeout: nil, display: display).run()
        try QueueResultCommand.write(receipt.id, to: output, queue)
    }
}

/// The request itself, by curl's letters.
struct QueueRequestOptions: ParsableArguments {
    @Option(
        name: [.customShort("X"), .customLong("request")],
        help: ArgumentHelp("The method; GET, POST with -d, PUT with -T if nothing is given.", valueName: "method"))
    var method: String?

    @Option(
        name: [.customShort("H"), .customLong("header")],
        help: ArgumentHelp("A header. May be given several times.", valueName: "name: value"),
        transform: { try QueueArgument.header($0) })
    var headers: [QueueHeader] = []

    @Option(
        name: [.customShort("d"), .customLong("data")],
        help: ArgumentHelp(
            "The body, or @ and the file that it is in, @- for standard input; as it is. Several are joined by &.",
            valueName: "data"))
    var data: [String] = []

    @Option(
        name: [.customShort("T"), .customLong("upload-file")],
        help: ArgumentHelp("Send this file as the body; - is standard input.", valueName: "file"))
    var uploadFile: String?

    func validate() throws {
        if !data.isEmpty && uploadFile != nil { throw ValidationError("-d and -T exclude each other") }
    }

    /// - Throws: ``CommandError`` when a file of `-d` cannot be read.
    func submission(to url: String) throws(CommandError) -> QueueSubmission {
        var submission = QueueSubmission(url: QueueArgument.url(url, uploading: uploadFile))
        submission.headers = headers
        submission.method = method ?? (uploadFile != nil ? "PUT" : data.isEmpty ? nil : "POST")
        guard !data.isEmpty else { return submission }
        var body: [UInt8] = []
        for (number, text) in data.enumerated() {
            if number > 0 { body.append(UInt8(ascii: "&")) }
            body += text.hasPrefix("@") ? try QueueBodyFile(String(text.dropFirst())).read() : Array(text.utf8)
        }
        submission.body = .bytes(body)
        // As curl says of what -d holds.
        if !headers.contains(where: { $0.name.lowercased() == "content-type" }) {
            submission.headers.append(QueueHeader("Content-Type", "application/x-www-form-urlencoded"))
        }
        return submission
    }
}

/// When a request may go, and what it has to do with others.
struct QueueConditionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Send only when this holds: any, wifi, wired, wwan, \"not wwan\", unmetered, validated, interface=NAME, or several with commas between them.",
            valueName: "condition"))
    var when: String?

    @Option(help: ArgumentHelp("urgent, high, normal, low, or 0 to 3.", valueName: "priority"))
    var priority: String?

    @Option(
        help: ArgumentHelp("Give it up if it has not been sent after this long.", valueName: "duration"),
        transform: { try CommandLineValue.duration($0) })
    var expires: Duration?

    @Option(help: ArgumentHelp("Names the piece of work; see --mode.", valueName: "name"))
    var key: String?

    @Option(
        help: ArgumentHelp(
            "What becomes of requests with the same key: keep, replace, append, append-or-replace, coalesce.",
            valueName: "mode"))
    var mode: String?

    @Option(help: ArgumentHelp("Requests with the same name go one after the other.", valueName: "name"))
    var order: String?

    @Flag(help: "With --order: give it up if the one before it is given up.")
    var depends = false

    @Option(help: ArgumentHelp("The value of the header Idempotency-Key.", valueName: "text"))
    var idempotencyKey: String?

    @Option(help: ArgumentHelp("Give it up after so many failures that count.", valueName: "number"))
    var maxAttempts: Int?

    @Flag(help: "End an attempt when --when no longer holds, although its path still works.")
    var strict = false

    @Option(
        help: ArgumentHelp(
            "A status, or two with - between them, that is success. May be given several times.", valueName: "status"),
        transform: { try QueueArgument.statuses($0) })
    var accept: [ClosedRange<Int>] = []

    func apply(to submission: inout QueueSubmission) {
        submission.when = when
        submission.priority = priority
        submission.expires = expires
        submission.key = key
        submission.mode = mode
        submission.order = order
        submission.depends = depends
        submission.idempotencyKey = idempotencyKey
        submission.maximumAttempts = maxAttempts
        submission.isStrict = strict
        submission.acceptedStatuses = accept
    }
}

/// Values on the command line of `reach queue add`, with a sentence for each that is wrong.
enum QueueArgument {
    static func header(_ text: String) throws -> QueueHeader {
        guard let colon = text.firstIndex(of: ":"), colon != text.startIndex else {
            throw ValidationError("'\(DisplayText.sanitized(text))' is not of the form 'Name: value'")
        }
        let value = text[text.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
        return QueueHeader(String(text[..<colon]), String(value))
    }

    static func statuses(_ text: String) throws -> ClosedRange<Int> {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
        guard let first = parts.first ?? nil, let last = parts.last ?? nil, parts.count <= 2, 100...599 ~= first,
            100...599 ~= last, first <= last
        else { throw ValidationError("'\(DisplayText.sanitized(text))' is no status, nor two such as 200-299") }
        return first...last
    }

    /// A URL that ends with a slash is a directory for the file, as curl has it.
    static func url(_ url: String, uploading file: String?) -> String {
        guard let file, file != "-", url.hasSuffix("/") else { return url }
        let name = file.split(separator: "/").last ?? ""
        return url
            + name.utf8.map { byte in
                let isPlain =
                    byte < 0x80
                    && (Character(Unicode.Scalar(byte)).isLetter
                        || Character(Unicode.Scalar(byte)).isNumber || Array("-._~".utf8).contains(byte))
                if isPlain { return String(decoding: [byte], as: UTF8.self) }
                return "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }.joined()
    }
}
