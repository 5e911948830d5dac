internal import ReachCore
internal import ReachRecords

/// How long a target was up and down in each hour of each day, by the clocks of a time zone.
struct HourMap {
    struct Day: Hashable {
        /// Such as `2026-11-01`.
        let date: String
        /// The hours that begin at 0:00 to 23:00. Where clocks are set back, both hours count as one.
        var hours = [TimeShare](repeating: TimeShare(), count: 24)

        var total: TimeShare { hours.reduce(TimeShare(), +) }
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
            let share = TimeShare(of: spans, from: time, to: next)
            days[days.count - 1].hours[local.hour] = days[days.count - 1].hours[local.hour] + share
            time = next
        }
    }
}
