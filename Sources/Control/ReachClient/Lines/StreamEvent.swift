package import ReachCore

/// An event of a stream about a target, as a reader of the daemon's stream or of `reach watch` sees it. The stream
/// continues when the daemon restarts.
package enum StreamEvent: Hashable, Sendable {
    case target(TargetEvent)
    /// The current state, as a change without a previous state: the first event of a connection, and the one after lost
    /// events. After those ``DaemonStream`` adds the combined difference that they made.
    case snapshot(ReachabilityChange, difference: ReachabilityChange? = nil)
    /// Events were lost because this program read too slowly; a snapshot follows.
    case dropped(Instant, count: UInt64)
    /// An event of a type that this version does not read here, as it was received.
    case other(Instant, type: String, JSONValue)
    /// The connection to the daemon was lost, and the client is reconnecting. The state is the last one, stale from now
    /// on.
    case disconnected(Instant, ControlError, ReachabilityState)
    /// The daemon answers again after the time `away`, with this state. A change follows if anything differs.
    case reconnected(Instant, away: Duration, ReachabilityState)
    /// The daemon has not answered so far. The client keeps trying; the state is unknown until it succeeds.
    case unavailable(ControlError, ReachabilityChange)

    /// The difference that the event makes to the state; the initial state at first; `nil` if it makes none.
    package var change: ReachabilityChange? {
        switch self {
        case .target(.change(let change)), .unavailable(_, let change), .snapshot(_, difference: let change?): change
        default: nil
        }
    }

    /// The state after the event; `nil` if the event has none.
    package var state: ReachabilityState? {
        switch self {
        // Without `change`, which would be copied: every change comes through here.
        case .target(.change(let change)), .unavailable(_, let change), .snapshot(let change, _): change.state
        case .disconnected(_, _, let state): state
        default: nil
        }
    }
}
