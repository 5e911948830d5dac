import ReachCore
import Testing

@testable import ReachQueue

/// What servers ask for, and how many retries they are troubled with.
@Suite struct RetryAfterTests {
    private static let now = Timestamp("1994-11-06T08:49:37Z") ?? Timestamp(nanosecondsSince1970: 0)

    @Test(
        arguments: [
            ("120", nil, 120), (" \t120 ", nil, 120), ("1", nil, 1), ("0", nil, nil), ("", nil, nil), ("-1", nil, nil),
            ("12x", nil, nil), ("1 2", nil, nil), ("1.5", nil, nil), ("x", nil, nil), ("3600", nil, 3600),
            ("3601", nil, 3600), ("1099511627776", nil, 3600), ("99999999999999999999", nil, 3600),
            ("Sun, 06 Nov 1994 08:50:37 GMT", nil, 60), ("Sun, 06 Nov 1994 08:49:37 GMT", nil, nil),
            ("Sun, 06 Nov 1994 08:49:36 GMT", nil, nil), ("Sun, 06 Nov 1994 10:49:37 GMT", nil, 3600),
            // By the server's own clock, which is an hour ahead.
            ("Sun, 06 Nov 1994 09:50:37 GMT", "Sun, 06 Nov 1994 09:49:37 GMT", 60),
            ("Sun, 06 Nov 1994 09:49:37 GMT", "Sun, 06 Nov 1994 09:49:37 GMT", nil),
            ("Sun, 06 Nov 1994 08:50:37 GMT", "nonsense", 60),
        ] as [(String, String?, Int64?)])
    func `a wait is a number of seconds or a date, within the limit`(value: String, date: String?, seconds: Int64?) {
        let wait = RetryAfter.parse(value, date: date, now: Self.now, longest: .seconds(3600))
        #expect(wait == seconds.map { .seconds($0) })
    }

    @Test func `up to a tenth is added to a wait, and nothing is taken from it`() {
        var generator = SplitMix64(seed: 5)
        let waits = (0..<400).map { _ in RetryAfter.jittered(.seconds(100), using: &generator) }.sorted()
        #expect(waits[0] >= .seconds(100) && waits[0] < .milliseconds(100_200))
        #expect(waits[399] <= .seconds(110) && waits[399] > .milliseconds(109_800))
    }

    // MARK: - The budget

    private static func at(_ seconds: Double) -> BootTime { BootTime(nanoseconds: Int64(seconds * 1e9)) }

    @Test func `a budget of ten allows retries until five failures, and after each half minute one more`() {
        let rules = RetryBudget.Rules()
        var budget = RetryBudget(rules, at: Self.at(0))
        func allows(_ seconds: Double) -> Bool { budget.allowsRetry(at: Self.at(seconds), rules) }
        func isFull(_ seconds: Double) -> Bool { budget.isFull(at: Self.at(seconds), rules) }
        func next(_ seconds: Double) -> BootTime { budget.allowsRetryFrom(Self.at(seconds), rules) }
        #expect(isFull(0))
        for _ in 0..<4 {
            budget.fail(at: Self.at(0), rules)
            #expect(allows(0) && !isFull(0))
            #expect(next(0) == Self.at(0))
        }
        budget.fail(at: Self.at(0), rules)
        // Exactly the threshold is not enough.
        #expect(!allows(0))
        #expect(next(0) == Self.at(0) + .milliseconds(1))
        budget.fail(at: Self.at(0), rules)
        #expect(next(0) == Self.at(30) + .milliseconds(1))
        #expect(!allows(29) && allows(30.001))
        // An earlier time takes nothing back.
        #expect(allows(0))
        #expect(!isFull(179) && isFull(181))
    }

    @Test func `failures do not count below nothing, nor successes and refunds above what is full`() {
        let rules = RetryBudget.Rules()
        var budget = RetryBudget(rules, at: Self.at(0))
        func allows(_ seconds: Double) -> Bool { budget.allowsRetry(at: Self.at(seconds), rules) }
        func isFull(_ seconds: Double) -> Bool { budget.isFull(at: Self.at(seconds), rules) }
        func next(_ seconds: Double) -> BootTime { budget.allowsRetryFrom(Self.at(seconds), rules) }
        for _ in 0..<50 { budget.fail(at: Self.at(0), rules) }
        #expect(next(0) == Self.at(150) + .milliseconds(1))
        for _ in 0..<50 { budget.succeed(at: Self.at(0), rules) }
        for _ in 0..<2 { budget.succeed(at: Self.at(0), rules) }
        #expect(allows(0))
        budget.refund(100, at: Self.at(0), rules)
        #expect(isFull(0))
        for _ in 0..<3 { budget.succeed(at: Self.at(0), rules) }
        for _ in 0..<5 { budget.fail(at: Self.at(0), rules) }
        #expect(!allows(0))
        budget.refund(1, at: Self.at(0), rules)
        #expect(allows(0))
        // A budget that was full stays so, however much time passes.
        budget.refund(9, at: Self.at(0), rules)
        budget.succeed(at: Self.at(10_000), rules)
        for _ in 0..<5 { budget.fail(at: Self.at(10_000), rules) }
        #expect(!allows(10_000))
    }
}
