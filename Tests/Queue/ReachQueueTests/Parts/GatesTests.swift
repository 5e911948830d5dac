import ReachCore
import ReachTesting
import Testing

@testable import ReachQueue

@Suite struct GatesTests {
    private var gates = Gates(FixedPolicy(QueuePolicy(), seed: 1))
    private var random = SplitMix64(seed: 1)
    private let slot = Slot(rawValue: 0)

    private mutating func group(_ interceptor: String? = nil, to destination: Destination? = nil) -> GroupIndex {
        let key = RequestGroup.Key(condition: .any, destination: destination, interceptor: interceptor)
        return gates[key] ?? gates.insert(key, missing: .path, at: .at(0), epoch: 1)
    }

    private mutating func open(_ group: GroupIndex) -> PathGate.Change? {
        gates.setPath(.wired, of: group)
        return gates.change(group, using: &random) { gate, _ in
            gate.begin(on: .wired, missing: [], settledAt: .at(0), like: nil, at: .at(1))
        }
    }

    @Test mutating func `the number of groups with a path follows their gates`() {
        let (first, second) = (group(), group("api"))
        #expect(gates.openCount == 0 && gates.all == [first, second])
        #expect(open(first) == .opened(after: .zero))
        #expect(gates.openCount == 1 && gates.unproved.isEmpty)
        let policy = QueuePolicy()
        let change = gates.change(first, using: &random) { gate, random in
            gate.update(path: nil, missing: .path, isProved: false, at: .at(2), policy, using: &random)
        }
        #expect(change == .closed(wasOpen: true) && gates.openCount == 0)
        _ = open(second)
        gates.join(second)
        gates.remove(second, at: .at(3))
        #expect(gates.openCount == 0 && gates.all == [first])
    }

    @Test mutating func `a gate whose path settles is unproved, until something is answered`() {
        let group = group()
        let policy = QueuePolicy()
        gates.giveUpWaiting()
        gates.setPath(.wired, of: group)
        let change = gates.change(group, using: &random) { gate, random in
            gate.update(path: .wired, missing: [], isProved: false, at: .at(9), policy, using: &random)
        }
        #expect(change == .gained && gates.unproved == [group] && gates.openCount == 1)
        #expect(gates.unprovedGate(by: 2) != nil && gates.unprovedGate(by: 3) == nil)
        _ = gates.change(group, using: &random) { gate, _ in gate.prove(at: .at(10)) }
        #expect(gates.unproved.isEmpty && gates.unprovedGate(by: 2) == nil)
    }

    @Test mutating func `a timer runs for the first wait behind a gate that is not closed`() {
        let group = group()
        gates.wait(slot, in: group, until: .at(5), isOfNetwork: true)
        #expect(gates.earliestWait == nil)
        _ = open(group)
        gates.refreshWaitTimer(group)
        #expect(gates.earliestWait == .at(5))
        gates.wait(Slot(rawValue: 1), in: group, until: .at(4), isOfNetwork: false)
        #expect(gates.earliestWait == .at(4) && gates.popDueWait(in: group, at: .at(4)) == Slot(rawValue: 1))
        gates.endWait(slot, in: group)
        #expect(gates.earliestWait == nil && gates.popWithDueWaits(at: .at(9)) == nil)
    }

    @Test mutating func `waits are cut once in each epoch`() {
        let group = group()
        gates.cutWaits(of: group, at: .at(3), inEpoch: 1)
        #expect(gates[group].cutWaitsAt == nil)
        gates.cutWaits(of: group, at: .at(3), inEpoch: 2)
        gates.cutWaits(of: group, at: .at(4), inEpoch: 2)
        #expect(gates[group].cutWaitsAt == .at(3))
        gates.refreshTimer(group, at: .at(0))
        #expect(gates.earliestTimer == .at(3) && gates.popDue(at: .at(3)) == group)
    }

    @Test mutating func `waits are spread once in each epoch, and not while the gate settles or where none is`() {
        let group = group()
        _ = open(group)
        let policy = QueuePolicy()
        gates.spreadWaits(of: group, inEpoch: 2, at: .at(2), using: &random)
        #expect(gates[group].cutWaitsAt == nil)
        gates.wait(slot, in: group, until: .at(99), isOfNetwork: true)
        gates.spreadWaits(of: group, inEpoch: 2, at: .at(2), using: &random)
        #expect(gates[group].cutWaitsAt == nil)
        gates.spreadWaits(of: group, inEpoch: 3, at: .at(3), using: &random)
        #expect(gates[group].cutWaitsAt.map { .at(3) <= $0 && $0 <= .at(4) } == true)
        gates.cutWaits(of: group, at: nil)
        gates.spreadWaits(of: group, inEpoch: 3, at: .at(4), using: &random)
        #expect(gates[group].cutWaitsAt == nil)
        for path in [nil, QueuePath.wired] {
            _ = gates.change(group, using: &random) { gate, random in
                gate.update(path: path, missing: .path, isProved: false, at: .at(5), policy, using: &random)
            }
        }
        gates.spreadWaits(of: group, inEpoch: 4, at: .at(5), using: &random)
        #expect(gates[group].gate.deadline != nil && gates[group].cutWaitsAt == nil && gates[group].epoch == 3)
    }

    @Test mutating func `a removed group leaves no timer and no gate, and its place to the next`() throws {
        let group = group("api")
        let policy = QueuePolicy()
        gates.giveUpWaiting()
        gates.setPath(.wired, of: group)
        _ = gates.change(group, using: &random) { gate, random in
            gate.update(path: .wired, missing: [], isProved: false, at: .at(9), policy, using: &random)
        }
        gates.refreshTimer(group, at: .at(9))
        #expect(gates.earliestTimer != nil && gates.unproved == [group])
        gates.remove(group, at: .at(10))
        #expect(gates.earliestTimer == nil && gates.unproved.isEmpty && gates.openCount == 0 && gates.all.isEmpty)
        let other = self.group("other")
        #expect(other == group && gates.openCount == 0 && gates[other].gate.isClosed && gates[other].path == nil)
    }

    @Test mutating func `a group without requests is kept for a while, but not one of a single host`() throws {
        let own = group(to: try Destination(url: "https://a.example/"))
        gates.join(own)
        #expect(gates.leave(own) == own)
        for number in 0..<65 {
            let group = group("\(number)")
            gates.join(group)
            #expect((gates.leave(group) != nil) == (number == 64))
        }
    }
}
