package import ReachCore

/// What somebody is told who watches a target through the daemon, however often that is started anew.
package enum DaemonEvent: Hashable, Sendable {
    /// The first state, or a difference.
    case change(ReachabilityChange)
    case resync(Instant, reason: String)
    case wake(Instant, slept: Duration)
    /// So many events were not heard, since this program was too slow; a snapshot follows.
    case dropped(Instant, count: UInt64)
    /// The state now, with what the lost events changed together.
    case snapshot(Instant, ReachabilityState, difference: ReachabilityChange?)
    /// Something that this version does not know, as it came.
    case other(Instant, type: String, JSONValue)
    /// The daemon went away. The state is the last one told, stale from now on; the daemon is looked for.
    case disconnected(Instant, ControlError, ReachabilityState)
    /// The daemon answers again, after so long. If something differs, a change follows; otherwise what was told last holds.
    case reconnected(Instant, away: Duration)
    /// The daemon does not answer, and never has. It is looked for, and the state is not known until it is found.
    case unavailable(ControlError, ReachabilityChange)
}
