/// A date and a time of day as a clock on the wall shows them.
package struct LocalTime: Hashable, Sendable {
    package var year: Int
    package var month: Int
    package var day: Int
    package var hour: Int
    package var minute: Int
    package var second: Int

    package init(_ year: Int, _ month: Int, _ day: Int, _ hour: Int = 0, _ minute: Int = 0, _ second: Int = 0) {
        self.year = year
        self.month = month
        self.day = day
        self.hour = hour
        self.minute = minute
        self.second = second
    }

    /// The date, such as `2026-11-01`.
    package var date: String { "\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))" }

    /// The time of day, such as `14:00:05`.
    package var timeOfDay: String { "\(digits(hour, 2)):\(digits(minute, 2)):\(digits(second, 2))" }

    private func digits(_ number: Int, _ width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }
}

/// A time zone: how far its clocks are ahead of UTC at any time.
package struct LocalZone: Sendable {
    package struct Offset: Hashable, Sendable {
        /// Seconds ahead of UTC.
        package let seconds: Int
        /// The zone's abbreviation, such as `CET`.
        package let name: String

        package init(seconds: Int, name: String) {
            self.seconds = seconds
            self.name = name
        }

        /// The offset as RFC 3339 writes it: `+01:00`.
        package var text: String {
            let minutes = abs(seconds) / 60
            let parts = [minutes / 60, minutes % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
            return (seconds < 0 ? "-" : "+") + parts.joined(separator: ":")
        }
    }

    /// The offset at a time.
    package let offset: @Sendable (Timestamp) -> Offset

    package init(_ offset: @escaping @Sendable (Timestamp) -> Offset) { self.offset = offset }

    package static let utc = LocalZone { _ in Offset(seconds: 0, name: "UTC") }

    package func time(_ time: Timestamp) -> LocalTime {
        let seconds = time.nanosecondsSince1970.flooredDivision(by: 1_000_000_000).quotient
        let local = seconds + Int64(offset(time).seconds)
        let (days, rest) = local.flooredDivision(by: 86_400)
        let (year, month, day) = Timestamp.civil(days)
        return LocalTime(
            Int(year), Int(month), Int(day), Int(rest / 3600), Int(rest / 60 % 60), Int(rest % 60))
    }

    /// The time at which the clocks show a local time. If they show it twice, because they were set back, it is the
    /// first time. If they never show it, because they were set forward, it is as much later as they were set.
    ///
    /// - Returns: `nil` for years that 64 bits of nanoseconds cannot reach.
    package func timestamp(_ local: LocalTime) -> Timestamp? {
        let days = Timestamp.days(to: Int64(local.year), Int64(local.month), Int64(local.day))
        let seconds = days * 86_400 + Int64(local.hour * 3600 + local.minute * 60 + local.second)
        // A day around it, so that the offsets of both neighbours can be subtracted.
        guard abs(seconds) < 9_000_000_000 else { return nil }
        func time(_ seconds: Int64) -> Timestamp { Timestamp(nanosecondsSince1970: seconds * 1_000_000_000) }
        // No clock is set twice within two days.
        let before = offset(time(seconds - 86_400)).seconds
        let after = offset(time(seconds + 86_400)).seconds
        let candidates = [before, after].map { time(seconds - Int64($0)) }
        let fitting = zip(candidates, [before, after]).filter { offset($0).seconds == $1 }.map(\.0)
        return fitting.min() ?? candidates[0]
    }

    /// RFC 3339 in local time: `2026-11-01T14:00:05+01:00`.
    package func text(_ time: Timestamp) -> String {
        let local = self.time(time)
        return "\(local.date)T\(local.timeOfDay)\(offset(time).text)"
    }

    /// The zone for people: `CET (UTC+01:00)`, or both of a time in which the clocks are set.
    package func names(from: Timestamp, to: Timestamp) -> String {
        var seen: [Offset] = []
        var time = from
        let week: Int64 = 7 * 86_400_000_000_000
        while true {
            let offset = offset(time)
            if !seen.contains(offset) { seen.append(offset) }
            guard time < to, seen.count < 4 else { break }
            let (next, overflow) = time.nanosecondsSince1970.addingReportingOverflow(week)
            time = overflow ? to : min(Timestamp(nanosecondsSince1970: next), to)
        }
        return seen.map { $0.name == "UTC" ? "UTC" : "\($0.name) (UTC\($0.text))" }.joined(separator: ", ")
    }
}
