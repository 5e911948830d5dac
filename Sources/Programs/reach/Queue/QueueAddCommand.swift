internal import ArgumentParser
internal import ReachControl
internal import ReachCore
internal import ReachLoop
internal import ReachQueue
internal import ReachTerminal

struct QueueAddCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add a request to the queue, and print its number when it is safely stored.",
        discussion: """
            The options with a letter are those of curl, and --json with a document before or after the URL is curl's, \
            too; those that change nothing here are ignored (-s). With -o the command also waits until the request is \
            finished, and has the exit status of "reach queue wait". If the command is interrupted, the request \
            continues.

            Exit status: 0 stored, 2 usage, 4 no daemon answers, 69 the daemon keeps no queue, 75 the queue is full, \
            77 not permitted.

            Example: reach queue add --when unmetered -T a.tar.gz https://example.org/b/
            """)

    @OptionGroup var request: QueueRequestOptions
    @OptionGroup var conditions: QueueConditionOptions

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp(
            "Wait for the answer, and write its body to this file. With - the body goes to standard output, and the "
                + "number to standard error.",
            valueName: "file"),
        completion: .file())
    var output: String?

    @Flag(help: "Print the request, and do not add it.")
    var dryRun = false

    @OptionGroup var queue: QueueOptions

    @Argument(help: ArgumentHelp("An http or https URL.", valueName: "url"))
    var places: [String] = []

    /// The URL, and the document of curl's --json.
    private var words: (urls: [String], document: String?) {
        var urls = places + [request.curl.url].compactMap(\.self)
        guard queue.json, urls.count == 2, let place = urls.firstIndex(where: Self.isDocument) else {
            return (urls, nil)
        }
        let document = urls.remove(at: place)
        return (urls, document)
    }

    private static func isDocument(_ text: String) -> Bool {
        text.unicodeScalars.first.map("{[\"@".unicodeScalars.contains) ?? false
    }

    func validate() throws {
        let words = words
        guard let url = words.urls.first else { throw ValidationError("a URL is missing") }
        guard ByteText.isText(url) else {
            throw ValidationError(
                "'\(DisplayText.sanitized(ByteText.shown(url)))' is not UTF-8: write its bytes as %XX")
        }
        if words.urls.count > 1 {
            throw ValidationError(
                "'\(DisplayText.sanitized(words.urls[1]))' is a second URL beside '\(DisplayText.sanitized(url))'")
        }
        if queue.json, words.document == nil, output == "-" {
            throw ValidationError("--json and -o - exclude each other")
        }
    }

    func run() throws {
        var queue = queue
        var curl = try request.curlRequest()
        if let document = words.document {
            curl.addJSON(ByteText.bytes(of: document))
            queue.json = false
        }
        let addition = try QueueAddition(curl, to: words.urls[0], conditions)
        if dryRun { return StandardOutput.write(lines: addition.description) }
        let receipt = try addition.add(to: queue)
        if output == "-" {
            StandardError.write("\(receipt.id)\n")
        } else {
            Self.report(receipt, queue)
        }
        guard let output else { return }
        let display: QueueWait.Display =
            queue.json ? .json : StandardOutput.isTerminal && output != "-" ? .bar : .none
        try QueueWait(id: receipt.id, path: queue.path, timeout: nil, display: display).run()
        try QueueResultCommand.write(receipt.id, to: output, queue)
    }

    static func report(_ receipt: QueueReceipt, _ queue: QueueOptions) {
        if queue.json {
            StandardOutput.writeJSON { $0.queueReceipt(receipt, at: SystemClock.now) }
        } else {
            StandardOutput.write("\(receipt.id)\n")
            if StandardOutput.isTerminal { reportDeadline(of: receipt.id, queue) }
        }
    }

    /// Until when the daemon keeps the request, for people: no one expects of a durable queue that it gives up.
    private static func reportDeadline(of id: Int64, _ queue: QueueOptions) {
        let item = try? queue.ask { client throws(ControlError) in try client.request(id) }
        guard let item, item.over == nil else { return }
        StandardError.write(
            "reach: request \(id) is tried until \(LocalTimeText.full(item.deadline)), then given up\n")
    }
}
