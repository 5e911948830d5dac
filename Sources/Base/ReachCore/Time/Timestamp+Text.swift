extension Timestamp {
    /// Reads RFC 3339 in UTC, as ``description`` writes it. The fraction of a second has up to nine digits, or is
    /// absent.
    ///
    /// - Returns: `nil` for anything else, and for years that 64 bits of nanoseconds cannot reach.
    package init?(_ text: String) {
        var text = text
        guard let nanoseconds = text.withUTF8({ Self.nanoseconds($0) }) else { return nil }
        self.init(nanosecondsSince1970: nanoseconds)
    }

    /// Reads `2026-11-28T03:10:11.123456789Z` by the places of its bytes: a reader of a fleet reads a million of them.
    private static func nanoseconds(_ text: UnsafeBufferPointer<UInt8>) -> Int64? {
        let end = text.count - 1
        guard 19...29 ~= end, text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-"), text[10] == UInt8(ascii: "T"),
            text[13] == UInt8(ascii: ":"), text[16] == UInt8(ascii: ":"), text[end] == UInt8(ascii: "Z"),
            let year = number(text, 0..<4), let month = number(text, 5..<7), let day = number(text, 8..<10),
            let hour = number(text, 11..<13), let minute = number(text, 14..<16), let second = number(text, 17..<19),
            let fraction = fraction(text, 19..<end),
            1...12 ~= month, 1...days(inMonth: month, of: year) ~= day, hour < 24, minute < 60, second < 60
        else { return nil }
        let seconds = days(to: year, month, day) * 86_400 + hour * 3600 + minute * 60 + second
        let (nanoseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, secondOverflow) = nanoseconds.addingReportingOverflow(fraction)
        return overflow || secondOverflow ? nil : sum
    }

    private static func number(_ text: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> Int64? {
        var value: Int64 = 0
        for index in range {
            guard 48...57 ~= text[index] else { return nil }
            value = value * 10 + Int64(text[index] - 48)
        }
        return value
    }

    /// The fraction of a second in nanoseconds: nothing, or a dot and one to nine digits.
    private static func fraction(_ text: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> Int64? {
        guard !range.isEmpty else { return 0 }
        guard range.count >= 2, text[range.lowerBound] == UInt8(ascii: "."),
            var value = number(text, range.dropFirst())
        else { return nil }
        for _ in (range.count - 1)..<9 { value *= 10 }
        return value
    }

    /// Days from 1970-01-01 to a date. It counts in years that begin on 1 March, so that the leap day comes last.
    package static func days(to year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let marchYear = month > 2 ? year : year - 1
        let marchMonth = month > 2 ? month - 3 : month + 9
        let leapDays = marchYear / 4 - marchYear / 100 + marchYear / 400
        return marchYear * 365 + leapDays + (153 * marchMonth + 2) / 5 + day - 1 - 719_468
    }

    package static func days(inMonth month: Int64, of year: Int64) -> Int64 {
        let (nextYear, nextMonth) = month == 12 ? (year + 1, 1) : (year, month + 1)
        return days(to: nextYear, nextMonth, 1) - days(to: year, month, 1)
    }
}
