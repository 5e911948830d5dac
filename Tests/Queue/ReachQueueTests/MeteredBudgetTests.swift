import ReachCore
import Testing

@testable import ReachQueue

/// How budgets are written, and when their periods begin.
@Suite struct MeteredBudgetTests {
    @Test(
        arguments: [
            ("200 MiB/month", 200 << 20, MeteredPeriod.month), ("1GiB/week", 1 << 30, .week), ("1 B/day", 1, .day),
            ("1536 KiB / day", 1536 << 10, .day), ("2 TiB/month", 2 << 40, .month),
        ] as [(String, Int64, MeteredPeriod)])
    func `a budget is a whole number with a unit and a period`(text: String, bytes: Int64, period: MeteredPeriod) {
        #expect(MeteredBudget(text) == MeteredBudget(bytes: bytes, per: period))
        #expect(
            MeteredBudget("\(MeteredBudget(bytes: bytes, per: period))") == MeteredBudget(bytes: bytes, per: period))
    }

    @Test(arguments: [
        "", "200", "200 MiB", "200 MB/month", "1.5 GiB/month", "-1 MiB/month", "0 B/day", "1 MiB/year",
        "1 MiB/month/day",
        "99999999999999999999 B/day", "9999999 TiB/day", "MiB/day", "１ MiB/day",
    ])
    func `anything else is none`(text: String) { #expect(MeteredBudget(text) == nil) }

    private static func day(_ text: String) -> Int64 {
        let parts = text.split(separator: "-").compactMap { Int64($0) }
        return Timestamp.days(to: parts[0], parts[1], parts[2])
    }

    @Test(
        arguments: [
            (MeteredPeriod.day, 1, "2026-11-27", "2026-11-27", "2026-11-28"),
            // 2026-11-27 is a Friday.
            (.week, 1, "2026-11-27", "2026-11-23", "2026-11-30"), (.week, 5, "2026-11-27", "2026-11-27", "2026-12-04"),
            (.week, 6, "2026-11-27", "2026-11-21", "2026-11-28"), (.week, 7, "1970-01-01", "1969-12-28", "1970-01-04"),
            (.month, 1, "2026-11-27", "2026-11-01", "2026-12-01"),
            (.month, 14, "2026-01-03", "2025-12-14", "2026-01-14"),
            // A month without the day begins on its last one.
            (.month, 31, "2026-03-01", "2026-02-28", "2026-03-31"),
            (.month, 31, "2024-02-29", "2024-02-29", "2024-03-31"),
            (.month, 30, "2026-02-27", "2026-01-30", "2026-02-28"),
        ] as [(MeteredPeriod, Int, String, String, String)])
    func `a period begins on its day`(period: MeteredPeriod, begins: Int, day: String, first: String, next: String) {
        #expect(period.first(of: Self.day(day), begins: begins) == Self.day(first))
        #expect(period.next(after: Self.day(first), begins: begins) == Self.day(next))
    }

    @Test(arguments: MeteredPeriod.allCases)
    func `periods follow one another without a gap, on each day of four hundred years`(period: MeteredPeriod) {
        for begins in period.beginnings {
            var first = period.first(of: -100_000, begins: begins)
            for day in stride(from: Int64(-100_000), to: 46_097, by: 1) {
                if day == period.next(after: first, begins: begins) { first = day }
                let next = period.next(after: first, begins: begins)
                let found = period.first(of: day, begins: begins)
                guard found == first, next > first, next - first <= period.longestDays else {
                    Issue.record("\(period) from \(begins) on day \(day): \(found), \(first), \(next)")
                    return
                }
            }
        }
    }

    // MARK: Clocks

    /// An account that moved 100 bytes on 27 November 2026.
    private static func account() -> MeteredAccount {
        var account = MeteredAccount(.all)
        _ = account.advance(to: day("2026-11-27"), .month, begins: 1)
        account.add(100)
        return account
    }

    private static func advance(_ account: inout MeteredAccount, _ day: String) -> Int64 {
        _ = account.advance(to: self.day(day), .month, begins: 1)
        return account.bytes
    }

    @Test func `a new period begins once, however often the clock goes back and forth over its beginning`() {
        var account = Self.account()
        #expect(Self.advance(&account, "2026-12-01") == 0)
        account.add(70)
        #expect(Self.advance(&account, "2026-11-30") == 70, "the clock was set back")
        account.add(5)
        #expect(Self.advance(&account, "2026-12-02") == 75, "and forward again")
        #expect(Self.advance(&account, "2027-01-01") == 0)
    }

    @Test func `a clock that was years ahead does not stop the budget, nor give one twice`() {
        var account = Self.account()
        #expect(Self.advance(&account, "2036-01-01") == 0)
        account.add(30)
        #expect(Self.advance(&account, "2026-11-28") == 130, "both count in the period that it really was")
        #expect(Self.advance(&account, "2026-12-01") == 0)
    }

    @Test func `a clock that was years behind does not give the present period again`() {
        var account = Self.account()
        #expect(Self.advance(&account, "2024-03-05") == 100)
        #expect(Self.advance(&account, "2025-07-05") == 100, "a jump gives nothing")
        #expect(Self.advance(&account, "2026-11-28") == 100)
        #expect(Self.advance(&account, "2026-12-01") == 0)
    }

    @Test func `after a clock that was years ahead, each month gives its budget as ever`() {
        var account = Self.account()
        _ = Self.advance(&account, "2036-01-01")
        _ = Self.advance(&account, "2026-11-28")
        for month in ["2026-12-03", "2027-01-03", "2027-02-03"] {
            account.add(10)
            #expect(Self.advance(&account, month) == 0)
        }
    }

    @Test func `what was moved before the clock was set counts in the first period that is known`() {
        var account = MeteredAccount(.all)
        account.add(40)
        #expect(Self.advance(&account, "2026-11-27") == 40)
    }

    @Test func `each share is reported once a period`() {
        let budget = MeteredBudget(bytes: 100, per: .month)
        var account = MeteredAccount(.all)
        _ = Self.advance(&account, "2026-11-27")
        account.add(79)
        #expect(account.newShares(of: budget) == [])
        account.add(1)
        #expect(account.newShares(of: budget) == [80])
        account.add(19)
        #expect(account.newShares(of: budget) == [])
        account.add(500)
        #expect(account.newShares(of: budget) == [100])
        #expect(account.newShares(of: budget) == [])
        _ = Self.advance(&account, "2026-12-01")
        account.add(100)
        #expect(account.newShares(of: budget) == [80, 100], "a step may reach both")
    }

    @Test(arguments: ["all", "user:0", "user:4294967295", "link:wwan*", "link:a:b"])
    func `the name of a scope is read as it is written`(text: String) { #expect(MeteredScope(text)?.text == text) }

    @Test(arguments: ["", "user:", "user:x", "user:4294967296", "link:", "other"])
    func `another name is none`(text: String) { #expect(MeteredScope(text) == nil) }
}
