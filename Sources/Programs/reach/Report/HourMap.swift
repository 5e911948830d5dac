internal import ReachCore

/// How long a target was up and down in each hour of each day, by the clocks of a time zone.
struct HourMap {
    /// Seconds of an hour; all are zero for an hour that the clocks skip, or that is outside the period.
    struct Hour: Hashable {
        var up = 0.0
        var down = 0.0
        var unknown = 0.0
        var notObserved = 0.0

        /// The share of the known time in which the target was down; `nil` if nothing is known.
        var downShare: Double? { up + down > 0 ? down / (up + down) : nil }
        var isEmpty: Bool { up + down + unknown + notObserved == 0 }

        static func + (left: Hour, right: Hour) -> Hour {
            Hour(
                up: left.up + right.up, down: left.down + right.down, unknown: left.unknown + right.unknown,
                notObserved: left.notObserved + right.notObserved)
        }
    }

    struct Day: Hashable {
        /// Such as `2026-11-01`.
        let date: String
        /// The hours that begin at 0:00 to 23:00. Where clocks are set back, both hours count as one.
        var hours = [Hour](repeating: Hour(), count: 24)

        var total: Hour { hours.reduce(Hour(), +) }
    }

    /// The days in order, from the one in which the period begins to the one in which it ends.
    private(set) var days: [Day] = []
    /// Days before these, which are left out.
    private(set) var earlierDays = 0

    /// The most days: a year and its leap day.
    static let mostDays = 366
    /// All time zones of today differ from UTC by a multiple of this, and are set by a multiple of it.
    private static let quarter: Int64 = 900_000_000_000

    init(_ timeline: HistoryTimeline, zone: LocalZone) {
        let (from, to) = (timeline.from.nanosecondsSince1970, timeline.to.nanosecondsSince1970)
        let limit = to - Int64(Self.mostDays) * 86_400_000_000_000
        var spans = timeline.spans[...]
        var time = from
        if from < limit {
            earlierDays = Int((limit - from) / 86_400_000_000_000)
            time = limit
        }
        while time < to {
            let quarter = time >= 0 ? time / Self.quarter : (time - Self.quarter + 1) / Self.quarter
            let next = min((quarter + 1) * Self.quarter, to)
            let local = zone.time(Timestamp(nanosecondsSince1970: time))
            if days.last?.date != local.date { days.append(Day(date: local.date)) }
            while let span = spans.first, span.to.nanosecondsSince1970 <= time { spans.removeFirst() }
            let hour = Self.hour(spans, from: time, to: next)
            days[days.count - 1].hours[local.hour] = days[days.count - 1].hours[local.hour] + hour
            time = next
        }
    }

    private static func hour(_ spans: ArraySlice<HistoryTimeline.Span>, from: Int64, to: Int64) -> Hour {
        var hour = Hour()
        for span in spans {
            guard span.from.nanosecondsSince1970 < to else { break }
            let share = min(span.to.nanosecondsSince1970, to) - max(span.from.nanosecondsSince1970, from)
            guard share > 0 else { continue }
            let seconds = Double(share) / 1e9
            switch span.observation {
            case .up: hour.up += seconds
            case .down: hour.down += seconds
            case .unknown: hour.unknown += seconds
            case .notObserved: hour.notObserved += seconds
            }
        }
        return hour
    }
}

extension HourMap.Hour {
    /// The classes of the map; each has a glyph of its own, so that none needs a colour.
    enum Level: Int, CaseIterable {
        case none
        case notObserved
        case unknown
        case up
        /// Down for less than a minute, for less than a quarter of the known time, for less than all of it, and for all.
        case briefly, partly, mostly, down

        var words: String {
            switch self {
            case .none: "no such hour"
            case .notObserved: "not observed"
            case .unknown: "unknown"
            case .up: "up"
            case .briefly: "down for less than a minute"
            case .partly: "down for less than a quarter"
            case .mostly: "down for a quarter or more"
            case .down: "down"
            }
        }
    }

    var level: Level {
        guard !isEmpty else { return .none }
        guard let share = downShare else { return unknown > notObserved ? .unknown : .notObserved }
        if down == 0 { return .up }
        if share >= 0.9995 { return .down }
        if down < 60 { return .briefly }
        return share < 0.25 ? .partly : .mostly
    }
}
