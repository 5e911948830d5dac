package import ReachCore
package import ReachLoop

/// Watches a target through the daemon for as long as somebody wants to know, on an event loop's thread: when the daemon
/// goes away it is looked for, and what differs when it is back is told.
///
/// While it is connected there is no timer and no wake-up. A daemon that is stopped without its connections being closed
/// (SIGSTOP) is not noticed: Varlink has no sign of life, and to ask for one would wake every client and the daemon for nothing.
/// One that hangs is for the service manager's watchdog to end; then its connections are closed.
package final class DaemonWatch {
    package typealias Handler = (DaemonEvent) -> Void

    private let path: String
    private let target: Target
    private let withRequests: Bool
    private let loop: EventLoop
    private let handler: Handler
    private var stream: DaemonStream
    private var subscription: ControlSubscription?
    private var isCancelled = false
    private var retryTimer: TimerQueue.ID?
    private var answerTimer: TimerQueue.ID?
    private var patienceTimer: TimerQueue.ID?

    /// - Parameter withRequests: What happens to the caller's requests is told, too, as ``DaemonEvent/other(_:type:_:)``.
    package init(
        path: String, target: Target, withRequests: Bool = false, on loop: EventLoop, handler: @escaping Handler
    ) {
        self.path = path
        self.target = target
        self.withRequests = withRequests
        self.loop = loop
        self.handler = handler
        stream = DaemonStream(of: target)
    }

    deinit { cancel() }

    /// Connects for the first time. The handler may be called before this returns.
    package func start() { connect() }

    /// The handler is not called again.
    package func cancel() {
        isCancelled = true
        subscription?.cancel()
        subscription = nil
        for timer in [\DaemonWatch.retryTimer, \.answerTimer, \.patienceTimer] { stop(timer) }
    }

    private func connect() {
        do throws(ControlError) {
            // A daemon that lives takes a connection at once, and others on this thread wait meanwhile.
            subscription = try ControlSubscription(
                path: path, target: target, withRequests: withRequests, patience: .zero, on: loop
            ) { [unowned self] event in
                switch event {
                case .event(let event): take(event)
                case .ended(let error): lose(error)
                }
            }
            set(\.answerTimer, at: SystemClock.boot + DaemonStream.answerPatience) { [unowned self] in
                lose(.timedOut(path: path))
            }
        } catch {
            lose(error)
        }
    }

    private func take(_ event: StreamEvent) {
        let events = stream.take(event)
        if stream.isTold { stop(\.answerTimer) }
        if stream.deadline == nil { stop(\.patienceTimer) }
        tell(events)
    }

    private func lose(_ error: ControlError) {
        stop(\.answerTimer)
        subscription?.cancel()
        subscription = nil
        let (events, wait) = stream.lose(error, at: SystemClock.now)
        set(\.retryTimer, at: SystemClock.boot + wait) { [unowned self] in connect() }
        if let deadline = stream.deadline, patienceTimer == nil {
            set(\.patienceTimer, at: deadline) { [unowned self] in tell(stream.patienceEnded(at: SystemClock.now)) }
        }
        tell(events)
    }

    private func tell(_ events: [DaemonEvent]) {
        // A handler may have enough after any of them.
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
