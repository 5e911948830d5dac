package import ReachCore

/// What somebody who watches a target is told, in this order for everybody.
package enum EngineEvent: Sendable {
    /// The state when the watch began, or a difference from the state told before.
    case change(ReachabilityChange)
    /// Notices were lost and everything was read anew; differences follow as changes.
    case resync(Instant, reason: String)
    /// The machine slept this long; differences follow as changes.
    case wake(Instant, slept: Duration)
    /// A notice as it came, where all were asked for.
    case notice(Instant, Notice)
}
