/// How a target did over some time.
package struct HistorySummary: Hashable, Sendable {
    /// An outage that is over sooner than this is a flap: nobody who was not just using the network noticed.
    package static let flapLimit: Duration = .seconds(60)

    package let target: String
    package private(set) var up: Duration = .zero
    package private(set) var down: Duration = .zero
    package private(set) var unknown: Duration = .zero
    package private(set) var notObserved: Duration = .zero
    /// Each from the loss to the return, what was not seen in between not counted.
    package private(set) var outages: [Duration] = []
    /// The last outage is not over.
    package private(set) var isDown = false

    package init(_ timeline: HistoryTimeline) {
        target = timeline.target
        for span in timeline.spans { count(span) }
    }

    /// The share of the time in which it was known to be up or down; `nil` where that was never.
    package var uptime: Double? {
        let known = up + down
        return known > .zero ? up / known : nil
    }

    package var longestOutage: Duration? { outages.max() }

    /// Outages that were over within ``flapLimit``.
    package var flaps: Int { outages.dropLast(isDown ? 1 : 0).count { $0 < Self.flapLimit } }

    private mutating func count(_ span: HistoryTimeline.Span) {
        switch span.observation {
        case .up:
            up += span.duration
            isDown = false
        case .down:
            down += span.duration
            // Unknown in between, or not looked at, makes no second outage: it was never seen to be up.
            if isDown { outages[outages.count - 1] += span.duration } else { outages.append(span.duration) }
            isDown = true
        case .unknown: unknown += span.duration
        case .notObserved: notObserved += span.duration
        }
    }
}
