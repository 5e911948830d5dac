import ReachCore
import Testing

@testable import ReachQueue

@Suite struct ReadyLinesTests {
    private var lines = ReadyLines()
    private let group = GroupIndex(rawValue: 0)
    private let channel = ChannelIndex(rawValue: 0)
    private let kind = StartKind(.normal, .fresh)

    init() { lines.place(group: group, channel: channel, urgent: true, others: true) }

    private mutating func add(_ slot: Int32, to destination: Int32, of user: UInt32 = 7, isFirst: Bool = false) {
        lines.add(
            Slot(rawValue: slot), group: group, destination: DestinationIndex(rawValue: destination), owner: user,
            kind: kind, isFirst: isFirst)
    }

    private func next(of user: UInt32 = 7) -> LaneIndex? { lines.nextLane(of: user, channel: channel, kind: kind) }

    /// The first requests of the lanes that have their turns, as long as no request leaves.
    private mutating func turns(_ count: Int) -> [Int32] {
        (0..<count).compactMap { _ in
            guard let lane = next() else { return nil }
            defer { lines.rotate(lane, channel: channel) }
            return lines.first(of: lane).rawValue
        }
    }

    @Test mutating func `an empty lane, and a user without one, leave their places to the next`() throws {
        var places: Set<[Int32]> = []
        for number in 0..<20 as Range<Int32> {
            let user = UInt32(number)
            add(number, to: number, of: user)
            let section = try #require(lines.users(inGroup: group).first { $0.user == user })
            places.insert([try #require(next(of: user)).rawValue, section.section.rawValue])
            lines.remove(Slot(rawValue: number))
            #expect(lines.users.isEmpty && lines.users(inGroup: group).isEmpty && next(of: user) == nil)
        }
        #expect(places.count == 1)
        #expect(leftovers(in: lines, beside: ["groups"]) == [])
    }

    @Test mutating func `destinations take turns, and each has its requests in order`() {
        for slot in 0..<6 as Range<Int32> { add(slot, to: slot % 2) }
        add(6, to: 1, isFirst: true)
        #expect(turns(4) == [0, 6, 0, 6])
        lines.remove(Slot(rawValue: 6))
        lines.remove(Slot(rawValue: 0))
        lines.putFirst(Slot(rawValue: 5))
        #expect(turns(4) == [2, 5, 2, 5])
        #expect(lines.following(Slot(rawValue: 5)) == Slot(rawValue: 1))
    }

    @Test mutating func `a stalled lane has no turn until its destination is resumed`() throws {
        add(0, to: 0)
        add(1, to: 1)
        lines.stall(try #require(next()))
        #expect(turns(2) == [1, 1])
        lines.resume(destination: DestinationIndex(rawValue: 1))
        #expect(turns(2) == [1, 1])
        lines.resume(destination: DestinationIndex(rawValue: 0))
        #expect(turns(2) == [1, 0])
        for _ in 0..<2 { lines.stall(try #require(next())) }
        // A stalled lane may go, too.
        lines.remove(Slot(rawValue: 1))
        #expect(next() == nil)
        lines.resumeAll()
        #expect(turns(2) == [0, 0])
    }

    @Test mutating func `a group without a channel is in no line, and in one for the kinds of its time`() {
        add(0, to: 0)
        lines.add(
            Slot(rawValue: 1), group: group, destination: DestinationIndex(rawValue: 0), owner: 7,
            kind: StartKind(.urgent, .retry))
        func priorities() -> [RequestPriority] {
            var (found, list) = (PrioritySet(), [RequestPriority]())
            lines.addPriorities(of: 7, channel: channel, to: &found)
            found.forEach { list.append($0) }
            return list
        }
        #expect(priorities() == [.urgent, .normal])
        lines.place(group: group, channel: channel, urgent: true)
        #expect(priorities() == [.urgent])
        lines.place(group: group, channel: nil)
        #expect(priorities() == [] && lines.users(inGroup: group).map(\.user) == [7])
    }
}
