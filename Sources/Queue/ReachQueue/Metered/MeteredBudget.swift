internal import ReachCore

/// How many bytes may be carried by metered links in each period: `200 MiB/month`.
package struct MeteredBudget: Hashable, Sendable, CustomStringConvertible {
    package let bytes: Int64
    package let period: MeteredPeriod

    /// More than any provider sells; sums of a few do not overflow.
    package static let most: Int64 = 1 << 50

    private static let units: [(name: String, bytes: Int64)] = [
        ("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1),
    ]

    package init(bytes: Int64, per period: MeteredPeriod) {
        self.bytes = bytes
        self.period = period
    }

    /// Reads a whole number, a unit (B, KiB, MiB, GiB, TiB) and a period (day, week, month): `200 MiB/month`.
    ///
    /// - Returns: `nil` for another text, for nothing, and for more than ``most``.
    package init?(_ text: String) {
        let parts = text.split(scalar: "/").map(String.init)
        guard parts.count == 2, let period = MeteredPeriod(rawValue: String(parts[1].trimmed)) else { return nil }
        let amount = parts[0].trimmed.utf8
        let digits = amount.prefix { 48...57 ~= $0 }
        let name = String(Substring(amount.dropFirst(digits.count)).trimmed)
        guard let number = Int64(String(Substring(digits))), let unit = Self.units.first(where: { $0.name == name })
        else { return nil }
        let (bytes, isTooLarge) = number.multipliedReportingOverflow(by: unit.bytes)
        guard !isTooLarge, 1...Self.most ~= bytes else { return nil }
        self.init(bytes: bytes, per: period)
    }

    /// In the largest unit that needs no fraction.
    package var description: String {
        let unit = Self.units.first { bytes % $0.bytes == 0 } ?? ("B", 1)
        return "\(bytes / unit.bytes) \(unit.name)/\(period.rawValue)"
    }
}

/// The period of a budget. It begins at midnight, in the time zone of the machine.
package enum MeteredPeriod: String, Hashable, Sendable, CaseIterable {
    case day, week, month

    /// The days on which a period can begin: of a week from Monday (1) to Sunday, of a month its days. In a month
    /// without such a day it begins on the last day.
    package var beginnings: ClosedRange<Int> {
        switch self {
        case .day: 1...1
        case .week: 1...7
        case .month: 1...31
        }
    }

    /// No period is longer.
    var longestDays: Int64 {
        switch self {
        case .day: 1
        case .week: 7
        case .month: 31
        }
    }

    /// The first day of the period that has a day. Days are counted from 1970-01-01.
    ///
    /// - Parameter begins: Of ``beginnings``.
    func first(of day: Int64, begins: Int) -> Int64 {
        switch self {
        case .day: return day
        case .week:
            // 1970-01-01 was a Thursday.
            let monday = day - (day + 3).flooredDivision(by: 7).remainder
            let first = monday + Int64(begins - 1)
            return first <= day ? first : first - 7
        case .month:
            let (year, month, _) = Timestamp.civil(day)
            let first = Self.begin(year, month, begins)
            guard first > day else { return first }
            return month == 1 ? Self.begin(year - 1, 12, begins) : Self.begin(year, month - 1, begins)
        }
    }

    /// The first day of the next period.
    func next(after first: Int64, begins: Int) -> Int64 {
        switch self {
        case .day: return first + 1
        case .week: return first + 7
        case .month:
            let (year, month, _) = Timestamp.civil(first)
            return month == 12 ? Self.begin(year + 1, 1, begins) : Self.begin(year, month + 1, begins)
        }
    }

    private static func begin(_ year: Int64, _ month: Int64, _ day: Int) -> Int64 {
        Timestamp.days(to: year, month, min(Int64(day), Timestamp.days(inMonth: month, of: year)))
    }
}
