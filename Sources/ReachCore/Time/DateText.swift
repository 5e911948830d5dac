/// Points in time as people write them on a command line: how long ago (`7d`), or a date (`2026-11-01`,
/// `2026-11-01 14:00`, `2026-11-01T14:00:05Z`, `2026-11-01 14:00 +01:00`).
package enum DateText {
    /// What to write instead, for an error.
    package static let forms = "a duration such as 7d, or a date such as 2026-11-01 or '2026-11-01 14:00'"

    /// Reads a point in time.
    ///
    /// - Parameters:
    ///   - isEnd: Whether a date without a time of day means the end of that day, not its beginning.
    ///   - zone: The time zone of a date without one.
    /// - Returns: `nil` for anything else, and for times that 64 bits of nanoseconds cannot reach.
    package static func parse(_ text: String, isEnd: Bool, now: Timestamp, zone: LocalZone) -> Timestamp? {
        if let ago = DurationText.parse(text) {
            let (time, overflow) = now.nanosecondsSince1970.subtractingReportingOverflow(ago.nanoseconds)
            return overflow ? nil : Timestamp(nanosecondsSince1970: time)
        }
        var reader = DateReader(text)
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
    fileprivate var nextDay: LocalTime {
        let next = Timestamp.days(to: Int64(year), Int64(month), Int64(day)) + 1
        let (year, month, day) = Timestamp.civil(next)
        return LocalTime(Int(year), Int(month), Int(day))
    }
}

/// A cursor over a date and a time of day.
private struct DateReader {
    private var rest: Substring.UTF8View

    init(_ text: String) { rest = text.utf8[...] }

    var isAtEnd: Bool { rest.isEmpty }

    /// - Returns: The date with its time of day, and whether it has none.
    mutating func local() -> (LocalTime, isDay: Bool)? {
        guard let year = number(4), skip("-"), let month = number(2), skip("-"), let day = number(2),
            1...12 ~= month, 1...Int(Timestamp.days(inMonth: Int64(month), of: Int64(year))) ~= day
        else { return nil }
        // Behind a space, a zone can follow as well.
        let isSpaced = rest.first == UInt8(ascii: " ") && rest.dropFirst().first.map(Self.isDigit) == true
        let isTime = skip("T") || isSpaced && skip(" ")
        guard isTime else { return (LocalTime(year, month, day), true) }
        guard let hour = number(2), skip(":"), let minute = number(2) else { return nil }
        var second = 0
        if skip(":") {
            guard let number = number(2) else { return nil }
            second = number
            // A fraction of a second makes no difference here.
            if skip(".") {
                let digits = rest.prefix(while: Self.isDigit)
                guard 1...9 ~= digits.count else { return nil }
                rest = rest.dropFirst(digits.count)
            }
        }
        guard hour < 24, minute < 60, second < 60 else { return nil }
        return (LocalTime(year, month, day, hour, minute, second), false)
    }

    /// - Returns: The stated offset in seconds, `.some(nil)` for none, and `nil` for one that is wrong.
    mutating func offset() -> Int?? {
        if isAtEnd { return .some(nil) }
        _ = skip(" ")
        if skip("Z") { return 0 }
        if rest.starts(with: "UTC".utf8) {
            rest = rest.dropFirst(3)
            return 0
        }
        let isEast = skip("+")
        guard isEast || skip("-"), let hours = number(2) else { return nil }
        _ = skip(":")
        let minutes = isAtEnd ? 0 : number(2)
        guard let minutes, hours < 24, minutes < 60 else { return nil }
        let seconds = hours * 3600 + minutes * 60
        return isEast ? seconds : -seconds
    }

    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }

    private mutating func number(_ digits: Int) -> Int? {
        guard rest.count >= digits, rest.prefix(digits).allSatisfy(Self.isDigit) else { return nil }
        let value = rest.prefix(digits).reduce(0) { $0 * 10 + Int($1 - 48) }
        rest = rest.dropFirst(digits)
        return value
    }

    private static func isDigit(_ byte: UInt8) -> Bool { 48...57 ~= byte }
}
