internal import ReachCore
internal import ReachLoop
internal import Reachability
internal import Synchronization

/// Whether to show that requests of a session are on their way: AFNetworkActivityIndicatorManager, for a spinner, a lamp or
/// a line in a log. ``ActivityIndicator`` has its rules.
///
/// A request counts from its resuming to its end, but not while it is suspended, by its user or for the network. It is off
/// until ``setEnabled(_:)``; then a session with running requests has timers of its own, and otherwise none.
public final class RequestActivity: Sendable {
    private struct State {
        var indicator: ActivityIndicator
        var block: (@Sendable (Bool) -> Void)?
    }

    private let state: Mutex<State>
    private let pump: SerialPump
    /// Wakes it at a time; set once, by its session.
    private let alarm = Mutex<(@Sendable (BootTime) -> Void)?>(nil)
    /// Sees to it that what was appended to the pump is told; set once, by its session.
    private let deliver = Mutex<(@Sendable () -> Void)?>(nil)

    init(_ indicator: ActivityIndicator, pump: SerialPump) {
        state = Mutex(State(indicator: indicator))
        self.pump = pump
    }

    func connect(alarm: @escaping @Sendable (BootTime) -> Void, deliver: @escaping @Sendable () -> Void) {
        self.alarm.withLock { $0 = alarm }
        self.deliver.withLock { $0 = deliver }
    }

    /// Whether it is to be shown now.
    public var isVisible: Bool { state.withLock { $0.indicator.isVisible } }

    /// One of the four states.
    public var indicatorState: ActivityIndicator.State { state.withLock { $0.indicator.state } }

    /// How many requests are on their way.
    public var activityCount: Int { state.withLock { $0.indicator.activityCount } }

    /// Calls a block when it is to be shown (`true`) or hidden, in place of the one before; `nil` removes it. Called where
    /// the session calls its completions.
    public func setBlock(_ block: (@Sendable (Bool) -> Void)?) { state.withLock { $0.block = block } }

    /// Turns it on, to take effect with the next request that starts or ends, or off, at once.
    public func setEnabled(_ isEnabled: Bool) {
        change { $0.setEnabled(isEnabled, at: $1) }
        deliver.withLock { $0 }?()
    }

    /// A request begins to count, or ceases to. Whoever tells it so delivers afterwards, with no lock held.
    func count(_ counts: Bool) {
        change { counts ? $0.requestStarted(at: $1) : $0.requestEnded(at: $1) }
    }

    /// The time that it asked for has come.
    func advance() {
        change { $0.advance(to: $1) }
        deliver.withLock { $0 }?()
    }

    private func change(_ change: (inout ActivityIndicator, BootTime) -> Bool?) {
        let deadline: BootTime? = state.withLock { state in
            let before = state.indicator.deadline
            let isVisible = change(&state.indicator, SystemClock.boot)
            if let isVisible, let block = state.block { pump.append { block(isVisible) } }
            let after = state.indicator.deadline
            return after == before ? nil : after
        }
        if let deadline { alarm.withLock { $0 }?(deadline) }
    }
}
