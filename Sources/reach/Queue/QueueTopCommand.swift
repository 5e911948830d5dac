internal import ArgumentParser
internal import Glibc
internal import ReachLoop
internal import ReachTerminal

struct QueueTopCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "top",
        abstract: "Show the queue on the terminal as it changes, until q or Ctrl-C.",
        discussion:
            "With --json, or without a terminal, it prints every event as JSON, one a line.")

    @OptionGroup var queue: QueueOptions

    func run() throws {
        if StandardDescriptors.outputWasClosed { StandardOutput.fail(EBADF) }
        let signals = [SIGINT, SIGTERM, SIGHUP, SIGWINCH]
        SignalSource.block(signals)
        do {
            let loop = try EventLoop()
            let isScreen = StandardOutput.isTerminal && !queue.json
            let top = QueueTop(path: queue.path, screen: isScreen ? TerminalScreen() : nil, on: loop)
            try SignalSource.watch(signals, on: loop) { signal in
                if signal == SIGWINCH { top.redrawSoon() } else { loop.stop() }
            }
            if isScreen { top.watchKeys() }
            loop.afterEvents { top.start() }
            loop.run()
            top.leave()
            if let failure = top.failure { throw failure }
        } catch let error as SystemError {
            throw CommandError(status: .cannotObserve, message: "cannot watch: \(error)")
        }
    }
}
