internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachLoop
internal import ReachQueue
internal import ReachTerminal

/// The queue, live: redrawn on every event, and each second while something runs.
final class QueueTop {
    private let path: String
    private let screen: TerminalScreen?
    private let loop: EventLoop
    private var follower: QueueFollower?
    private var stream = EventStream(source: .daemon)
    private var away: String?
    private var redrawTimer: TimerQueue.ID?
    private var redrawTime: BootTime?
    /// The error that stopped the loop.
    private(set) var failure: CommandError?

    /// Events within this time are drawn together.
    private static let shortestInterval: Duration = .milliseconds(100)

    init(path: String, screen: TerminalScreen?, on loop: EventLoop) {
        self.path = path
        self.screen = screen
        self.loop = loop
    }

    func start() {
        let follower = QueueFollower(nil, path: path, on: loop) { [unowned self] in handle($0) }
        self.follower = follower
        follower.start()
    }

    func leave() { screen?.leave() }

    func watchKeys() {
        // Not if standard input is a file, which is always ready and which epoll rejects.
        guard isatty(STDIN_FILENO) == 1 else { return }
        try? loop.watch(STDIN_FILENO, for: .readable) { [unowned self] _ in
            var keys = [UInt8](repeating: 0, count: 16)
            let count = read(STDIN_FILENO, &keys, keys.count)
            if count <= 0 || keys[..<count].contains(UInt8(ascii: "q")) { loop.stop() }
        }
    }

    private func handle(_ event: QueueFollower.Event) {
        switch event {
        case .began:
            away = nil
            if screen == nil { StandardOutput.write(stream.line(.queueWatching(at: SystemClock.now))) }
        case .notice(let notice):
            if screen == nil { StandardOutput.write(stream.line(notice.encoded)) }
        case .away(let error): away = error.description
        case .failed(let error):
            failure = error
            loop.stop()
        }
        redrawSoon()
    }

    /// - Parameter delay: The time until the drawing, unless one is due earlier.
    func redrawSoon(after delay: Duration = QueueTop.shortestInterval) {
        guard screen != nil else { return }
        let time = SystemClock.boot + delay
        if let redrawTime, redrawTime <= time { return }
        redrawTimer.map(loop.cancel)
        redrawTime = time
        redrawTimer = loop.schedule(at: time) { [unowned self] in
            redrawTimer = nil
            redrawTime = nil
            redraw()
        }
    }

    private func redraw() {
        let (width, height) = (StandardOutput.width ?? 80, TerminalScreen.height ?? 24)
        do throws(ControlError) {
            var client = try ControlClient(path: path)
            var filter = QueueFilter()
            filter.limit = max(1, height - 3)
            var (items, count): ([RequestReport], Int) = ([], 0)
            // Running requests come before waiting ones.
            for states in [[.running, .lingering], [.ready, .backoff, .waiting, .held]] as [Set<QueuedRequestState>] {
                filter.states = states
                let page = try client.requests(filter)
                items += page.items
                count = page.count
            }
            let text = QueueTopText(words: .current, bar: QueueProgressText(isUnicode: TerminalStyle.isUnicode))
            screen?.draw(text.lines(items, count, width: width, height: height, at: SystemClock.now.wall))
            // Ages and bytes change without events.
            if count > 0 { redrawSoon(after: .seconds(1)) }
        } catch {
            let reason = DisplayText.sanitized(away ?? error.description)
            screen?.draw([String("\(reason); reconnecting".prefix(width))])
        }
    }
}
