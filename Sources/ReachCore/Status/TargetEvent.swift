/// An event of a watched target: what the engine publishes, and what the daemon passes on to its parts and subscribers.
package enum TargetEvent: Hashable, Sendable {
    /// The first determined state, or a difference from the state before.
    case change(ReachabilityChange)
    /// Notices were lost, and everything was read again; differences follow as changes.
    case resync(Instant, reason: String)
    /// The machine slept; differences follow as changes.
    case wake(Instant, slept: Duration)
    /// A notice as the kernel sent it. Only an engine sends it, and only if its options ask for every notice.
    case notice(Instant, Notice)
    /// An event of a probe. Only the daemon sends it, with the events of the Internet.
    case probe(ProbeEvent)
}
