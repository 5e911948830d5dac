internal import ReachCore

/// Points in time as people write them on a command line: how long ago (`7d`), `today` or `yesterday`, or a date
/// (`2026-11-01`, `2026-11-01 14:00`, `2026-11-01T14:00:05Z`, `2026-11-01 14:00 +01:00`).
enum DateText {
    /// What to write instead, for an error.
    static let forms =
        "a duration such as 7d, today, yesterday, or a date such as 2026-11-01 or '2026-11-01 14:00'"

    /// Reads a point in time.
    ///
    /// - Parameters:
    ///   - isEnd: Whether a date without a time of day means the end of that day, not its beginning.
    ///   - zone: The time zone of a date without one.
    /// - Returns: `nil` for anything else, and for times that 64 bits of nanoseconds cannot reach.
    static func parse(_ text: String, isEnd: Bool, now: Timestamp, zone: LocalZone) -> Timestamp? {
        if let ago = DurationText.parse(text) {
            let (time, overflow) = now.nanosecondsSince1970.subtractingReportingOverflow(ago.nanoseconds)
            return overflow ? nil : Timestamp(nanosecondsSince1970: time)
        }
        if let back = ["today": Int64(0), "yesterday": 1][text] {
            let day = zone.time(now).daysBefore(back)
            return zone.timestamp(isEnd ? day.nextDay : day)
        }
        var reader = TimeFields(text)
        guard let (local, isDay) = reader.local(), let offset = reader.offset(), reader.isAtEnd else { return nil }
        let stated = offset.map { seconds in
            LocalZone { _ in LocalZone.Offset(seconds: seconds, name: "") }
        }
        guard isDay, isEnd else { return (stated ?? zone).timestamp(local) }
        return (stated ?? zone).timestamp(local.nextDay)
    }
}

extension LocalTime {
    /// The beginning of the next day.
    fileprivate var nextDay: LocalTime { daysBefore(-1) }

    /// The beginning of the day that is so many days earlier.
    fileprivate func daysBefore(_ count: Int64) -> LocalTime {
        let (year, month, day) = Timestamp.civil(
            Timestamp.days(to: Int64(self.year), Int64(self.month), Int64(self.day)) - count)
        return LocalTime(Int(year), Int(month), Int(day))
    }
}

extension TimeFields {
    /// Reads a date, and its time of day if it has one.
    ///
    /// - Returns: The date with its time of day, and whether it has none.
    fileprivate mutating func local() -> (LocalTime, isDay: Bool)? {
        guard let year = whole(4), skip("-"), let month = whole(2), skip("-"), let day = whole(2),
            1...12 ~= month, 1...Int(Timestamp.days(inMonth: Int64(month), of: Int64(year))) ~= day
        else { return nil }
        // Behind a space, a zone can follow as well.
        let isTime = skip("T") || isAtSpacedNumber && skip(" ")
        guard isTime else { return (LocalTime(year, month, day), true) }
        guard let hour = whole(2), skip(":"), let minute = whole(2) else { return nil }
        var second = 0
        if skip(":") {
            // A fraction of a second makes no difference here.
            guard let stated = whole(2), nanoseconds() != nil else { return nil }
            second = stated
        }
        guard hour < 24, minute < 60, second < 60 else { return nil }
        return (LocalTime(year, month, day, hour, minute, second), false)
    }

    /// Reads the rest, which is the offset from UTC.
    ///
    /// - Returns: The stated offset in seconds, `.some(nil)` for none, and `nil` for one that is wrong.
    fileprivate mutating func offset() -> Int?? {
        if isAtEnd { return .some(nil) }
        _ = skip(" ")
        if skip("Z") || skip(word: "UTC") { return 0 }
        let isEast = skip("+")
        guard isEast || skip("-"), let hours = whole(2) else { return nil }
        _ = skip(":")
        let minutes = isAtEnd ? 0 : whole(2)
        guard let minutes, hours < 24, minutes < 60 else { return nil }
        let seconds = hours * 3600 + minutes * 60
        return isEast ? seconds : -seconds
    }

    private mutating func whole(_ digits: Int) -> Int? { number(digits).map { Int($0) } }
}

/// A cursor over the fields of a written time.
struct TimeFields {
    private var rest: Substring.UTF8View

    init(_ text: String) { rest = text.utf8[...] }

    var isAtEnd: Bool { rest.isEmpty }

    /// Whether a space comes next, and then a digit.
    var isAtSpacedNumber: Bool {
        rest.first == UInt8(ascii: " ") && rest.dropFirst().first.map(Self.isDigit) == true
    }

    /// Skips this character; `false` if something else comes next.
    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }

    /// Skips this word; `false` if something else comes next.
    mutating func skip(word: String) -> Bool {
        guard rest.starts(with: word.utf8) else { return false }
        rest = rest.dropFirst(word.utf8.count)
        return true
    }

    /// Reads a number of as many digits.
    mutating func number(_ digits: Int) -> Int64? {
        var value: Int64 = 0
        for _ in 0..<digits {
            guard let byte = rest.popFirst(), Self.isDigit(byte) else { return nil }
            value = value * 10 + Int64(byte - 48)
        }
        return value
    }

    /// Reads the fraction of a second, of one to nine digits behind a dot; 0 without a dot.
    mutating func nanoseconds() -> Int64? {
        guard skip(".") else { return 0 }
        let digits = rest.prefix(while: Self.isDigit).count
        guard 1...9 ~= digits, var value = number(digits) else { return nil }
        for _ in digits..<9 { value *= 10 }
        return value
    }

    private static func isDigit(_ byte: UInt8) -> Bool { 48...57 ~= byte }
}
