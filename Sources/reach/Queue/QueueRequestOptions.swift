internal import ArgumentParser
internal import ReachControl
internal import ReachCore

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
