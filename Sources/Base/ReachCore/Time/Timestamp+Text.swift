extension Timestamp {
    /// Reads RFC 3339 in UTC, as ``description`` writes it. The fraction of a second has up to nine digits, or is absent.
    ///
    /// - Returns: `nil` for anything else, and for years that 64 bits of nanoseconds cannot reach.
    package init?(_ text: String) {
        var reader = TimeFields(text)
        guard let year = reader.number(4), reader.skip("-"), let month = reader.number(2), reader.skip("-"),
            let day = reader.number(2), reader.skip("T"), let hour = reader.number(2), reader.skip(":"),
            let minute = reader.number(2), reader.skip(":"), let second = reader.number(2),
            let fraction = reader.nanoseconds(), reader.skip("Z"), reader.isAtEnd,
            1...12 ~= month, 1...Self.days(inMonth: month, of: year) ~= day, hour < 24, minute < 60, second < 60
        else { return nil }
        let seconds = Self.days(to: year, month, day) * 86_400 + hour * 3600 + minute * 60 + second
        let (nanoseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, secondOverflow) = nanoseconds.addingReportingOverflow(fraction)
        guard !overflow, !secondOverflow else { return nil }
        self.init(nanosecondsSince1970: sum)
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
