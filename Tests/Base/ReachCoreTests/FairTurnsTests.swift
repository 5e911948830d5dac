import ReachTesting
import Testing

@testable import ReachCore

@Suite struct FairTurnsTests {
    @Test func `users take turns, however many turns each of them waits for`() {
        var turns = FairTurns<Int>()
        for number in 0..<1000 { turns.add(number, for: 1) }
        for number in 2000..<2003 { turns.add(number, for: 2) }
        var order: [Int] = []
        for _ in 0..<8 {
            guard let (user, turn) = turns.next() else { break }
            order.append(turn)
            turns.charge(.milliseconds(1), to: user)
        }
        #expect(order.sorted() == [0, 1, 2, 3, 4, 2000, 2001, 2002])
        #expect(order.prefix(6).count { $0 >= 2000 } == 3)
    }

    @Test func `a user that has used much time waits for the others, and each user's turns keep their order`() {
        var turns = FairTurns<String>()
        turns.add("a1", for: 1)
        turns.add("a2", for: 1)
        #expect(turns.next()?.turn == "a1")
        turns.charge(.milliseconds(10), to: 1)
        for number in 1...12 { turns.add("b\(number)", for: 2) }
        var order: [String] = []
        while let (user, turn) = turns.next() {
            order.append(turn)
            turns.charge(.milliseconds(1), to: user)
        }
        #expect(order.filter { $0.hasPrefix("b") } == (1...12).map { "b\($0)" })
        #expect((9...11).contains(order.firstIndex(of: "a2") ?? -1))
    }

    @Test func `idle users save up no time, and a debt is paid back only up to a limit`() {
        var turns = FairTurns<Int>()
        for _ in 0..<1000 {
            turns.add(1, for: 1)
            _ = turns.next()
            turns.charge(.milliseconds(5), to: 1)
        }
        turns.charge(.seconds(60), to: 1)
        // The new user is first, but not for a minute.
        turns.add(1, for: 1)
        for number in 0..<1000 { turns.add(2000 + number, for: 2) }
        var used = Duration.zero
        while let (user, turn) = turns.next(), turn != 1 {
            turns.charge(.milliseconds(1), to: user)
            used += .milliseconds(1)
        }
        #expect(used > .milliseconds(50) && used <= FairTurns<Int>.longestDebt + .milliseconds(1))
    }

    @Test func `a thousand users that came and went leave nearly no lines`() {
        var turns = FairTurns<Int>()
        for user in 0..<1000 as Range<UInt32> {
            turns.add(1, for: user)
            _ = turns.next()
            turns.charge(.microseconds(10), to: user)
        }
        #expect(turns.isEmpty)
        #expect(turns.userCount <= 66)
    }

    @Test func `each user gets an equal share of the time, whatever a turn costs`() {
        var turns = FairTurns<UInt32>()
        var random = SeededGenerator(seed: 11)
        for user in 1...3 as ClosedRange<UInt32> { for _ in 0..<(user == 1 ? 500 : 5) { turns.add(user, for: user) } }
        var used: [UInt32: Duration] = [:]
        for _ in 0..<3000 {
            guard let (user, turn) = turns.next() else { break }
            // The second user's turns are ten times as long.
            let time = Duration.microseconds(Int.random(in: 10...50, using: &random) * (user == 2 ? 10 : 1))
            turns.charge(time, to: user)
            used[user, default: .zero] += time
            turns.add(turn, for: user)
        }
        let (least, most) = (used.values.min() ?? .zero, used.values.max() ?? .zero)
        #expect(used.count == 3 && most < least * 1.1)
    }
}
