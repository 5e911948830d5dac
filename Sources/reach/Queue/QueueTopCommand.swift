internal import ArgumentParser
internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachLoop

struct QueueTopCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "top",
        abstract: "Show the queue on the terminal as it changes, until q or Ctrl-C.",
        discussion:
            "With --json, or where there is no terminal, everything that happens is printed as JSON, one event a line.")

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

/// The queue, live: drawn anew when something happens, and each second while something runs.
final class QueueTop {
    private let path: String
    private let screen: TerminalScreen?
    private let loop: EventLoop
    private var follower: QueueFollower?
    private var stream = EventStream(source: .daemon)
    private var away: String?
    private var redrawTimer: TimerQueue.ID?
    private var redrawTime: BootTime?
    /// Why it cannot go on; then the loop is stopped.
    private(set) var failure: CommandError?

    /// What happens within this time is drawn at once.
    private static let shortestInterval: Duration = .milliseconds(100)

    init(path: String, screen: TerminalScreen?, on loop: EventLoop) {
        self.path = path
        self.screen = screen
        self.loop = loop
    }

    func start() {
        let follower = QueueFollower(nil, path: path, on: loop) { [unowned self] in take($0) }
        self.follower = follower
        follower.start()
    }

    func leave() { screen?.leave() }

    func watchKeys() {
        // Not where standard input is a file: that is always ready, and epoll takes none.
        guard isatty(STDIN_FILENO) == 1 else { return }
        try? loop.watch(STDIN_FILENO, for: .readable) { [unowned self] _ in
            var keys = [UInt8](repeating: 0, count: 16)
            let count = read(STDIN_FILENO, &keys, keys.count)
            if count <= 0 || keys[..<count].contains(UInt8(ascii: "q")) { loop.stop() }
        }
    }

    private func take(_ event: QueueFollower.Event) {
        switch event {
        case .began: away = nil
        case .notice(let notice):
            if screen == nil { StandardOutput.write(stream.line(notice.encoded)) }
        case .away(let error): away = error.description
        case .failed(let error):
            failure = error
            loop.stop()
        }
        redrawSoon()
    }

    /// - Parameter delay: A drawing that is due earlier stays due.
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
            var (items, count): ([QueueItem], Int) = ([], 0)
            // What is being sent stands above what waits.
            for states in [["running", "lingering"], ["ready", "backoff", "waiting", "held"]] {
                filter.states = Set(states)
                let page = try client.requests(filter)
                items += page.items
                count = page.count
            }
            let text = QueueTopText(words: .current, bar: QueueProgressText(isUnicode: TerminalStyle.isUnicode))
            screen?.draw(text.lines(items, count, width: width, height: height, at: SystemClock.now.wall))
            // Ages and bytes go on by themselves.
            if count > 0 { redrawSoon(after: .seconds(1)) }
        } catch {
            let reason = DisplayText.sanitized(away ?? error.description)
            screen?.draw([String("\(reason); it is looked for".prefix(width))])
        }
    }
}

/// The lines of the screen.
struct QueueTopText {
    let words: QueueText
    let bar: QueueProgressText

    /// - Returns: At most `height` lines of at most `width` columns.
    func lines(
        _ items: [QueueItem], _ count: Int, width: Int, height: Int, at now: Timestamp
    ) -> [String] {
        let plain = QueueText(style: .plain, width: nil, stamp: words.stamp)
        let style = words.style
        var lines = [style.paint(String("queue: \(words.count(count))".prefix(width)), .bold)]
        guard !items.isEmpty else { return lines }
        let table = plain.table(items, at: now).split(separator: "\n")
        lines.append(style.paint(String(table[0].prefix(width)), .grey))
        for (row, item) in zip(table.dropFirst(), items) {
            let text = String(row.prefix(width))
            lines.append(QueueText.colour(of: item.state).map { style.paint(text, $0) } ?? text)
            if let progress = item.running {
                lines.append(String(("    " + bar.line(progress, rate: nil, width: width)).prefix(width)))
            }
        }
        return Array(lines.prefix(max(1, height)))
    }
}
