internal import Dispatch
internal import ReachCore
internal import ReachLoop
public import Reachability
internal import Synchronization

/// The activity of a session, or of all sessions, for a spinner, a lamp or a line in a log:
/// AFNetworkActivityIndicatorManager. ``ActivityIndicator`` has its rules; this is the same with a lock, a clock and a
/// timer.
///
/// A request counts from its resumption to its end, except while it is suspended, by its user or for the network. It
/// counts for its session's activity (``RequestSession/activity``) and for ``shared``. Work of other kinds counts by
/// ``increment()`` and ``decrement()``. An activity is off until ``setEnabled(_:)``. Only when it is on does it use a
/// timer, while something counts. All members may be used from any thread.
public final class RequestActivity: Sendable {
    /// The activity of all sessions of this program, unless their ``RequestSessionOptions/sharedActivity`` is another
    /// one.
    public static let shared = RequestActivity()

    private struct State {
        var indicator: ActivityIndicator
        var block: (@Sendable (Bool) -> Void)?
        var streams = NumberedTable<AsyncStream<Bool>.Continuation>()
    }

    private let state: Mutex<State>
    private let pump: SerialPump
    private let clock: @Sendable () -> BootTime
    /// The activity that counts the same requests for all sessions.
    private let parent: RequestActivity?
    private let connection = Mutex(Connection())

    /// How it waits and delivers; set once. A structure: where a Mutex has a function itself, each access wraps that
    /// function once more, so that calls become slower without end.
    private struct Connection {
        /// Calls `advance` at a time.
        var alarm: (@Sendable (BootTime) -> Void)?
        /// Delivers what was appended to the pump.
        var deliver: (@Sendable () -> Void)?
    }

    /// The activity of a session, which is connected to the session's thread afterwards.
    init(
        _ indicator: ActivityIndicator, pump: SerialPump, parent: RequestActivity? = nil,
        clock: @escaping @Sendable () -> BootTime = { SystemClock.boot }
    ) {
        state = Mutex(State(indicator: indicator))
        self.pump = pump
        self.parent = parent
        self.clock = clock
    }

    /// Creates an activity for sessions that name it as their ``RequestSessionOptions/sharedActivity``, or for work of
    /// other kinds.
    ///
    /// - Parameters:
    ///   - indicator: The delays, and whether it is on; by default as in AFNetworking: 1 s, 0.17 s, and off.
    ///   - delivery: Where the block is called. `immediate` means a private queue here.
    public convenience init(
        _ indicator: ActivityIndicator = ActivityIndicator(), delivery: ReachabilityDelivery = .privateQueue
    ) {
        self.init(indicator, pump: SerialPump(delivery))
        let queue = DispatchQueue(label: "reach.activity")
        connect { [weak self] time in
            self?.wake(at: time, on: queue)
        } deliver: { [pump] in
            _ = pump.start { work in
                queue.async { work() }
                return true
            }
        }
    }

    /// Creates an activity with the caller's clock and alarm, for tests.
    package convenience init(
        _ indicator: ActivityIndicator, clock: @escaping @Sendable () -> BootTime,
        alarm: @escaping @Sendable (BootTime) -> Void
    ) {
        self.init(indicator, pump: SerialPump(.immediate), clock: clock)
        connect(alarm: alarm) { [pump] in
            _ = pump.start { work in
                work()
                return true
            }
        }
    }

    func connect(alarm: @escaping @Sendable (BootTime) -> Void, deliver: @escaping @Sendable () -> Void) {
        connection.withLock { $0 = Connection(alarm: alarm, deliver: deliver) }
    }

    private func wake(at time: BootTime, on queue: DispatchQueue) {
        let wait = max((time - clock()).nanoseconds, 0)
        queue.asyncAfter(deadline: .now() + .nanoseconds(Int(clamping: wait))) { [weak self] in
            guard let self else { return }
            // Dispatch has another clock, which may be ahead.
            if clock() < time { wake(at: time, on: queue) } else { advance() }
        }
    }

    // MARK: - The indicator

    /// Whether to show activity now.
    public var isVisible: Bool { state.withLock { $0.indicator.isVisible } }

    /// The state of the indicator.
    public var indicatorState: ActivityIndicator.State { state.withLock { $0.indicator.state } }

    /// The number of requests that count, and of increments without a decrement.
    public var activityCount: Int { state.withLock { $0.indicator.activityCount } }

    /// Whether the activity is on.
    public var isEnabled: Bool { state.withLock { $0.indicator.isEnabled } }

    /// The delay before activity is shown: AFNetworking's `activationDelay`. A change concerns later delays.
    public var startDelay: Duration {
        get { state.withLock { $0.indicator.startDelay } }
        set { state.withLock { $0.indicator.startDelay = newValue } }
    }

    /// The delay before activity is hidden: AFNetworking's `completionDelay`. A change concerns later delays.
    public var endDelay: Duration {
        get { state.withLock { $0.indicator.endDelay } }
        set { state.withLock { $0.indicator.endDelay = newValue } }
    }

    /// Sets the block that is called with `true` to show activity and `false` to hide it. It replaces the previous
    /// block; `nil` removes it. The block of a session's activity is called where the session calls its completions.
    public func setBlock(_ block: (@Sendable (Bool) -> Void)?) {
        let previous = state.withLock { state in
            defer { state.block = block }
            return state.block
        }
        // The previous block is released without the lock.
        withExtendedLifetime(previous) {}
    }

    /// Whether to show activity, from now on, beginning with the current state. A slow consumer receives only the
    /// newest state. It ends with the consumer's task.
    public var updates: AsyncStream<Bool> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let number = state.withLock { state in
                continuation.yield(state.indicator.isVisible)
                return state.streams.add(continuation)
            }
            continuation.onTermination = { [weak self] _ in
                self?.state.withLock { $0.streams[number] = nil }
            }
        }
    }

    /// Turns the activity on, which takes effect with the next request that starts or ends, or off, which takes effect
    /// at once.
    public func setEnabled(_ isEnabled: Bool) {
        _ = change { $0.setEnabled(isEnabled, at: $1) }
        deliver()
    }

    /// Counts work that is no request, until ``decrement()``. What a session's activity counts so does not count for
    /// ``shared``.
    public func increment() {
        if change({ $0.requestStarted(at: $1) }) { deliver() }
    }

    /// Counts the end of work. Decrements in excess of increments have no effect.
    public func decrement() {
        if change({ $0.requestEnded(at: $1) }) { deliver() }
    }

    // MARK: - Requests and time

    /// Counts a request in or out. The caller delivers afterwards, with no lock held.
    func count(_ counts: Bool) {
        _ = change { counts ? $0.requestStarted(at: $1) : $0.requestEnded(at: $1) }
        // This calls no block on the caller's thread.
        if counts { parent?.increment() } else { parent?.decrement() }
    }

    /// Applies a deadline that has come.
    package func advance() {
        _ = change { $0.advance(to: $1) }
        deliver()
    }

    /// - Returns: Whether there is something to deliver.
    private func change(_ change: (inout ActivityIndicator, BootTime) -> Bool?) -> Bool {
        let (deadline, isChanged): (BootTime?, Bool) = state.withLock { state in
            let before = state.indicator.deadline
            let now = state.indicator.onlyCounts ? BootTime(nanoseconds: 0) : clock()
            let isVisible = change(&state.indicator, now)
            if let isVisible {
                if let block = state.block { pump.append { block(isVisible) } }
                for stream in state.streams.values { stream.yield(isVisible) }
            }
            let after = state.indicator.deadline
            return (after == before ? nil : after, isVisible != nil)
        }
        if let deadline { connection.withLock { $0 }.alarm?(deadline) }
        return isChanged
    }

    private func deliver() { connection.withLock { $0 }.deliver?() }
}
