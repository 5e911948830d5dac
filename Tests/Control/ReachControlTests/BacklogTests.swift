import ReachCore
import ReachTesting
import Testing

@testable import ReachControl

@Suite struct BacklogTests {
    private func event(_ number: UInt64, size: Int = 0) -> EncodedEvent {
        let moment = Instant(
            wall: Timestamp(nanosecondsSince1970: 0), boot: BootTime(nanoseconds: Int64(number)))
        return .resync(reason: String(repeating: "x", count: size), at: moment)
    }

    private func boot(_ event: EncodedEvent?) -> Int64? {
        guard let event else { return nil }
        var stream = EventStream(source: .daemon)
        return (try? JSONReader.read(stream.line(event)))?["boottime_ns"]?.integer
    }

    @Test func `the backlog keeps a single event of any size`() {
        var backlog = Backlog(limit: 10, of: BacklogBudget(limit: .max))
        backlog.append(event(0, size: 1000))
        backlog.append(event(1, size: 1000))
        #expect(backlog.start == 1 && backlog.end == 2)
        #expect(boot(backlog[1]) == 1)
        #expect(backlog[0] == nil && backlog[2] == nil)
    }

    @Test func `the backlog keeps the same events as a simple list`() {
        var random = SeededGenerator(seed: 8)
        for _ in 0..<50 {
            let limit = Int.random(in: 100...5000, using: &random)
            let budget = BacklogBudget(limit: .max)
            var backlog = Backlog(limit: limit, of: budget)
            var model: [(number: UInt64, bytes: Int)] = []
            var end: UInt64 = 0
            for _ in 0..<300 {
                if random.oneIn(5) {
                    let before = UInt64.random(in: 0...end + 2, using: &random)
                    backlog.forget(before: before)
                    model.removeAll { $0.number < before }
                } else {
                    let event = event(end, size: Int.random(in: 0...200, using: &random))
                    backlog.append(event)
                    model.append((end, event.count))
                    end += 1
                    while model.count > 1, model.reduce(0, { $0 + $1.bytes }) > limit { model.removeFirst() }
                }
                #expect(budget.byteCount == model.reduce(0) { $0 + $1.bytes + 128 })
                #expect(backlog.end == end)
                #expect(backlog.start == model.first?.number ?? end)
            }
            for number in 0..<end {
                let kept = model.contains { $0.number == number }
                #expect(boot(backlog[number]) == (kept ? Int64(number) : nil))
            }
        }
    }
}
