internal import ReachCore

/// The times that the strips of a page show: 90 days by local clocks, 24 hours and 60 minutes.
struct PagePeriods {
    /// A strip's times.
    struct Period {
        let name: String
        /// One more than there are cells, in nanoseconds since 1970.
        let edges: [Int64]
        /// What a cell is called, by its beginning.
        let title: (Timestamp) -> String
    }

    let all: [Period]
    /// The beginning of the longest.
    let first: Timestamp

    private static let days = 90
    private static let day: Int64 = 86_400_000_000_000
    private static let minute: Int64 = 60_000_000_000

    init(at now: Timestamp, zone: LocalZone) {
        let today = zone.time(now)
        let noon = zone.timestamp(LocalTime(today.year, today.month, today.day, 12)) ?? now
        let days = (0...Self.days).map { number in
            // At noon the date is right on days of 23 and 25 hours, too.
            let local = zone.time(
                Timestamp(nanosecondsSince1970: noon.nanosecondsSince1970 + Int64(number + 1 - Self.days) * Self.day))
            let midnight = zone.timestamp(LocalTime(local.year, local.month, local.day))
            return (midnight ?? now).nanosecondsSince1970
        }
        first = Timestamp(nanosecondsSince1970: days[0])
        let minutes: (Timestamp) -> String = { String(zone.time($0).timeOfDay.prefix(5)) }
        all = [
            Period(name: "90 days", edges: days) { zone.time($0).date },
            Period(name: "24 hours", edges: Self.edges(48, of: 30 * Self.minute, upTo: now), title: minutes),
            Period(name: "60 minutes", edges: Self.edges(60, of: Self.minute, upTo: now), title: minutes),
        ]
    }

    /// The edges of equal cells at full minutes, of which the last one holds this time.
    private static func edges(_ count: Int, of length: Int64, upTo now: Timestamp) -> [Int64] {
        let end = (now.nanosecondsSince1970 / length + 1) * length
        return (0...count).map { end - Int64(count - $0) * length }
    }
}
