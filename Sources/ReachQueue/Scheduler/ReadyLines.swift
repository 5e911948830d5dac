/// What could start, if limits allowed: channels (interfaces) of groups (constraints) of lanes (a destination and an
/// owner) of requests. On each level those take turns, so that nobody waits for a crowd; and each step takes the same
/// time however many wait.
///
/// A group whose constraint is not met stands in no channel, and all that wait for it cost nothing.
struct ReadyLines: Sendable {
    struct Lane: Sendable {
        let group: Int32
        let destination: Int32
        let owner: UInt32
        let kind: StartKind
        fileprivate(set) var entries = LinkedLists.Ends()
        /// Taken out of its group's line, since its destination or its owner is blocked.
        fileprivate(set) var isStalled = false
        fileprivate var nextOfDestination: Int32 = -1
    }

    private(set) var lanes: [Lane] = []
    private var freeLanes: [Int32] = []
    private var entryLinks = LinkedLists()
    private var laneLinks = LinkedLists()
    /// Each group stands in up to twelve lines: one for each kind.
    private var groupLinks = LinkedLists()
    private var laneOfEntry: [Int32] = []
    private var firstLaneOfDestination: [Int32] = []
    private var groupLines: [LinkedLists.Ends] = []
    private var groupChannel: [Int32] = []
    private var groupKinds: [UInt16] = []
    private var channelLines: [LinkedLists.Ends] = []

    mutating func reserveCapacity(_ entries: Int) {
        entryLinks.reserveCapacity(entries)
        laneOfEntry.reserveCapacity(entries)
    }

    /// Makes room for things with numbers below these counts.
    mutating func grow(entries: Int = 0, destinations: Int = 0, groups: Int = 0, channels: Int = 0) {
        entryLinks.grow(to: entries)
        laneOfEntry.grow(to: entries, with: -1)
        firstLaneOfDestination.grow(to: destinations, with: -1)
        groupLinks.grow(to: groups * StartKind.count)
        groupLines.grow(to: groups * StartKind.count, with: LinkedLists.Ends())
        groupChannel.grow(to: groups, with: -1)
        groupKinds.grow(to: groups, with: 0)
        channelLines.grow(to: channels * StartKind.count, with: LinkedLists.Ends())
    }

    // MARK: Requests

    mutating func add(_ entry: Int32, group: Int32, destination: Int32, owner: UInt32, kind: StartKind) {
        let lane = lane(group: group, destination: destination, owner: owner, kind: kind)
        laneOfEntry[Int(entry)] = lane
        entryLinks.append(entry, to: &lanes[Int(lane)].entries)
    }

    mutating func remove(_ entry: Int32) {
        let lane = laneOfEntry[Int(entry)]
        guard lane >= 0 else { return }
        laneOfEntry[Int(entry)] = -1
        entryLinks.remove(entry, from: &lanes[Int(lane)].entries)
        if lanes[Int(lane)].entries.isEmpty { free(lane) }
    }

    // MARK: Taking turns

    func hasCandidates(channel: Int32, kind: StartKind) -> Bool { !channelLines[index(channel, kind)].isEmpty }

    /// The lane whose turn it is.
    func nextLane(channel: Int32, kind: StartKind) -> Int32? {
        let line = channelLines[index(channel, kind)]
        guard !line.isEmpty else { return nil }
        return groupLines[Int(line.first)].first
    }

    func firstEntry(of lane: Int32) -> Int32 { lanes[Int(lane)].entries.first }

    /// The lane had its turn: it goes to the end of its group's line, and the group to the end of the channel's.
    mutating func turnOver(_ lane: Int32, channel: Int32) {
        let (group, kind) = (lanes[Int(lane)].group, lanes[Int(lane)].kind)
        laneLinks.rotate(&groupLines[index(group, kind)])
        groupLinks.rotate(&channelLines[index(channel, kind)])
    }

    // MARK: What blocks

    /// Takes the lane out of its line until ``resume(destination:)`` or ``resumeAll()``.
    mutating func stall(_ lane: Int32) {
        guard !lanes[Int(lane)].isStalled else { return }
        lanes[Int(lane)].isStalled = true
        unlist(lane)
    }

    mutating func resume(destination: Int32) {
        var lane = firstLaneOfDestination[Int(destination)]
        while lane >= 0 {
            if lanes[Int(lane)].isStalled {
                lanes[Int(lane)].isStalled = false
                list(lane)
            }
            lane = lanes[Int(lane)].nextOfDestination
        }
    }

    mutating func resumeAll() {
        for index in lanes.indices where lanes[index].isStalled {
            lanes[index].isStalled = false
            list(Int32(index))
        }
    }

    /// Puts the group into a channel's lines for these kinds, or takes it out of all.
    mutating func place(group: Int32, channel: Int32?, urgent: Bool, others: Bool) {
        let kinds: UInt16 = channel == nil ? 0 : (urgent ? 0b111 : 0) | (others ? 0b1111_1111_1000 : 0)
        for kind in StartKind.all {
            unlink(group, kind)
        }
        groupChannel[Int(group)] = channel ?? -1
        groupKinds[Int(group)] = kinds
        for kind in StartKind.all { link(group, kind) }
    }

    // MARK: -

    private func index(_ owner: Int32, _ kind: StartKind) -> Int { Int(owner) * StartKind.count + Int(kind.rawValue) }

    private mutating func lane(group: Int32, destination: Int32, owner: UInt32, kind: StartKind) -> Int32 {
        var lane = firstLaneOfDestination[Int(destination)]
        while lane >= 0 {
            let present = lanes[Int(lane)]
            if present.group == group, present.owner == owner, present.kind == kind { return lane }
            lane = present.nextOfDestination
        }
        var made = Lane(group: group, destination: destination, owner: owner, kind: kind)
        made.nextOfDestination = firstLaneOfDestination[Int(destination)]
        if let free = freeLanes.popLast() {
            lane = free
            lanes[Int(lane)] = made
        } else {
            lane = Int32(lanes.count)
            lanes.append(made)
            laneLinks.grow(to: lanes.count)
        }
        firstLaneOfDestination[Int(destination)] = lane
        list(lane)
        return lane
    }

    private mutating func free(_ lane: Int32) {
        if lanes[Int(lane)].isStalled { lanes[Int(lane)].isStalled = false } else { unlist(lane) }
        let destination = Int(lanes[Int(lane)].destination)
        if firstLaneOfDestination[destination] == lane {
            firstLaneOfDestination[destination] = lanes[Int(lane)].nextOfDestination
        } else {
            var before = firstLaneOfDestination[destination]
            while lanes[Int(before)].nextOfDestination != lane { before = lanes[Int(before)].nextOfDestination }
            lanes[Int(before)].nextOfDestination = lanes[Int(lane)].nextOfDestination
        }
        freeLanes.append(lane)
    }

    private mutating func list(_ lane: Int32) {
        let (group, kind) = (lanes[Int(lane)].group, lanes[Int(lane)].kind)
        laneLinks.append(lane, to: &groupLines[index(group, kind)])
        link(group, kind)
    }

    private mutating func unlist(_ lane: Int32) {
        let (group, kind) = (lanes[Int(lane)].group, lanes[Int(lane)].kind)
        laneLinks.remove(lane, from: &groupLines[index(group, kind)])
        if groupLines[index(group, kind)].isEmpty { unlink(group, kind) }
    }

    private mutating func link(_ group: Int32, _ kind: StartKind) {
        let channel = groupChannel[Int(group)]
        let node = Int32(index(group, kind))
        guard channel >= 0, groupKinds[Int(group)] & (1 << UInt16(kind.rawValue)) != 0,
            !groupLines[Int(node)].isEmpty, !groupLinks.isListed(node)
        else { return }
        groupLinks.append(node, to: &channelLines[index(channel, kind)])
    }

    private mutating func unlink(_ group: Int32, _ kind: StartKind) {
        let node = Int32(index(group, kind))
        guard groupLinks.isListed(node) else { return }
        groupLinks.remove(node, from: &channelLines[index(groupChannel[Int(group)], kind)])
    }
}

extension Array {
    fileprivate mutating func grow(to size: Int, with element: Element) {
        guard count < size else { return }
        append(contentsOf: repeatElement(element, count: size - count))
    }
}
