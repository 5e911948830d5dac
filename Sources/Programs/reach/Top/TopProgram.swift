internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachKernel
internal import ReachLoop
internal import ReachQueue
internal import ReachTerminal

/// The edge of `reach top`: asks the daemon after each event, reads keys, and draws. Confined to its loop.
final class TopProgram {
    private let path: String
    private let screen: TerminalScreen
    private let loop: EventLoop
    private var state: TopState
    private var reader: TopReader
    private var watch: DaemonWatch?
    private var follower: QueueFollower?
    private var observer: KernelObserver?
    private var drawTimer: TimerQueue.ID?
    private var drawTime: BootTime?
    /// The error that stopped the loop.
    private(set) var failure: CommandError?

    /// Events within this time are drawn together.
    private static let shortestInterval: Duration = .milliseconds(100)
    static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP]

    init(path: String, page: TopState.Page, on loop: EventLoop) {
        self.path = path
        self.loop = loop
        state = TopState(page: page, now: SystemClock.now)
        reader = TopReader(path: path)
        screen = TerminalScreen()
    }

    /// Runs until `q` or a signal.
    static func run(path: String, page: TopState.Page) throws {
        SignalSource.block(signals)
        do {
            let loop = try EventLoop()
            let program = TopProgram(path: path, page: page, on: loop)
            defer { program.screen.leave() }
            try SignalSource.watch(signals, on: loop) { program.handle(signal: $0) }
            program.watchKeys()
            loop.afterEvents { program.start() }
            loop.run()
            program.screen.leave()
            if let failure = program.failure { throw failure }
        } catch let error as SystemError {
            throw CommandError(status: .cannotObserve, message: "cannot watch: \(error)")
        }
    }

    static func checkDaemon(_ path: String) throws(CommandError) {
        do throws(ControlError) {
            var client = try ControlClient(path: path)
            try client.ping()
        } catch {
            throw .cannotAsk(error)
        }
    }

    // MARK: - Input

    private func start() {
        let watch = DaemonWatch(path: path, target: .internet, on: loop) { [unowned self] in handle($0) }
        self.watch = watch
        watch.start()
        followQueue()
        // Links that carry no path to the Internet change without an event of the daemon.
        let observer = KernelObserver(loop: loop) { [unowned self] event in
            if case .changed(let effects) = event, effects.isEmpty { return }
            drawSoon()
        }
        self.observer = observer
        try? observer.start()
        drawSoon(after: .zero)
    }

    /// Follows the queue unless that is done already. A daemon without a queue refuses, and the reader says so; the
    /// next daemon may have one.
    private func followQueue() {
        guard follower == nil else { return }
        let queue = QueueFollower(nil, path: path, on: loop) { [unowned self] event in
            if case .failed = event { follower = nil }
            drawSoon()
        }
        follower = queue
        queue.start()
    }

    private func handle(_ event: StreamEvent) {
        switch event {
        case .disconnected(_, let error, _): state.away = error.description
        case .unavailable(let error, _): state.away = "\(error)"
        case .snapshot(let change, _), .target(.change(let change)):
            state.away = nil
            state.internet = change.state
        case .reconnected:
            state.away = nil
            followQueue()
        case .target, .dropped, .other: break
        }
        drawSoon()
    }

    private func handle(signal: CInt) {
        switch signal {
        case SIGWINCH:
            screen.forget()
            drawSoon(after: .zero)
        case SIGTSTP:
            screen.leave()
            // Stops here; what follows happens when the shell lets it continue.
            kill(getpid(), SIGSTOP)
            screen.enter()
            drawSoon(after: .zero)
        default: loop.stop()
        }
    }

    private func watchKeys() {
        // Not if standard input is a file, which is always ready and which epoll rejects.
        guard isatty(STDIN_FILENO) == 1 else { return }
        try? loop.watch(STDIN_FILENO, for: .readable) { [unowned self] _ in
            var bytes = [UInt8](repeating: 0, count: 256)
            let count = read(STDIN_FILENO, &bytes, bytes.count)
            guard count > 0 else { return loop.stop() }
            for key in TopKey.keys(in: Array(bytes[..<count])) { handle(key) }
        }
    }

    private func handle(_ key: TopKey) {
        switch state.handle(key, rows: frame.rows(state)) {
        case .none: break
        case .redraw: draw()
        case .quit: loop.stop()
        case .order(let order):
            reader.perform(order, on: &state)
            drawSoon(after: .zero)
        }
    }

    // MARK: - Output

    /// - Parameter delay: The time until the drawing, unless one is due earlier.
    private func drawSoon(after delay: Duration = TopProgram.shortestInterval) {
        let time = SystemClock.boot + delay
        if let drawTime, drawTime <= time { return }
        drawTimer.map(loop.cancel)
        drawTime = time
        drawTimer = loop.schedule(at: time) { [unowned self] in
            (drawTimer, drawTime) = (nil, nil)
            reader.read(&state)
            draw()
            if let next = state.nextChange { drawSoon(after: next) }
        }
    }

    private var frame: TopFrame {
        TopFrame(
            style: .current, isUnicode: TerminalStyle.isUnicode, width: StandardOutput.width ?? 80,
            height: StandardOutput.height ?? 24, lastAnswer: \.lastGatewayAnswer, stamp: LocalTimeText.full)
    }

    private func draw() {
        state.now = SystemClock.now
        screen.draw(frame.lines(state))
    }
}
