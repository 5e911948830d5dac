import ReachCore
import Testing

@testable import ReachTransfer

/// What a connection may receive in a turn of the loop, and in all.
struct ReceiveBudgetTests {
    private static let start = BootTime(nanoseconds: 1_000_000_000)

    /// Reads and content until a read has to wait.
    private func reads(_ bytes: Int, content: Int, from budget: inout ReceiveBudget) -> Int {
        var count = 0
        while budget.mayRead, count < 100_000 {
            budget.addRead(bytes)
            budget.addContent(content)
            count += 1
        }
        return count
    }

    @Test func `records of content fill a turn and never rest`() {
        var budget = ReceiveBudget(at: Self.start)
        for turn in 1...1000 as ClosedRange<UInt64> {
            budget.begin(turn: turn, at: Self.start)
            #expect(reads(16 << 10, content: 16 << 10, from: &budget) == 32)
            #expect(!budget.mustRest && !budget.isMostlyFraming)
        }
    }

    @Test(arguments: [(5, 252), (27, 232), (16 << 10, 4)])
    func `reads without content rest after some of them`(bytes: Int, most: Int) {
        var budget = ReceiveBudget(at: Self.start)
        budget.begin(turn: 1, at: Self.start)
        #expect(reads(bytes, content: 0, from: &budget) == most)
        #expect(budget.mustRest)
        // Another turn at the same instant brings nothing back, and the time of a rest everything.
        budget.begin(turn: 2, at: Self.start)
        #expect(!budget.mayRead)
        budget.begin(turn: 3, at: Self.start + ReceiveBudget.restTime)
        #expect(budget.mayRead)
    }

    @Test(arguments: [(27, 0, true), (40, 1, true), (300, 100, false), (64, 64, false)])
    func `a connection is dropped if it brings hardly anything but framing`(bytes: Int, content: Int, isDropped: Bool) {
        var budget = ReceiveBudget(at: Self.start)
        var now = Self.start
        for turn in 1...400 as ClosedRange<UInt64> {
            budget.begin(turn: turn, at: now)
            _ = reads(bytes, content: content, from: &budget)
            now = now + ReceiveBudget.restTime
        }
        #expect(budget.isMostlyFraming == isDropped)
    }

    @Test func `content that was decoded pays for no more than a turn's framing`() {
        var budget = ReceiveBudget(at: Self.start)
        budget.begin(turn: 1, at: Self.start)
        budget.addContent(1 << 40)
        #expect(reads(0, content: 0, from: &budget) == 256)
    }
}
