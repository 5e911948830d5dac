/// A point in time on the clock that people read, in nanoseconds since 1970-01-01 UTC.
public struct Timestamp: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Nanoseconds since 1970-01-01T00:00:00Z, leap seconds not counted.
    public let nanosecondsSince1970: Int64

    /// A point in time from its nanoseconds since 1970.
    public init(nanosecondsSince1970: Int64) { self.nanosecondsSince1970 = nanosecondsSince1970 }

    /// A point in time as a system call reports it. What lies before 1900 or after 2200 counts as that: a clock that is
    /// wrong by centuries, or a time that somebody gave a file, must not overflow what is reckoned with it.
    package init(secondsSince1970 seconds: Int, nanoseconds: Int) {
        let bounded = min(max(Int64(seconds), Self.earliestSecond), Self.latestSecond)
        let fraction = bounded == Int64(seconds) ? Int64(nanoseconds) : 0
        self.init(nanosecondsSince1970: bounded * 1_000_000_000 + fraction)
    }

    /// 1900-01-01 and 2200-01-01. 64 bits of nanoseconds reach from 1677 to 2262.
    private static let earliestSecond: Int64 = -2_208_988_800
    private static let latestSecond: Int64 = 7_258_118_400

    /// Earlier comes first.
    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.nanosecondsSince1970 < right.nanosecondsSince1970
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
        output.appendDigits(year, width: 4)
        output.append(UInt8(ascii: "-"))
        output.appendDigits(month, width: 2)
        output.append(UInt8(ascii: "-"))
        output.appendDigits(day, width: 2)
        output.append(UInt8(ascii: "T"))
        output.appendDigits(second / 3600, width: 2)
        output.append(UInt8(ascii: ":"))
        output.appendDigits(second / 60 % 60, width: 2)
        output.append(UInt8(ascii: ":"))
        output.appendDigits(second % 60, width: 2)
        output.append(UInt8(ascii: "."))
        output.appendDigits(microsecond, width: 6)
        output.append(UInt8(ascii: "Z"))
    }

    /// The proleptic Gregorian date, `days` after 1970-01-01: eras of 400 years that begin on 1 March.
    private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = (days + 719_468).flooredDivision(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }
}

/// A point in time since the machine was started, time asleep included (CLOCK_BOOTTIME).
public struct BootTime: Hashable, Comparable, Sendable {
    /// Nanoseconds since the machine was started.
    public let nanoseconds: Int64

    /// A point in time from its nanoseconds since the machine was started.
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Earlier comes first.
    public static func < (left: BootTime, right: BootTime) -> Bool { left.nanoseconds < right.nanoseconds }

    /// A deadline too far away to be told in nanoseconds is the farthest that can be: never, for all purposes.
    package static func + (time: BootTime, duration: Duration) -> BootTime {
        BootTime(nanoseconds: time.nanoseconds.addingUpToBounds(duration.nanoseconds))
    }

    package static func - (left: BootTime, right: BootTime) -> Duration {
        let (difference, overflow) = left.nanoseconds.subtractingReportingOverflow(right.nanoseconds)
        return .nanoseconds(overflow ? (left < right ? .min : .max) : difference)
    }
}

/// One moment on both clocks: one for people, one to reckon with.
package struct Moment: Hashable, Sendable {
    package let wall: Timestamp
    package let boot: BootTime

    package init(wall: Timestamp, boot: BootTime) {
        self.wall = wall
        self.boot = boot
    }
}

extension Int64 {
    fileprivate func flooredDivision(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }

    fileprivate func addingUpToBounds(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }
}

extension Duration {
    /// Whole nanoseconds. Durations of three centuries and more are cut to `Int64`'s ends.
    package var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return seconds < 0 ? .min : .max }
        return product.addingUpToBounds(attoseconds / 1_000_000_000)
    }
}
