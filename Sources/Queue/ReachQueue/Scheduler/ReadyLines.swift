typealias LaneIndex = SlabIndex<ReadyLines.Lane>

/// The requests that could start if limits allowed it: users, who have lines for each channel (interface), of groups
/// (conditions), of lanes (destinations), of requests. The scheduler decides which user is next; below that all take
/// turns, so that no request waits for a crowd. Each step takes the same time however many requests wait.
///
/// Invariant: a lane exists while it has a request, a section while it has a lane. A lane is in its section's line
/// unless it is stalled; a section is in its user's line for a channel while it has such a lane and its group is placed
/// there. A group whose condition is not met is in no channel, and the requests that wait for it cost nothing.
struct ReadyLines: Sendable {
    struct Lane: Sendable {
        let group: GroupIndex
        let destination: DestinationIndex
        let owner: UInt32
        let kind: StartKind
        /// The requests of its owner in its group.
        fileprivate let section: SlabIndex<Section>
        fileprivate var slots = LinkedLists<QueueEntry>.Ends()
        /// It is in no line, since its destination or its owner is blocked.
        fileprivate var isStalled = false
        fileprivate var nextOfDestination: LaneIndex?
    }

    /// The requests of one owner in one group.
    struct Section: Sendable {
        fileprivate let group: GroupIndex
        fileprivate let user: SlabIndex<UserLines>
        fileprivate var lanes = 0
    }

    /// The lanes of one kind in a section. They are in a line together.
    enum SectionKind {}

    /// The lines of one user: twelve for each channel, one for each kind.
    struct UserLines: Sendable {
        fileprivate let user: UInt32
        fileprivate var sections = 0
        fileprivate var lines: [LinkedLists<SectionKind>.Ends] = []
    }

    private struct GroupLines: Sendable {
        var sections: [SlabIndex<Section>] = []
        /// The channel in whose lines it is, and the kinds for which it is there.
        var channel: ChannelIndex?
        var kinds: UInt16 = 0
    }

    private var lanes = Slab<Lane>()
    private var slotLinks = LinkedLists<QueueEntry>()
    private var laneLinks = LinkedLists<Lane>()
    private var laneOfSlot = SlabColumn<QueueEntry, LaneIndex?>(nil)
    private var firstLaneOfDestination = SlabColumn<DestinationRecord, LaneIndex?>(nil)
    private var sections = Slab<Section>()
    private var sectionLinks = LinkedLists<SectionKind>()
    private var sectionLines = SlabColumn<SectionKind, LinkedLists<Lane>.Ends>(LinkedLists<Lane>.Ends())
    private var groups = SlabColumn<RequestGroup, GroupLines>(GroupLines())
    private var userLines = Slab<UserLines>()
    private var userIndices: [UInt32: SlabIndex<UserLines>] = [:]

    mutating func reserveCapacity(_ count: Int) {
        slotLinks.reserveCapacity(count)
        laneOfSlot.reserveCapacity(count)
    }

    // MARK: Requests

    /// - Parameter isFirst: Puts it before all others of its lane.
    mutating func add(
        _ slot: Slot, group: GroupIndex, destination: DestinationIndex, owner: UInt32, kind: StartKind,
        isFirst: Bool = false
    ) {
        let lane = lane(group: group, destination: destination, owner: owner, kind: kind)
        laneOfSlot[slot] = lane
        if isFirst {
            slotLinks.prepend(slot, to: &lanes[lane].slots)
        } else {
            slotLinks.append(slot, to: &lanes[lane].slots)
        }
    }

    mutating func remove(_ slot: Slot) {
        guard let lane = laneOfSlot[slot] else { return }
        laneOfSlot[slot] = nil
        slotLinks.remove(slot, from: &lanes[lane].slots)
        if lanes[lane].slots.isEmpty { remove(lane) }
    }

    subscript(lane: LaneIndex) -> Lane { lanes[lane] }

    /// The first request of a lane, which always has one.
    func first(of lane: LaneIndex) -> Slot {
        guard let slot = lanes[lane].slots.first else { preconditionFailure("a lane without requests is removed") }
        return slot
    }

    /// The request after it in its lane.
    func following(_ slot: Slot) -> Slot? { slotLinks.following(slot) }

    /// Puts a request before all others of its lane.
    mutating func putFirst(_ slot: Slot) {
        guard let lane = laneOfSlot[slot], lanes[lane].slots.first != slot else { return }
        slotLinks.remove(slot, from: &lanes[lane].slots)
        slotLinks.prepend(slot, to: &lanes[lane].slots)
    }

    // MARK: Turns

    /// The users with requests that wait for nothing of their own.
    var users: Dictionary<UInt32, SlabIndex<UserLines>>.Keys { userIndices.keys }

    /// Inserts the priorities of the user's requests that are in a line of the channel.
    func addPriorities(of user: UInt32, channel: ChannelIndex, to found: inout PrioritySet) {
        for kind in StartKind.all where nextLane(of: user, channel: channel, kind: kind) != nil {
            found.insert(kind.priority)
        }
    }

    /// The next lane of the user in a line.
    func nextLane(of user: UInt32, channel: ChannelIndex, kind: StartKind) -> LaneIndex? {
        guard let user = userIndices[user], case let line = Self.line(channel, kind),
            line < userLines[user].lines.count, let section = userLines[user].lines[line].first
        else { return nil }
        return sectionLines[section].first
    }

    /// Moves a lane that had its turn to the end of its section's line, and the section to the end of the channel's.
    mutating func rotate(_ lane: LaneIndex, channel: ChannelIndex) {
        let (section, kind) = (lanes[lane].section, lanes[lane].kind)
        laneLinks.rotate(&sectionLines[Self.part(section, kind)])
        let (user, line) = (sections[section].user, Self.line(channel, kind))
        // A canary is in no line of a channel.
        if line < userLines[user].lines.count { sectionLinks.rotate(&userLines[user].lines[line]) }
    }

    /// The users with requests in the group, whether it is placed in a channel or not, and the section of each.
    func users(inGroup group: GroupIndex) -> [(user: UInt32, section: SlabIndex<Section>)] {
        groups[group].sections.map { (userLines[sections[$0].user].user, $0) }
    }

    /// The first lane of a section that is not stalled.
    func firstLane(of section: SlabIndex<Section>, _ kind: StartKind) -> LaneIndex? {
        sectionLines[Self.part(section, kind)].first
    }

    func lane(after lane: LaneIndex) -> LaneIndex? { laneLinks.following(lane) }

    // MARK: What blocks

    /// Takes the lane out of its line until ``resume(destination:)`` or ``resumeAll()``.
    mutating func stall(_ lane: LaneIndex) {
        guard !lanes[lane].isStalled else { return }
        lanes[lane].isStalled = true
        unlist(lane)
    }

    mutating func resume(destination: DestinationIndex) {
        var next = firstLaneOfDestination[destination]
        while let lane = next {
            resume(lane)
            next = lanes[lane].nextOfDestination
        }
    }

    mutating func resumeAll() { for lane in lanes.indices { resume(lane) } }

    private mutating func resume(_ lane: LaneIndex) {
        guard lanes[lane].isStalled else { return }
        lanes[lane].isStalled = false
        list(lane)
    }

    /// Places the group in a channel's lines for these kinds; without a channel, in none.
    mutating func place(group: GroupIndex, channel: ChannelIndex?, urgent: Bool = false, others: Bool = false) {
        for section in groups[group].sections { for kind in StartKind.all { unlink(section, kind) } }
        groups[group].channel = channel
        groups[group].kinds = channel == nil ? 0 : (urgent ? 0b111 : 0) | (others ? 0b1111_1111_1000 : 0)
        for section in groups[group].sections { for kind in StartKind.all { link(section, kind) } }
    }

    // MARK: -

    private static func line(_ channel: ChannelIndex, _ kind: StartKind) -> Int {
        Int(channel.rawValue) * StartKind.count + Int(kind.rawValue)
    }

    private static func part(_ section: SlabIndex<Section>, _ kind: StartKind) -> SlabIndex<SectionKind> {
        SlabIndex(rawValue: section.rawValue * Int32(StartKind.count) + Int32(kind.rawValue))
    }

    private mutating func lane(
        group: GroupIndex, destination: DestinationIndex, owner: UInt32, kind: StartKind
    ) -> LaneIndex {
        let first = firstLaneOfDestination[destination]
        var next = first
        while let lane = next {
            // A destination's record is one user's, and so are its lanes.
            if lanes[lane].group == group, lanes[lane].kind == kind { return lane }
            next = lanes[lane].nextOfDestination
        }
        let section = section(of: owner, in: group)
        sections[section].lanes += 1
        var lane = Lane(group: group, destination: destination, owner: owner, kind: kind, section: section)
        lane.nextOfDestination = first
        let index = lanes.insert(lane)
        firstLaneOfDestination[destination] = index
        list(index)
        return index
    }

    private mutating func remove(_ lane: LaneIndex) {
        if lanes[lane].isStalled { lanes[lane].isStalled = false } else { unlist(lane) }
        let (destination, after) = (lanes[lane].destination, lanes[lane].nextOfDestination)
        if firstLaneOfDestination[destination] == lane {
            firstLaneOfDestination[destination] = after
        } else {
            var next = firstLaneOfDestination[destination]
            while let before = next {
                next = lanes[before].nextOfDestination
                if next == lane { lanes[before].nextOfDestination = after }
            }
        }
        lanes.remove(lane)
        leave(lanes[lane].section)
    }

    private mutating func section(of user: UInt32, in group: GroupIndex) -> SlabIndex<Section> {
        let index = userIndices[user] ?? userLines.insert(UserLines(user: user))
        userIndices[user] = index
        if let present = groups[group].sections.first(where: { sections[$0].user == index }) { return present }
        let section = sections.insert(Section(group: group, user: index))
        groups[group].sections.append(section)
        userLines[index].sections += 1
        return section
    }

    /// One lane of the section is gone.
    private mutating func leave(_ section: SlabIndex<Section>) {
        sections[section].lanes -= 1
        guard sections[section].lanes == 0 else { return }
        let user = sections[section].user
        groups[sections[section].group].sections.removeAll { $0 == section }
        sections.remove(section)
        userLines[user].sections -= 1
        guard userLines[user].sections == 0 else { return }
        userIndices[userLines[user].user] = nil
        userLines.remove(user)
    }

    private mutating func list(_ lane: LaneIndex) {
        let (section, kind) = (lanes[lane].section, lanes[lane].kind)
        laneLinks.append(lane, to: &sectionLines[Self.part(section, kind)])
        link(section, kind)
    }

    private mutating func unlist(_ lane: LaneIndex) {
        let (section, kind) = (lanes[lane].section, lanes[lane].kind)
        laneLinks.remove(lane, from: &sectionLines[Self.part(section, kind)])
        if sectionLines[Self.part(section, kind)].isEmpty { unlink(section, kind) }
    }

    private mutating func link(_ section: SlabIndex<Section>, _ kind: StartKind) {
        let (group, user, part) = (sections[section].group, sections[section].user, Self.part(section, kind))
        guard let channel = groups[group].channel, groups[group].kinds & (1 << UInt16(kind.rawValue)) != 0,
            !sectionLines[part].isEmpty, !sectionLinks.isListed(part)
        else { return }
        let missing = Self.line(channel, kind) + 1 - userLines[user].lines.count
        if missing > 0 {
            let empty = LinkedLists<SectionKind>.Ends()
            userLines[user].lines.append(contentsOf: repeatElement(empty, count: missing))
        }
        sectionLinks.append(part, to: &userLines[user].lines[Self.line(channel, kind)])
    }

    private mutating func unlink(_ section: SlabIndex<Section>, _ kind: StartKind) {
        let (part, user) = (Self.part(section, kind), sections[section].user)
        guard sectionLinks.isListed(part), let channel = groups[sections[section].group].channel else { return }
        sectionLinks.remove(part, from: &userLines[user].lines[Self.line(channel, kind)])
    }
}
