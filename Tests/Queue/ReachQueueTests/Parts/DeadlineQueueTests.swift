import ReachCore
import ReachTesting
import Testing

@testable import ReachQueue

/// The heap against the simplest thing that could be right.
@Suite struct DeadlineQueueTests {
    @Test(arguments: 0..<20)
    func `whatever is set, moved and removed, the earliest comes first`(seed: UInt64) {
        check(DeadlineQueue<Slot>(), seed)
        check(SlotDeadlines(), seed)
    }

    private func check(_ empty: DeadlineHeap<some DeadlinePlaces<Slot>>, _ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var queue = empty
        var model: [Slot: Int64] = [:]
        for _ in 0..<2000 {
            let key = Slot(rawValue: Int32.random(in: 0..<60, using: &random))
            let time = Int64.random(in: 0..<100, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0, 1:
                queue.set(key, to: BootTime(nanoseconds: time))
                model[key] = time
            case 2:
                queue.remove(key)
                model[key] = nil
            case 3:
                queue.setNoLater(key, than: BootTime(nanoseconds: time))
                model[key] = min(model[key] ?? .max, time)
            default:
                let due = queue.popDue(at: BootTime(nanoseconds: time))
                if let due {
                    #expect(model[due] == model.values.min() && (model[due] ?? .max) <= time)
                    model[due] = nil
                } else {
                    #expect(model.values.allSatisfy { $0 > time })
                }
            }
            #expect(queue.count == model.count && queue.earliest?.nanoseconds == model.values.min())
            #expect(queue[key]?.nanoseconds == model[key])
        }
    }
}
