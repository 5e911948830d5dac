import ReachCore
import ReachTesting
import Testing

@testable import ReachQueue

@Suite struct RequestTableTests {
    private var table = RequestTable(firstID: 5)

    private mutating func add() -> Slot { table.insert(.test(table.newID())) }

    @Test mutating func `a number finds its request until that is removed, and is never given again`() {
        let (first, second) = (add(), add())
        #expect(table[RequestID(rawValue: 5)] == first && table[RequestID(rawValue: 6)] == second)
        table.remove(second)
        #expect(table[RequestID(rawValue: 6)] == nil && table[second].place == .free)
        let third = add()
        #expect(third == second && table[third].id == RequestID(rawValue: 7))
    }

    @Test mutating func `a restored number is not given to a new request`() {
        _ = table.insert(.test(RequestID(rawValue: 40)))
        #expect(table.newID() == RequestID(rawValue: 41))
    }

    @Test mutating func `each request of an order follows the one before it`() throws {
        let order = try #require(OrderChains.Key(owner: 7, orderKey: "x", uniqueness: .none))
        let slots = [add(), add(), add()]
        for slot in slots { table.join(order, slot) }
        #expect(table.head(of: order) == slots[0] && table.predecessor(of: slots[0]) == nil)
        #expect(table.predecessor(of: slots[2]) == slots[0] && table.predecessors(of: slots[2]) == Array(slots[..<2]))
        #expect(table.leaveOrder(slots[0]) == slots[1] && table.predecessor(of: slots[1]) == nil)
        #expect(table.leaveOrder(slots[2]) == nil && table.leaveOrder(slots[1]) == nil && table.head(of: order) == nil)
    }

    @Test func `orders of different users and kinds never meet`() {
        let keys = [
            OrderChains.Key(owner: 1, orderKey: "x", uniqueness: .none),
            OrderChains.Key(owner: 2, orderKey: "x", uniqueness: .none),
            OrderChains.Key(owner: 1, orderKey: "x", uniqueness: .coalesce(key: "x")),
            OrderChains.Key(owner: 1, orderKey: nil, uniqueness: .unique(name: "x", mode: .keep)),
        ]
        #expect(Set(keys).count == 4 && OrderChains.Key(owner: 1, orderKey: nil, uniqueness: .none) == nil)
    }

    @Test func `the owners of the last ended requests are remembered`() {
        var recent = RecentRequests(capacity: 2)
        for number in 1...3 { recent.insert(RequestID(rawValue: Int64(number)), of: UInt32(number)) }
        #expect(recent.owner(of: RequestID(rawValue: 1)) == nil)
        #expect(recent.owner(of: RequestID(rawValue: 2)) == 2 && recent.owner(of: RequestID(rawValue: 3)) == 3)
    }
}

@Suite struct RequestDeadlinesTests {
    private var deadlines: RequestDeadlines
    private let slots = (0..<4).map { Slot(rawValue: $0) }

    init() {
        var policy = QueuePolicy()
        policy.dead.count = 2
        policy.dead.bytes = 100
        policy.dead.lifetime = .seconds(60)
        deadlines = RequestDeadlines(policy)
    }

    private func entry(_ seconds: Int64, bytes: Int64 = 10) -> QueueEntry {
        .test(RequestID(rawValue: seconds), bytes: bytes, since: .at(Double(seconds)))
    }

    @Test mutating func `all deadlines within a second cause one wake-up`() {
        deadlines.set(slots[0], to: BootTime(nanoseconds: 1_200_000_000))
        deadlines.set(slots[1], to: BootTime(nanoseconds: 1_900_000_000))
        #expect(deadlines.next == .at(2))
        #expect(deadlines.popExpired(at: .at(2)) == slots[0] && deadlines.popExpired(at: .at(2)) == slots[1])
        #expect(deadlines.popExpired(at: .at(2)) == nil && deadlines.next == nil)
        deadlines.set(slots[0], to: BootTime(nanoseconds: .max))
        #expect(deadlines.next == BootTime(nanoseconds: .max))
    }

    @Test mutating func `the oldest of too many dead requests goes, and each after its time`() {
        for (seconds, slot) in slots.prefix(3).enumerated() {
            deadlines.keep(slot, entry(Int64(seconds)), order: nil)
        }
        #expect(deadlines.surplusDead(of: 7) == slots[0] && deadlines.surplusDead(of: 8) == nil)
        _ = deadlines.takeDead(slots[0], entry(0))
        #expect(deadlines.surplusDead(of: 7) == nil)
        #expect(deadlines.overdueDead(at: .at(60)) == nil && deadlines.overdueDead(at: .at(61)) == slots[1])
    }

    @Test mutating func `what expires in one second wakes once, and what never expires does not overflow`() {
        let second: Int64 = 1_000_000_000
        let times = [(1, second), (second, second), (second + 1, 2 * second), (Int64.max, .max), (.max - 1, .max - 1)]
        for (time, wake) in times {
            deadlines.set(slots[0], to: BootTime(nanoseconds: time))
            #expect(deadlines.next == BootTime(nanoseconds: wake))
        }
        deadlines.remove(slots[0])
        #expect(deadlines.next == nil)
    }

    @Test mutating func `the last dead request is kept however long it is, and its surplus counts`() throws {
        let order = try #require(OrderChains.Key(owner: 7, orderKey: "x", uniqueness: .none))
        deadlines.keep(slots[0], entry(1, bytes: 250), order: order)
        #expect(deadlines.surplusDead(of: 7) == nil)
        #expect(deadlines.surplusBytes(of: 7) == 150 && deadlines.surplusBytes == 150)
        #expect(deadlines.takeDead(slots[0], entry(1, bytes: 250)) == order)
        #expect(deadlines.surplusBytes(of: 7) == 0 && deadlines.surplusBytes == 0)
    }
}
