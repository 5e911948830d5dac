import ReachTesting
import Testing

@testable import ReachCore

/// A timer queue that is a sorted array.
private struct TimerModel {
    var entries: [(deadline: BootTime, id: TimerQueue.ID, tolerance: Duration)] = []

    mutating func add(_ deadline: BootTime, _ id: TimerQueue.ID, _ tolerance: Duration) {
        entries.append((deadline, id, tolerance))
        entries.sort { ($0.deadline, $0.id) < ($1.deadline, $1.id) }
    }

    mutating func popDue(at now: BootTime) -> TimerQueue.ID? {
        guard let first = entries.first, first.deadline <= now + first.tolerance else { return nil }
        return entries.removeFirst().id
    }
}

@Suite struct TimerQueueTests {
    private func time(_ nanoseconds: Int64) -> BootTime { BootTime(nanoseconds: nanoseconds) }

    @Test func `timers fire by deadline, and of equal ones the older first`() {
        var queue = TimerQueue()
        let (late, early, equal) = (queue.add(time(20)), queue.add(time(10)), queue.add(time(20)))
        #expect(queue.next == time(10))
        #expect(queue.popDue(at: time(9)) == nil)
        #expect(queue.popDue(at: time(10)) == early)
        #expect(queue.popDue(at: time(10)) == nil)
        #expect(queue.popDue(at: time(100)) == late)
        #expect(queue.popDue(at: time(100)) == equal)
        #expect(queue.popDue(at: time(100)) == nil)
        #expect(queue.next == nil)
    }

    @Test func `a timer is due within its tolerance, but not before those with an earlier deadline`() {
        var queue = TimerQueue()
        let (exact, late, tolerant) = (
            queue.add(time(30)), queue.add(time(200), tolerance: .nanoseconds(50)),
            queue.add(time(20), tolerance: .nanoseconds(5))
        )
        #expect(queue.next == time(20), "a tolerance wakes nobody up earlier")
        #expect(queue.popDue(at: time(14)) == nil)
        #expect(queue.popDue(at: time(15)) == tolerant)
        #expect(queue.popDue(at: time(29)) == nil)
        #expect(queue.popDue(at: time(30)) == exact)
        #expect(queue.popDue(at: time(149)) == nil)
        #expect(queue.popDue(at: time(150)) == late)
    }

    @Test func `a cancelled timer does not fire`() {
        var queue = TimerQueue()
        let (first, second) = (queue.add(time(10)), queue.add(time(20)))
        queue.cancel(first)
        #expect(queue.next == time(20))
        queue.cancel(second)
        #expect(queue.next == nil)
        #expect(queue.popDue(at: time(100)) == nil)
    }

    @Test func `cancelling a timer that fired, was cancelled or never existed does nothing`() {
        var queue = TimerQueue()
        let first = queue.add(time(10))
        #expect(queue.popDue(at: time(10)) == first)
        let second = queue.add(time(20))
        queue.cancel(first)
        queue.cancel(999)
        #expect(queue.next == time(20))
        queue.cancel(second)
        queue.cancel(second)
        #expect(queue.next == nil)
    }

    @Test func `timers that are cancelled long before their time do not pile up`() {
        var queue = TimerQueue()
        let kept = queue.add(time(1))
        for number in 0..<10_000 as Range<Int64> {
            let id = queue.add(time(1_000_000 + number))
            queue.cancel(id)
        }
        #expect(queue.entryCount < 100)
        #expect(queue.popDue(at: time(1)) == kept)
        #expect(queue.next == nil)
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `any order of operations gives the same as a sorted array`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var queue = TimerQueue()
        var model = TimerModel()
        var used: [TimerQueue.ID] = []
        for _ in 0..<3000 {
            switch Int.random(in: 0..<5, using: &random) {
            case 0, 1:
                // From a small range, so that many are equal.
                let deadline = time(.random(in: 0..<50, using: &random))
                let tolerance = Duration.nanoseconds(
                    Bool.random(using: &random) ? 0 : .random(in: 1..<5, using: &random))
                let id = queue.add(deadline, tolerance: tolerance)
                #expect(!used.contains(id))
                used.append(id)
                model.add(deadline, id, tolerance)
            case 2 where !used.isEmpty:
                let id = random.pick(used)
                queue.cancel(id)
                model.entries.removeAll { $0.id == id }
            default:
                let now = time(.random(in: 0..<40, using: &random))
                let (taken, expected) = (queue.popDue(at: now), model.popDue(at: now))
                #expect(taken == expected)
            }
            #expect(queue.next == model.entries.first?.deadline)
        }
    }
}
