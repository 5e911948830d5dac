internal import ArgumentParser
internal import ReachControl
internal import ReachCore
internal import ReachTerminal

struct QueueWaitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait",
        abstract: "Wait until a request is finished.",
        discussion: """
            On a terminal it shows the request's progress, or what the request waits for; otherwise it prints the \
            request's events as JSON. If the daemon stops, the command reconnects.

            Exit status: 0 done, 1 dead, cancelled or not found, 2 usage, 4 no daemon answers, 124 on timeout.
            """)

    @Option(
        help: ArgumentHelp("Stop waiting after this long; the request continues.", valueName: "duration"),
        transform: { try CommandLineValue.duration($0) })
    var timeout: Duration?

    @OptionGroup var queue: QueueOptions

    @Argument(help: "The number of a request.", completion: ValueCompletion.request)
    var id: Int64

    func run() throws {
        let display: QueueWait.Display = StandardOutput.isTerminal && !queue.json ? .bar : .json
        try QueueWait(id: id, path: queue.path, timeout: timeout, display: display).run()
    }
}
