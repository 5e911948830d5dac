internal import ReachControl
internal import ReachCore
internal import ReachLoop

/// Follows the daemon's queue on an event loop, and reconnects if the daemon goes away.
final class QueueFollower {
    enum Event {
        /// No later event is missed, so the current state can be queried. It also follows a loss and a reconnection.
        case began
        case notice(QueueNotice)
        /// The daemon went away, and the follower reconnects.
        case away(ControlError)
        /// The daemon does not answer, or refuses; it is the last event.
        case failed(CommandError)
    }

    private let path: String
    private let id: Int64?
    private let loop: EventLoop
    private let handler: (Event) -> Void
    private var subscription: ControlSubscription?
    private var retryTimer: TimerQueue.ID?
    private var answerTimer: TimerQueue.ID?
    private var backoff = Backoff(first: .milliseconds(100), longest: .seconds(5))
    private var hasBegun = false
    private var isAway = false

    /// - Parameter id: The request to follow; `nil` for all.
    init(_ id: Int64?, path: String, on loop: EventLoop, handler: @escaping (Event) -> Void) {
        self.path = path
        self.id = id
        self.loop = loop
        self.handler = handler
    }

    /// The handler may be called before this returns.
    func start() {
        do throws(ControlError) {
            subscription = try ControlSubscription(path: path, request: id, on: loop) { [unowned self] event in
                switch event {
                case .event(let event): receive(event)
                case .ended(let error): lose(error)
                }
            }
            answerTimer = loop.schedule(at: SystemClock.boot + DaemonStream.answerPatience) { [unowned self] in
                answerTimer = nil
                lose(.timedOut(path: path))
            }
        } catch {
            lose(error)
        }
    }

    func cancel() {
        subscription?.cancel()
        subscription = nil
        for timer in [retryTimer, answerTimer].compactMap(\.self) { loop.cancel(timer) }
        (retryTimer, answerTimer) = (nil, nil)
    }

    private func receive(_ event: StreamEvent) {
        // After lost events, the next event is `began`.
        guard case .other(_, "queue", let json) = event else { return }
        do throws(StatusReadingError) {
            if let notice = try QueueNotice(reading: json) { return handler(.notice(notice)) }
        } catch {
            return fail(.notUnderstood(error.description))
        }
        answerTimer.map(loop.cancel)
        answerTimer = nil
        hasBegun = true
        isAway = false
        backoff.reset()
        handler(.began)
    }

    private func lose(_ error: ControlError) {
        cancel()
        if case .refused = error { return fail(error) }
        guard hasBegun else { return fail(error) }
        retryTimer = loop.schedule(at: SystemClock.boot + backoff.wait()) { [unowned self] in
            retryTimer = nil
            start()
        }
        if !isAway {
            isAway = true
            handler(.away(error))
        }
    }

    private func fail(_ error: ControlError) {
        cancel()
        handler(.failed(CommandError(queue: error)))
    }
}
