package import ReachCore

/// A time of day that comes again by the clocks of a time zone: `day 02:00-04:00 Europe/Berlin`, or on some days only:
/// `sat,sun 22:00-06:00 UTC`. It begins on these days, and ends on the next if its end is not later than its begin.
///
/// It brings along how far the zone's clocks are ahead of UTC, so that all readers count alike without a list of zones.
package struct DailyTime: Hashable, Sendable {
    /// How many seconds the clocks are ahead of UTC from a time on.
    package struct Offset: Hashable, Sendable {
        package let from: Timestamp
        package let seconds: Int64

        package init(from: Timestamp, seconds: Int64) { (self.from, self.seconds) = (from, seconds) }

        /// - Returns: `nil` for a text of another form than ``text``, or where the clocks are ahead by more than a day.
        init?(_ text: String) {
            let parts = text.split(scalar: " ").map(String.init)
            guard parts.count == 2, let from = Timestamp(parts[0]), let seconds = Int64(parts[1]),
                -DailyTime.day...DailyTime.day ~= seconds
            else { return nil }
            self.init(from: from, seconds: seconds)
        }

        /// As the bucket has it.
        var text: String { "\(from) \(seconds)" }
    }

    /// The most changes of the clocks that are kept. A zone that pauses its summer time for Ramadan has four a year.
    package static let offsetLimit = 16
    private static let day: Int64 = 86_400
    /// 1970-01-01 was a Thursday.
    private static let weekdays = ["thu", "fri", "sat", "sun", "mon", "tue", "wed"]

    package let zone: String
    /// The earliest first. The first holds before it, too.
    package var offsets: [Offset]
    /// The days on which it begins, Thursday first.
    private let days: [Bool]
    /// In seconds of the day.
    private let begin: Int64
    private let end: Int64

    /// - Returns: `nil` for a text of another form.
    package init?(_ text: String, offsets: [Offset] = []) {
        let parts = text.split(scalar: " ").map(String.init)
        guard parts.count == 3, let days = Self.days(parts[0]) else { return nil }
        let times = parts[1].split(scalar: "-").map { Self.second(ofDay: String($0)) }
        guard times.count == 2, let begin = times[0], let end = times[1], begin != end else { return nil }
        (self.days, self.begin, self.end, zone, self.offsets) = (days, begin, end, parts[2], offsets)
    }

    private static func days(_ text: String) -> [Bool]? {
        guard text != "day" else { return Array(repeating: true, count: weekdays.count) }
        let names = text.split(scalar: ",").map(String.init)
        guard !names.isEmpty, names.allSatisfy(weekdays.contains) else { return nil }
        return weekdays.map(names.contains)
    }

    /// `02:00`; `24:00` is the end of the day.
    private static func second(ofDay text: String) -> Int64? {
        let parts = text.split(scalar: ":", omittingEmptySubsequences: false).map { Int64($0) }
        guard text.utf8.count == 5, parts.count == 2, let hour = parts[0], let minute = parts[1], 0...24 ~= hour,
            0..<60 ~= minute, hour < 24 || minute == 0
        else { return nil }
        return hour * 3600 + minute * 60
    }

    /// As it is read.
    package var description: String {
        let names = days.allSatisfy { $0 } ? ["day"] : zip(Self.weekdays, days).filter(\.1).map(\.0)
        func text(_ second: Int64) -> String {
            [second / 3600, second / 60 % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
        }
        return "\(names.joined(separator: ",")) \(text(begin))-\(text(end)) \(zone)"
    }

    // MARK: - When it is

    /// Whether the zone's clocks show a time of day within it.
    package func contains(_ time: Timestamp) -> Bool {
        let second = time.nanosecondsSince1970.flooredDivision(by: 1_000_000_000).quotient
        let (day, rest) = (second + ahead(at: time)).flooredDivision(by: Self.day)
        if begin < end { return begins(on: day) && begin <= rest && rest < end }
        return begins(on: day) && begin <= rest || begins(on: day - 1) && rest < end
    }

    private func begins(on day: Int64) -> Bool { days[Int(day.flooredDivision(by: Int64(days.count)).remainder)] }

    private func ahead(at time: Timestamp) -> Int64 {
        (offsets.last { $0.from <= time } ?? offsets.first)?.seconds ?? 0
    }

    /// When ``contains(_:)`` holds within a span of time, in nanoseconds since 1970, the earliest first.
    package func spans(in window: Range<Int64>) -> [Range<Int64>] {
        var list: [Range<Int64>] = []
        // Between two changes of the clocks the days are of one length.
        let changes = offsets.dropFirst().map(\.from.nanosecondsSince1970).filter(window.contains)
        let edges = [window.lowerBound] + changes + [window.upperBound]
        for (from, to) in zip(edges, edges.dropFirst()) where from < to {
            let shift = ahead(at: Timestamp(nanosecondsSince1970: from))
            func day(_ nanoseconds: Int64) -> Int64 {
                (nanoseconds.flooredDivision(by: 1_000_000_000).quotient + shift).flooredDivision(by: Self.day).quotient
            }
            for number in day(from) - 1...day(to) where begins(on: number) {
                let midnight = number * Self.day - shift
                let until = midnight + end + (begin < end ? 0 : Self.day)
                let span = ((midnight + begin) * 1_000_000_000..<until * 1_000_000_000).clamped(to: from..<to)
                if !span.isEmpty { list.append(span) }
            }
        }
        return list
    }
}
