internal import ArgumentParser
internal import ReachControl
internal import ReachCore

struct QueueWaitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait",
        abstract: "Wait until a request is over.",
        discussion: """
            Shows on a terminal how far it is, or what it waits for; otherwise what happens to it, as JSON. If the \
            daemon goes away, the command reconnects.

            Exit status: 0 done, 1 dead or cancelled or not there, 2 usage, 4 no daemon answers, 124 on timeout.
            """)

    @Option(
        help: ArgumentHelp("Give up after this long; the request goes on.", valueName: "duration"),
        transform: { try CommandLineValue.duration($0) })
    var timeout: Duration?

    @OptionGroup var queue: QueueOptions

    @Argument(help: "The number of a request.")
    var id: Int64

    func run() throws {
        let display: QueueWait.Display = StandardOutput.isTerminal && !queue.json ? .bar : .json
        try QueueWait(id: id, path: queue.path, timeout: timeout, display: display).run()
    }
}
