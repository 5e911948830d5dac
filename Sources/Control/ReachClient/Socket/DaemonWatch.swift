package import ReachCore
package import ReachLoop

/// Watches a target through the daemon until it is cancelled, on an event loop's thread. It reconnects when the
/// connection is lost, and then emits what differs.
///
/// While it is connected it has no timer and causes no wake-up. It does not notice a daemon that is stopped with open
/// connections (SIGSTOP): Varlink has no keepalive, and polling would wake every client and the daemon for nothing. The
/// service manager's watchdog ends a daemon that hangs, which closes its connections.
package final class DaemonWatch {
    package typealias Handler = (StreamEvent) -> Void

    private let path: String
    private let target: Target
    private let withRequests: Bool
    private let seeksPath: Bool
    private let loop: EventLoop
    private let handler: Handler
    private var stream: DaemonStream
    private var subscription: ControlSubscription?
    private var isCancelled = false
    private var retryTimer: TimerQueue.ID?
    private var answerTimer: TimerQueue.ID?
    private var patienceTimer: TimerQueue.ID?

    /// - Parameters:
    ///   - withRequests: Whether to include the events of the caller's requests, as ``StreamEvent/other(_:type:_:)``.
    ///   - seeksPath: Whether the daemon is to ask gateways that did not answer, since somebody waits for a path.
    package init(
        path: String, target: Target, withRequests: Bool = false, seeksPath: Bool = false, on loop: EventLoop,
        handler: @escaping Handler
    ) {
        self.path = path
        self.target = target
        self.withRequests = withRequests
        self.seeksPath = seeksPath
        self.loop = loop
        self.handler = handler
        stream = DaemonStream(of: target)
    }

    deinit { cancel() }

    /// Connects for the first time. The handler may be called before this returns.
    package func start() { connect() }

    /// Ends the watch. The handler is not called again.
    package func cancel() {
        isCancelled = true
        subscription?.cancel()
        subscription = nil
        for timer in [\DaemonWatch.retryTimer, \.answerTimer, \.patienceTimer] { stop(timer) }
    }

    private func connect() {
        do throws(ControlError) {
            // A live daemon accepts a connection at once, and everything else on this thread waits meanwhile.
            subscription = try ControlSubscription(
                path: path, target: target, withRequests: withRequests, seeksPath: seeksPath, patience: .zero, on: loop
            ) { [unowned self] event in
                switch event {
                case .event(let event): handle(event)
                case .ended(let error): handleLoss(error)
                }
            }
            set(\.answerTimer, at: SystemClock.boot + DaemonStream.answerPatience) { [unowned self] in
                handleLoss(.timedOut(path: path))
            }
        } catch {
            handleLoss(error)
        }
    }

    private func handle(_ event: StreamEvent) {
        let events = stream.handle(event)
        if stream.isLive { stop(\.answerTimer) }
        if stream.deadline == nil { stop(\.patienceTimer) }
        emit(events)
    }

    private func handleLoss(_ error: ControlError) {
        stop(\.answerTimer)
        subscription?.cancel()
        subscription = nil
        let (events, wait) = stream.handleLoss(error, at: SystemClock.now)
        set(\.retryTimer, at: SystemClock.boot + wait) { [unowned self] in connect() }
        if let deadline = stream.deadline, patienceTimer == nil {
            set(\.patienceTimer, at: deadline) { [unowned self] in emit(stream.expire(at: SystemClock.now)) }
        }
        emit(events)
    }

    private func emit(_ events: [StreamEvent]) {
        // The handler may cancel the watch after any of them.
        for event in events where !isCancelled { handler(event) }
    }

    // MARK: - Timers

    private typealias Timer = ReferenceWritableKeyPath<DaemonWatch, TimerQueue.ID?>

    private func set(_ timer: Timer, at deadline: BootTime, _ work: @escaping () -> Void) {
        stop(timer)
        self[keyPath: timer] = loop.schedule(at: deadline) { [unowned self] in
            self[keyPath: timer] = nil
            work()
        }
    }

    private func stop(_ timer: Timer) {
        self[keyPath: timer].map(loop.cancel)
        self[keyPath: timer] = nil
    }
}
