/// What could start, if limits allowed: owners of channels (interfaces) of groups (conditions) of lanes (destinations)
/// of requests. Whose turn it is among owners, the scheduler decides; below that all take turns, so that no one waits
/// for a crowd. Each step takes the same time however many requests wait.
///
/// A group whose condition is not met stands in no channel, and all that wait for it cost nothing.
struct ReadyLines: Sendable {
    struct Lane: Sendable {
        let group: Int32
        let destination: Int32
        let owner: UInt32
        let kind: StartKind
        /// Where it stands: the requests of its owner in its group.
        fileprivate let section: Int32
        fileprivate(set) var entries = LinkedLists.Ends()
        /// Taken out of its group's line, since its destination or its owner is blocked.
        fileprivate(set) var isStalled = false
        fileprivate var nextOfDestination: Int32 = -1
    }

    /// The requests of one owner in one group. It exists while it has a lane.
    private struct Section: Sendable {
        let group: Int32
        let owner: Int32
        var lanes = 0
    }

    /// One user's lines: twelve for each channel, one for each kind.
    private struct OwnerLines: Sendable {
        let user: UInt32
        var sections = 0
        var lines: [LinkedLists.Ends] = []
    }

    private(set) var lanes: [Lane] = []
    private var freeLanes: [Int32] = []
    private var entryLinks = LinkedLists()
    private var laneLinks = LinkedLists()
    private var laneOfEntry: [Int32] = []
    private var firstLaneOfDestination: [Int32] = []
    private var sections: [Section] = []
    private var freeSections: [Int32] = []
    /// Each section stands in up to twelve lines: one for each kind.
    private var sectionLinks = LinkedLists()
    private var sectionLines: [LinkedLists.Ends] = []
    private var groupSections: [[Int32]] = []
    private var groupChannel: [Int32] = []
    private var groupKinds: [UInt16] = []
    private var owners: [OwnerLines] = []
    private var freeOwners: [Int32] = []
    private var ownerNumbers: [UInt32: Int32] = [:]

    mutating func reserveCapacity(_ entries: Int) {
        entryLinks.reserveCapacity(entries)
        laneOfEntry.reserveCapacity(entries)
    }

    /// Makes room for things with numbers below these counts.
    mutating func grow(entries: Int = 0, destinations: Int = 0, groups: Int = 0) {
        entryLinks.grow(to: entries)
        laneOfEntry.grow(to: entries, with: -1)
        firstLaneOfDestination.grow(to: destinations, with: -1)
        groupSections.grow(to: groups, with: [])
        groupChannel.grow(to: groups, with: -1)
        groupKinds.grow(to: groups, with: 0)
    }

    // MARK: Requests

    /// - Parameter isFirst: Puts it before all others of its lane.
    mutating func add(
        _ entry: Int32, group: Int32, destination: Int32, owner: UInt32, kind: StartKind, isFirst: Bool = false
    ) {
        let lane = lane(group: group, destination: destination, owner: owner, kind: kind)
        laneOfEntry[Int(entry)] = lane
        if isFirst {
            entryLinks.prepend(entry, to: &lanes[Int(lane)].entries)
        } else {
            entryLinks.append(entry, to: &lanes[Int(lane)].entries)
        }
    }

    mutating func remove(_ entry: Int32) {
        let lane = laneOfEntry[Int(entry)]
        guard lane >= 0 else { return }
        laneOfEntry[Int(entry)] = -1
        entryLinks.remove(entry, from: &lanes[Int(lane)].entries)
        if lanes[Int(lane)].entries.isEmpty { free(lane) }
    }

    // MARK: Taking turns

    /// Who has requests that no wait of their own keeps.
    var users: Dictionary<UInt32, Int32>.Keys { ownerNumbers.keys }

    func hasCandidates(of user: UInt32, channel: Int32, kind: StartKind) -> Bool {
        line(of: user, channel, kind)?.isEmpty == false
    }

    /// The priorities of which something of the user's stands in a line of the channel.
    func addPriorities(of user: UInt32, channel: Int32, to found: inout PrioritySet) {
        guard let owner = ownerNumbers[user].map(Int.init) else { return }
        for kind in StartKind.all {
            let place = index(channel, kind)
            guard place < owners[owner].lines.count else { return }
            if !owners[owner].lines[place].isEmpty { found.insert(kind.priority) }
        }
    }

    /// The user's lane whose turn it is.
    func nextLane(of user: UInt32, channel: Int32, kind: StartKind) -> Int32? {
        guard let line = line(of: user, channel, kind), !line.isEmpty else { return nil }
        return sectionLines[Int(line.first)].first
    }

    private func line(of user: UInt32, _ channel: Int32, _ kind: StartKind) -> LinkedLists.Ends? {
        guard let owner = ownerNumbers[user], case let place = index(channel, kind),
            place < owners[Int(owner)].lines.count
        else { return nil }
        return owners[Int(owner)].lines[place]
    }

    func firstEntry(of lane: Int32) -> Int32 { lanes[Int(lane)].entries.first }

    /// The one behind it in its lane.
    func entry(after entry: Int32) -> Int32? { entryLinks.following(entry) }

    /// Puts an entry before all others of its lane.
    mutating func putFirst(_ entry: Int32) {
        let lane = Int(laneOfEntry[Int(entry)])
        guard lane >= 0, lanes[lane].entries.first != entry else { return }
        entryLinks.remove(entry, from: &lanes[lane].entries)
        entryLinks.prepend(entry, to: &lanes[lane].entries)
    }

    // MARK: Those of a group, in line or not

    /// The users with requests in the group, and a number for the lanes of each.
    func users(inGroup group: Int32) -> [(user: UInt32, section: Int32)] {
        groupSections[Int(group)].map { (owners[Int(sections[Int($0)].owner)].user, $0) }
    }

    /// The first lane of a user's in a group that is not stalled.
    func firstLane(of section: Int32, _ kind: StartKind) -> Int32? {
        let line = sectionLines[index(section, kind)]
        return line.isEmpty ? nil : line.first
    }

    func lane(after lane: Int32) -> Int32? { laneLinks.following(lane) }

    /// The lane had its turn: it goes to the end of its section's line, and the section to the end of the channel's.
    mutating func turnOver(_ lane: Int32, channel: Int32) {
        let (section, kind) = (lanes[Int(lane)].section, lanes[Int(lane)].kind)
        laneLinks.rotate(&sectionLines[index(section, kind)])
        let (owner, line) = (Int(sections[Int(section)].owner), index(channel, kind))
        // A canary stands in no line of a channel.
        if line < owners[owner].lines.count { sectionLinks.rotate(&owners[owner].lines[line]) }
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
        for section in groupSections[Int(group)] { for kind in StartKind.all { unlink(section, kind) } }
        groupChannel[Int(group)] = channel ?? -1
        groupKinds[Int(group)] = kinds
        for section in groupSections[Int(group)] { for kind in StartKind.all { link(section, kind) } }
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
        let section = section(of: owner, in: group)
        sections[Int(section)].lanes += 1
        var made = Lane(group: group, destination: destination, owner: owner, kind: kind, section: section)
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
        leave(lanes[Int(lane)].section)
    }

    private mutating func section(of user: UInt32, in group: Int32) -> Int32 {
        let owner = ownerNumber(user)
        if let present = groupSections[Int(group)].first(where: { sections[Int($0)].owner == owner }) { return present }
        let section: Int32
        if let free = freeSections.popLast() {
            section = free
            sections[Int(section)] = Section(group: group, owner: owner)
        } else {
            section = Int32(sections.count)
            sections.append(Section(group: group, owner: owner))
            sectionLinks.grow(to: sections.count * StartKind.count)
            sectionLines.grow(to: sections.count * StartKind.count, with: LinkedLists.Ends())
        }
        groupSections[Int(group)].append(section)
        owners[Int(owner)].sections += 1
        return section
    }

    private mutating func ownerNumber(_ user: UInt32) -> Int32 {
        if let number = ownerNumbers[user] { return number }
        let number: Int32
        if let free = freeOwners.popLast() {
            number = free
            owners[Int(free)] = OwnerLines(user: user)
        } else {
            number = Int32(owners.count)
            owners.append(OwnerLines(user: user))
        }
        ownerNumbers[user] = number
        return number
    }

    /// One of its lanes is gone.
    private mutating func leave(_ section: Int32) {
        sections[Int(section)].lanes -= 1
        guard sections[Int(section)].lanes == 0 else { return }
        let (group, owner) = (Int(sections[Int(section)].group), Int(sections[Int(section)].owner))
        groupSections[group].removeAll { $0 == section }
        freeSections.append(section)
        owners[owner].sections -= 1
        guard owners[owner].sections == 0 else { return }
        ownerNumbers[owners[owner].user] = nil
        freeOwners.append(Int32(owner))
    }

    private mutating func list(_ lane: Int32) {
        let (section, kind) = (lanes[Int(lane)].section, lanes[Int(lane)].kind)
        laneLinks.append(lane, to: &sectionLines[index(section, kind)])
        link(section, kind)
    }

    private mutating func unlist(_ lane: Int32) {
        let (section, kind) = (lanes[Int(lane)].section, lanes[Int(lane)].kind)
        laneLinks.remove(lane, from: &sectionLines[index(section, kind)])
        if sectionLines[index(section, kind)].isEmpty { unlink(section, kind) }
    }

    private mutating func link(_ section: Int32, _ kind: StartKind) {
        let (group, owner) = (Int(sections[Int(section)].group), Int(sections[Int(section)].owner))
        let channel = groupChannel[group]
        let node = Int32(index(section, kind))
        guard channel >= 0, groupKinds[group] & (1 << UInt16(kind.rawValue)) != 0,
            !sectionLines[Int(node)].isEmpty, !sectionLinks.isListed(node)
        else { return }
        owners[owner].lines.grow(to: (Int(channel) + 1) * StartKind.count, with: LinkedLists.Ends())
        sectionLinks.append(node, to: &owners[owner].lines[index(channel, kind)])
    }

    private mutating func unlink(_ section: Int32, _ kind: StartKind) {
        let node = Int32(index(section, kind))
        guard sectionLinks.isListed(node) else { return }
        let (group, owner) = (Int(sections[Int(section)].group), Int(sections[Int(section)].owner))
        sectionLinks.remove(node, from: &owners[owner].lines[index(groupChannel[group], kind)])
    }
}

extension Array {
    fileprivate mutating func grow(to size: Int, with element: Element) {
        guard count < size else { return }
        append(contentsOf: repeatElement(element, count: size - count))
    }
}
