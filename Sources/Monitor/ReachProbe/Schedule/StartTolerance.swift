internal import ReachCore

/// How much earlier attempts may start than they are due, so that several begin with one timer.
///
/// For an attempt by itself the processor wakes up twice, with cold caches, and that costs as much as the attempt's own
/// work: with 100 attempts a second, libcurl takes 250 us of a processor for one that starts alone, and 110 us where
/// five start together. More at a time would measure each other's work, as a part of their latencies.
package struct StartTolerance: Hashable, Sendable {
    /// What is mostly due within the tolerance, beside the attempt whose time has come.
    private static let attempts = 8.0
    /// A person does not notice it.
    private static let longest = Duration.milliseconds(50)
    /// Where many attempts are due, less is enough.
    private let common: Duration

    package init(of specifications: [ProbeSpecification]) {
        let rate = specifications.reduce(0) { $0 + 1 / max(1e-3, Double($1.interval.nanoseconds) / 1e9) }
        let needed = Self.attempts / max(rate, 1e-9)
        common = min(Self.longest, .nanoseconds(Int64(min(needed, 1) * 1e9)))
    }

    /// At most a twentieth of a probe's intervals, as ``ProbeGrid`` moves them anyway.
    package func time(for specification: ProbeSpecification) -> Duration {
        min(common, min(specification.interval, specification.failingInterval) / 20)
    }
}
