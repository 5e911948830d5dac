internal import ArgumentParser
internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachLoop
internal import ReachQueue
internal import ReachTerminal

/// Waits on the calling thread until a request is over, and shows its progress.
final class QueueWait {
    enum Display {
        /// A line on the terminal, which is overwritten.
        case bar
        /// The current request, its events, and the request when it is over.
        case json
        case none
    }

    private let id: Int64
    private let path: String
    private let timeout: Duration?
    private let display: Display
    private var outcome: Result<RequestReport, CommandError>?
    private var line = QueueWaitLine()
    private var stream = EventStream(source: .daemon)

    init(id: Int64, path: String, timeout: Duration?, display: Display) {
        self.id = id
        self.path = path
        self.timeout = timeout
        self.display = display
    }

    /// - Throws: ``CommandError`` unless the request is done.
    func run() throws(CommandError) {
        let loop: EventLoop
        do throws(SystemError) {
            loop = try EventLoop()
        } catch {
            throw CommandError(status: .cannotObserve, message: "cannot watch: \(error)")
        }
        let follower = QueueFollower(id, path: path, on: loop) { [unowned self] in handle($0, loop) }
        loop.afterEvents { follower.start() }
        if let timeout {
            _ = loop.schedule(at: SystemClock.boot + timeout) { [unowned self] in
                end(.failure(CommandError(status: .timedOut)), loop)
            }
        }
        if display == .bar { redrawEverySecond(loop) }
        loop.run()
        follower.cancel()
        if display == .bar { StandardOutput.write("\r\u{1b}[K") }
        let item = try outcome?.get()
        if let item { try finish(item) }
    }

    private func finish(_ item: RequestReport) throws(CommandError) {
        switch display {
        case .json: StandardOutput.writeJSON { $0.queueItem(item, at: SystemClock.now) }
        case .bar: StandardOutput.write(lines: QueueText.current.describe(item))
        case .none: break
        }
        guard item.state != .done else { return }
        let reason = item.reason.map { ": \($0)" } ?? ""
        throw CommandError(
            status: .notReachable, message: DisplayText.sanitized("request \(id) is \(item.state.rawValue)\(reason)"))
    }

    private func end(_ outcome: Result<RequestReport, CommandError>, _ loop: EventLoop) {
        if self.outcome == nil { self.outcome = outcome }
        loop.stop()
    }

    // MARK: - What happens

    private func handle(_ event: QueueFollower.Event, _ loop: EventLoop) {
        switch event {
        case .began: ask(loop, isFirst: true)
        case .notice(let notice):
            if display == .json { StandardOutput.write(stream.line(notice.encoded)) }
            if case .progress(let progress) = notice {
                line.update(progress, at: SystemClock.boot)
            } else {
                ask(loop)
            }
        case .away(let error): line.away = error.description
        case .failed(let error): end(.failure(error), loop)
        }
        draw()
    }

    /// Queries the current state of the request.
    ///
    /// - Parameter isFirst: Whether the watch began, or began again.
    private func ask(_ loop: EventLoop, isFirst: Bool = false) {
        do throws(ControlError) {
            var client = try ControlClient(path: path)
            let item = try client.request(id)
            line.away = nil
            if item.over != nil { return end(.success(item), loop) }
            if isFirst, display == .json { StandardOutput.writeJSON { $0.queueItem(item, at: SystemClock.now) } }
            guard display == .bar else { return }
            let explanation = try client.explanation(ofRequest: id)
            let hasNetworkReason = explanation.reasons.first?.blocker.isOfNetwork
            let links = hasNetworkReason == true ? try client.links() : []
            line.update(explanation, links: links, at: SystemClock.boot)
        } catch {
            // The follower reports a daemon that goes away.
            if error.queueError != nil { end(.failure(CommandError(queue: error)), loop) }
        }
    }

    // MARK: - The terminal

    private func redrawEverySecond(_ loop: EventLoop) {
        _ = loop.schedule(at: SystemClock.boot + .seconds(1)) { [unowned self] in
            draw()
            redrawEverySecond(loop)
        }
    }

    private func draw() {
        guard display == .bar else { return }
        let text = line.text(
            .current, QueueProgressText(isUnicode: TerminalStyle.isUnicode), width: StandardOutput.width ?? 80,
            at: SystemClock.now)
        StandardOutput.write("\r\(text)\u{1b}[K")
    }
}

struct QueueWaitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait",
        abstract: "Wait until a request is finished.",
        discussion: """
            On a terminal it shows the request's progress, or what the request waits for; otherwise it prints the \
            request's events as JSON. If the daemon stops, the command reconnects.

            Exit status: 0 done, 1 dead, cancelled or not found, 2 usage, 4 no daemon answers, 124 on timeout.

            Example: reach queue wait --timeout 10m 12
            """)

    @Option(
        help: ArgumentHelp("Stop waiting after this long; the request continues.", valueName: "duration"),
        transform: { try CommandLineValue.duration($0) })
    var timeout: Duration?

    @OptionGroup var queue: QueueOptions

    @Argument(
        help: "The number of a request.", completion: ValueCompletion.request,
        transform: { try CommandLineValue.request($0) })
    var id: Int64

    func run() throws {
        let display: QueueWait.Display = StandardOutput.isTerminal && !queue.json ? .bar : .json
        try QueueWait(id: id, path: queue.path, timeout: timeout, display: display).run()
    }
}
