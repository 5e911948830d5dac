internal import ArgumentParser
internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachLoop
internal import ReachTerminal

struct TopCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "top",
        abstract: "Show links, paths, probes and the queue on the terminal as they change.",
        discussion: """
            Keys: q quits, Tab shows only the queue, j and k or the arrows choose a request, h holds it, r releases, c \
            cancels, t retries, e explains. Without a terminal, or on one that cannot move its cursor, it prints \
            everything once.

            Exit status: 0, 4 the daemon does not answer.

            Example: reach top
            """)

    @Option(help: ArgumentHelp("Ask the daemon that listens on this socket.", valueName: "path"), completion: .file())
    var socket: String?

    func run() throws {
        if StandardDescriptors.outputWasClosed { StandardOutput.fail(EBADF) }
        let path = socket ?? SocketPath.forThisProcess
        // Before the screen is another: without a daemon there is nothing to show.
        try TopProgram.checkDaemon(path)
        guard !TerminalScreen.isCapable else { return try TopProgram.run(path: path, page: .all) }
        var state = TopState(page: .all, now: SystemClock.now)
        var reader = TopReader(path: path)
        reader.read(&state)
        if let away = state.away { throw CommandError(status: .cannotObserve, message: away) }
        let frame = TopFrame(
            style: .plain, isUnicode: TerminalStyle.isUnicode, width: StandardOutput.width ?? 200, height: 1000,
            lastAnswer: \.lastGatewayAnswer, stamp: LocalTimeText.full)
        StandardOutput.write(frame.lines(state).dropLast().map { $0 + "\n" }.joined())
    }
}
