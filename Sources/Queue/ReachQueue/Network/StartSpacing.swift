package import ReachCore

/// Until when starts keep their distance, after the outages that have ended.
package struct StartSpacing: Hashable, Sendable {
    package private(set) var until: BootTime
    /// The outage after which starts are spaced for longest.
    private var outage: Duration = .zero

    package init(at now: BootTime) { until = now }

    /// - Parameter first: The time of the first start after the outage.
    package mutating func begin(after outage: Duration, first: BootTime, _ policy: QueuePolicy) {
        let end = first + policy.spread(after: outage)
        if end > until { (until, self.outage) = (end, outage) }
    }

    /// The machine turns out to have slept. What it slept was no outage; the rest of the outage was one.
    package mutating func wake(after slept: Duration, first: BootTime, _ policy: QueuePolicy) {
        outage = max(.zero, outage - slept)
        until = min(until, first + policy.spread(after: outage))
    }
}
