internal import ReachCore
internal import ReachLoop
internal import Reachability
internal import Synchronization

/// The activity of a session, for a spinner, a lamp or a line in a log: AFNetworkActivityIndicatorManager.
/// ``ActivityIndicator`` has its rules.
///
/// A request counts from its resumption to its end, except while it is suspended, by its user or for the network. The
/// activity is off until ``setEnabled(_:)``. Only when it is on does a session with running requests use timers for it.
public final class RequestActivity: Sendable {
    private struct State {
        var indicator: ActivityIndicator
        var block: (@Sendable (Bool) -> Void)?
        var streams: [UInt64: AsyncStream<Bool>.Continuation] = [:]
        var lastStream: UInt64 = 0
    }

    private let state: Mutex<State>
    private let pump: SerialPump
    /// Calls `advance` at a time. The session sets it once.
    private let alarm = Mutex<(@Sendable (BootTime) -> Void)?>(nil)
    /// Delivers what was appended to the pump. The session sets it once.
    private let deliver = Mutex<(@Sendable () -> Void)?>(nil)

    init(_ indicator: ActivityIndicator, pump: SerialPump) {
        state = Mutex(State(indicator: indicator))
        self.pump = pump
    }

    func connect(alarm: @escaping @Sendable (BootTime) -> Void, deliver: @escaping @Sendable () -> Void) {
        self.alarm.withLock { $0 = alarm }
        self.deliver.withLock { $0 = deliver }
    }

    /// Whether to show activity now.
    public var isVisible: Bool { state.withLock { $0.indicator.isVisible } }

    /// The state of the indicator.
    public var indicatorState: ActivityIndicator.State { state.withLock { $0.indicator.state } }

    /// The number of requests that count.
    public var activityCount: Int { state.withLock { $0.indicator.activityCount } }

    /// Sets the block that is called with `true` to show activity and `false` to hide it. It replaces the previous
    /// block; `nil` removes it. The block is called where the session calls its completions.
    public func setBlock(_ block: (@Sendable (Bool) -> Void)?) { state.withLock { $0.block = block } }

    /// Whether to show activity, from now on, beginning with the current state. A slow consumer receives only the newest
    /// state. It ends with the consumer's task.
    public var updates: AsyncStream<Bool> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let number = state.withLock { state in
                state.lastStream += 1
                state.streams[state.lastStream] = continuation
                continuation.yield(state.indicator.isVisible)
                return state.lastStream
            }
            continuation.onTermination = { [weak self] _ in
                self?.state.withLock { _ = $0.streams.removeValue(forKey: number) }
            }
        }
    }

    /// Turns the activity on, which takes effect with the next request that starts or ends, or off, which takes effect
    /// at once.
    public func setEnabled(_ isEnabled: Bool) {
        change { $0.setEnabled(isEnabled, at: $1) }
        deliver.withLock { $0 }?()
    }

    /// Counts a request in or out. The caller delivers afterwards, with no lock held.
    func count(_ counts: Bool) {
        change { counts ? $0.requestStarted(at: $1) : $0.requestEnded(at: $1) }
    }

    /// Applies a deadline that has come.
    func advance() {
        change { $0.advance(to: $1) }
        deliver.withLock { $0 }?()
    }

    private func change(_ change: (inout ActivityIndicator, BootTime) -> Bool?) {
        let deadline: BootTime? = state.withLock { state in
            let before = state.indicator.deadline
            let isVisible = change(&state.indicator, SystemClock.boot)
            if let isVisible {
                if let block = state.block { pump.append { block(isVisible) } }
                for stream in state.streams.values { stream.yield(isVisible) }
            }
            let after = state.indicator.deadline
            return after == before ? nil : after
        }
        if let deadline { alarm.withLock { $0 }?(deadline) }
    }
}
