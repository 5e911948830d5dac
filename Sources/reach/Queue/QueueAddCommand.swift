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
            The letters of the options are curl's. With -o the command then waits until the request is finished, with \
            the exit status of "reach queue wait"; if the command is interrupted, the request continues.

            Exit status: 0 stored, 2 usage, 4 no daemon answers, 69 the daemon keeps no queue, 75 the queue is full, \
            77 not permitted.
            """)

    @OptionGroup var request: QueueRequestOptions
    @OptionGroup var conditions: QueueConditionOptions

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp("Wait for the answer, and write its body to this file.", valueName: "file"))
    var output: String?

    @OptionGroup var queue: QueueOptions

    @Argument(help: "An http or https URL.")
    var url: String

    func run() throws {
        var specification = try request.specification(to: url)
        try conditions.apply(to: &specification)
        if let file = request.uploadFile { try QueueBodyFile(file).check() }
        let receipt = try queue.ask { client throws(ControlError) in
            if let file = request.uploadFile {
                specification.body = .spooled(name: try QueueBodyFile(file).upload(through: &client), bytes: 0)
            }
            return try client.add(specification)
        }
        if queue.json {
            StandardOutput.writeJSON { $0.queueReceipt(receipt, at: SystemClock.now) }
        } else {
            StandardOutput.write("\(receipt.id)\n")
        }
        guard let output else { return }
        let display: QueueWait.Display = queue.json ? .json : StandardOutput.isTerminal ? .bar : .none
        try QueueWait(id: receipt.id, path: queue.path, timeout: nil, display: display).run()
        try QueueResultCommand.write(receipt.id, to: output, queue)
    }
}
