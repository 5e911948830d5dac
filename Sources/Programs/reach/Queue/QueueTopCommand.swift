internal import ArgumentParser
internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachLoop
internal import ReachTerminal

struct QueueTopCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "top",
        abstract: "Show the queue on the terminal as it changes, until q or Ctrl-C.",
        discussion: """
            The page of the queue of "reach top", with the same keys. With --json, or without a terminal, it prints \
            every event as JSON, one per line.

            Exit status: 0 ended by the user, 2 usage, 4 no daemon answers.

            Example: reach queue top
            """)

    @OptionGroup var queue: QueueOptions

    func run() throws {
        if StandardDescriptors.outputWasClosed { StandardOutput.fail(EBADF) }
        if TerminalScreen.isCapable, !queue.json {
            try TopProgram.checkDaemon(queue.path)
            return try TopProgram.run(path: queue.path, page: .queue)
        }
        let signals = [SIGINT, SIGTERM, SIGHUP]
        SignalSource.block(signals)
        do {
            let loop = try EventLoop()
            let top = QueueTop(path: queue.path, on: loop)
            try SignalSource.watch(signals, on: loop) { _ in loop.stop() }
            loop.afterEvents { top.start() }
            loop.run()
            if let failure = top.failure { throw failure }
        } catch let error as SystemError {
            throw CommandError(status: .cannotObserve, message: "cannot watch: \(error)")
        }
    }
}

/// The events of the queue as JSON, one per line.
final class QueueTop {
    private let path: String
    private let loop: EventLoop
    private var follower: QueueFollower?
    private var stream = EventStream(source: .daemon)
    /// The error that stopped the loop.
    private(set) var failure: CommandError?

    init(path: String, on loop: EventLoop) {
        self.path = path
        self.loop = loop
    }

    func start() {
        let follower = QueueFollower(nil, path: path, on: loop) { [unowned self] in handle($0) }
        self.follower = follower
        follower.start()
    }

    private func handle(_ event: QueueFollower.Event) {
        switch event {
        case .began: StandardOutput.write(stream.line(.queueWatching(at: SystemClock.now)))
        case .notice(let notice): StandardOutput.write(stream.line(notice.encoded))
        case .away: break
        case .failed(let error):
            failure = error
            loop.stop()
        }
    }
}
