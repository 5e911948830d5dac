package import ReachCore

/// What somebody is told who watches a target through the daemon, however often that is started anew.
package enum DaemonEvent: Hashable, Sendable {
    /// The first state, or a difference.
    case change(ReachabilityChange)
    case resync(Moment, reason: String)
    case wake(Moment, slept: Duration)
    /// So many events were not heard, since this program was too slow; a snapshot follows.
    case dropped(Moment, count: UInt64)
    /// The state now, with what the lost events changed together.
    case snapshot(Moment, ReachabilityState, difference: ReachabilityChange?)
    /// Something that this version does not know, as it came.
    case other(Moment, type: String, JSONValue)
    /// The daemon went away. The state is the last one told, stale from now on; the daemon is looked for.
    case disconnected(Moment, ControlError, ReachabilityState)
    /// The daemon answers again, after so long. If something differs, a change follows; otherwise what was told last holds.
    case reconnected(Moment, away: Duration)
    /// The daemon does not answer, and never has. It is looked for, and the state is not known until it is found.
    case unavailable(ControlError, ReachabilityChange)
}
