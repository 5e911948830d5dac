import ReachCore
import ReachProbe
import Testing

@Suite struct ByteBudgetTests {
    private let start = BootTime(nanoseconds: 5_000_000_000)

    @Test func `a budget is full at the beginning, and refills evenly`() {
        var budget = ByteBudget(bytesPerDay: 86_400, at: start)
        #expect(budget.available(86_400, at: start) == start)
        budget.spend(86_400, at: start)
        #expect(budget.bytesLeft(at: start + .seconds(100)) == 100)
        let time = budget.available(1000, at: start)
        #expect(time - start >= .seconds(1000) && time - start < .milliseconds(1_000_001))
        #expect(budget.bytesLeft(at: time) >= 1000)
    }

    @Test func `no more than a day's worth is saved up`() {
        let budget = ByteBudget(bytesPerDay: 1000, at: start)
        #expect(budget.bytesLeft(at: start + .seconds(30 * 86_400)) == 1000)
    }

    @Test func `an overdraft is paid back first`() {
        var budget = ByteBudget(bytesPerDay: 86_400, at: start)
        budget.spend(100_000, at: start)
        #expect(budget.bytesLeft(at: start) == -13_600)
        #expect(budget.available(1, at: start) - start >= .seconds(13_601))
    }

    @Test func `a check larger than a day's worth waits for a full bucket`() {
        var budget = ByteBudget(bytesPerDay: 86_400, at: start)
        #expect(budget.available(100_000, at: start) == start)
        budget.spend(1, at: start)
        #expect(budget.available(100_000, at: start) > start)
    }
}
