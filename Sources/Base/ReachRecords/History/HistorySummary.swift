package import ReachCore

/// Statistics of a target over a period.
package struct HistorySummary: Hashable, Sendable {
    /// The limit for flaps: a shorter outage is noticed only by those who use the network at that moment.
    package static let flapLimit: Duration = .seconds(60)

    /// An outage, from the loss to the return.
    package struct Outage: Hashable, Sendable {
        package let from: Timestamp
        /// When it ended, or the end of the period.
        package fileprivate(set) var to: Timestamp
        /// How long the target was down, without the time that was unknown or not observed.
        package fileprivate(set) var duration: Duration
        /// What failed first.
        package let cause: OutageCause
    }

    package let target: String
    package private(set) var up: Duration = .zero
    package private(set) var down: Duration = .zero
    package private(set) var unknown: Duration = .zero
    package private(set) var notObserved: Duration = .zero
    package private(set) var outages: [Outage] = []
    /// Whether the last outage is not over, as far as anyone has observed since.
    package private(set) var isDown = false
    /// Whether more of the last outage may follow.
    private var mayGoOn = false

    package init(_ timeline: HistoryTimeline) {
        target = timeline.target
        for span in timeline.spans { count(span) }
    }

    /// The share of up in the time in which up or down is known, 0 to 1; `nil` if there is no such time.
    package var uptime: Double? {
        let observed = up + down
        return observed > .zero ? up / observed : nil
    }

    package var longestOutage: Duration? { outages.map(\.duration).max() }

    /// The number of outages that ended within ``flapLimit``.
    package var flaps: Int { outages.dropLast(isDown ? 1 : 0).count { $0.duration < Self.flapLimit } }

    private mutating func count(_ span: HistoryTimeline.Span) {
        switch span.observation {
        case .up:
            up += span.duration
            (isDown, mayGoOn) = (false, false)
        case .down:
            down += span.duration
            add(span)
            (isDown, mayGoOn) = (true, true)
        case .unknown: unknown += span.duration
        case .notObserved:
            notObserved += span.duration
            isDown = false
            if span.isRemoved { mayGoOn = false }
        }
    }

    private mutating func add(_ span: HistoryTimeline.Span) {
        // Unknown or unobserved time in between makes no second outage, because the target was never seen up.
        if mayGoOn {
            outages[outages.count - 1].to = span.to
            outages[outages.count - 1].duration += span.duration
        } else {
            let cause = span.cause ?? OutageCause(layer: .target, evidence: "")
            outages.append(Outage(from: span.from, to: span.to, duration: span.duration, cause: cause))
        }
    }
}
