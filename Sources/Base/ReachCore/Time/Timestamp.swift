/// A point in time on the wall clock (CLOCK_REALTIME), in nanoseconds since 1970-01-01 UTC.
public struct Timestamp: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Nanoseconds since 1970-01-01T00:00:00Z, without leap seconds.
    public let nanosecondsSince1970: Int64

    /// Creates a point in time from its nanoseconds since 1970.
    public init(nanosecondsSince1970: Int64) { self.nanosecondsSince1970 = nanosecondsSince1970 }

    /// A point in time as a system call reports it, bounded to the years 1900 to 2200: a clock that is wrong by
    /// centuries, or a time that someone gave a file, must not overflow the sums made with it.
    package init(secondsSince1970 seconds: Int, nanoseconds: Int) {
        let bounded = min(max(Int64(seconds), Self.earliestSecond), Self.latestSecond)
        let fraction = bounded == Int64(seconds) ? Int64(nanoseconds) : 0
        self.init(nanosecondsSince1970: bounded * 1_000_000_000 + fraction)
    }

    /// 1900-01-01 and 2200-01-01. 64 bits of nanoseconds reach from 1677 to 2262.
    private static let earliestSecond: Int64 = -2_208_988_800
    private static let latestSecond: Int64 = 7_258_118_400

    /// The latest time that is taken from outside: 2200-01-01.
    package static let latest = Timestamp(nanosecondsSince1970: latestSecond * 1_000_000_000)

    /// Orders earlier times first.
    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.nanosecondsSince1970 < right.nanosecondsSince1970
    }

    /// The time `duration` after `time`, bounded to what 64 bits of nanoseconds hold.
    package static func + (time: Timestamp, duration: Duration) -> Timestamp {
        Timestamp(nanosecondsSince1970: time.nanosecondsSince1970.addingUpToBounds(duration.nanoseconds))
    }

    /// The time from this one to a later one, bounded to what 64 bits of nanoseconds hold: another host may write any
    /// year.
    package func duration(to later: Timestamp) -> Duration {
        let (difference, overflow) = later.nanosecondsSince1970.subtractingReportingOverflow(nanosecondsSince1970)
        return .nanoseconds(overflow ? (later < self ? .min : .max) : difference)
    }

    /// RFC 3339 in UTC with microseconds: `2026-11-21T03:10:00.123456Z`.
    public var description: String {
        var output = ByteWriter(capacity: 27)
        append(to: &output)
        return output.text
    }

    /// Appends ``description``.
    package func append(to output: inout ByteWriter) {
        let (days, nanosecondOfDay) = nanosecondsSince1970.flooredDivision(by: 86_400_000_000_000)
        let (year, month, day) = Self.civil(days)
        let second = nanosecondOfDay / 1_000_000_000
        let microsecond = nanosecondOfDay / 1000 % 1_000_000
        let (hour, minute) = (second / 3600, second / 60 % 60)
        // 64 bits of nanoseconds reach from 1677 to 2262, so the year always has four digits.
        output.append(count: 27) { text in
            text.place(year, width: 4)
            text[4] = UInt8(ascii: "-")
            (text + 5).place(month, width: 2)
            text[7] = UInt8(ascii: "-")
            (text + 8).place(day, width: 2)
            text[10] = UInt8(ascii: "T")
            (text + 11).place(hour, width: 2)
            text[13] = UInt8(ascii: ":")
            (text + 14).place(minute, width: 2)
            text[16] = UInt8(ascii: ":")
            (text + 17).place(second % 60, width: 2)
            text[19] = UInt8(ascii: ".")
            (text + 20).place(microsecond, width: 6)
            text[26] = UInt8(ascii: "Z")
        }
    }

    /// The proleptic Gregorian date `days` after 1970-01-01. It counts in eras of 400 years that begin on 1 March, so
    /// that the leap day is the last day of a year.
    package static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = (days + 719_468).flooredDivision(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }
}

extension Int64 {
    /// The quotient rounded down, and a remainder that is not negative.
    package func flooredDivision(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
