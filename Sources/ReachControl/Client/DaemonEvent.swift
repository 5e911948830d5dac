package import ReachCore

/// An event of a watch through the daemon. The stream continues when the daemon restarts.
package enum DaemonEvent: Hashable, Sendable {
    /// The first state, or a change.
    case change(ReachabilityChange)
    case resync(Instant, reason: String)
    case wake(Instant, slept: Duration)
    /// Events were lost because this program read too slowly; a snapshot follows.
    case dropped(Instant, count: UInt64)
    /// The current state, with the combined difference that the lost events made.
    case snapshot(Instant, ReachabilityState, difference: ReachabilityChange?)
    /// An event of a type that this version does not know, as it was received.
    case other(Instant, type: String, JSONValue)
    /// The connection to the daemon was lost, and the client is reconnecting. The state is the last one, stale from now
    /// on.
    case disconnected(Instant, ControlError, ReachabilityState)
    /// The daemon answers again after the time `away`. A change follows if anything differs; otherwise the last state
    /// holds.
    case reconnected(Instant, away: Duration)
    /// The daemon has not answered so far. The client keeps trying; the state is unknown until it succeeds.
    case unavailable(ControlError, ReachabilityChange)
}

extension EncodedEvent {
    /// Encodes an event of a watch through the daemon.
    package init(_ event: DaemonEvent) {
        switch event {
        case .change(let change), .unavailable(_, let change): self = .change(change, source: .daemon)
        case .resync(let moment, let reason): self = .resync(reason: reason, at: moment)
        case .wake(let moment, let slept): self = .wake(slept: slept, at: moment)
        case .dropped(let moment, let count): self = .dropped(count: count, at: moment)
        case .snapshot(let moment, let state, _):
            self = .snapshot(state, source: .daemon, isInitial: false, cause: .resync, at: moment)
        case .other(let moment, let type, let json): self = .other(type, json, at: moment)
        case .disconnected(let moment, let error, let state):
            self = .disconnected(reason: error.description, state, source: .daemon, at: moment)
        case .reconnected(let moment, let away): self = .reconnected(away: away, at: moment)
        }
    }
}
