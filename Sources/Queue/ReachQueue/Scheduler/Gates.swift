internal import ReachCore

/// The groups of requests that start and pause together, each behind a gate.
///
/// Invariants: each key has one group, which exists while it has requests (the last 64 without requests are kept, since
/// the flapping of their paths still counts). ``openCount`` and ``unproved`` follow from the gates. While a gate is not
/// closed, a timer runs for the first wait that ends behind it.
struct Gates: Sendable {
    private static let idleLimit = 64

    var fixed: FixedPolicy
    private var groups = Slab<RequestGroup>()
    private var indices: [RequestGroup.Key: GroupIndex] = [:]
    /// The groups without requests, the oldest first.
    private var idle: [GroupIndex] = []
    /// The number of groups that have a path.
    private(set) var openCount = 0
    /// The groups whose path is not proved: they settle, or wait for a canary's answer.
    private(set) var unproved: Set<GroupIndex> = []
    private var timers = DeadlineQueue<GroupIndex>()
    private var waitTimers = DeadlineQueue<GroupIndex>()
    /// Increases each time that a group gains a path.
    private(set) var generation: UInt32 = 0

    init(_ fixed: FixedPolicy) { self.fixed = fixed }

    private var policy: QueuePolicy { fixed.policy }

    subscript(group: GroupIndex) -> RequestGroup { _read { yield groups[group] } }

    subscript(key: RequestGroup.Key) -> GroupIndex? { indices[key] }

    /// All groups, in the order of their places.
    var all: [GroupIndex] { indices.values.sorted() }

    var earliestTimer: BootTime? { timers.earliest }
    var earliestWait: BootTime? { waitTimers.earliest }

    // MARK: Groups

    mutating func insert(_ key: RequestGroup.Key, missing: Blocker, at now: BootTime, epoch: UInt64) -> GroupIndex {
        let group = groups.insert(RequestGroup(key, gate: PathGate(missing: missing, at: now), epoch: epoch))
        indices[key] = group
        return group
    }

    mutating func join(_ group: GroupIndex) { groups[group].count += 1 }

    /// One request leaves the group.
    ///
    /// - Returns: A group to remove, since it has had no request for long enough.
    mutating func leave(_ group: GroupIndex) -> GroupIndex? {
        groups[group].count -= 1
        guard groups[group].count == 0 else { return nil }
        if groups[group].key.destination != nil { return group }
        idle.append(group)
        guard idle.count > Self.idleLimit else { return nil }
        let oldest = idle.removeFirst()
        return groups[oldest].count == 0 && indices[groups[oldest].key] == oldest ? oldest : nil
    }

    /// Removes a group without requests, that is in no channel.
    mutating func remove(_ group: GroupIndex, at now: BootTime) {
        if !groups[group].gate.isClosed { openCount -= 1 }
        groups[group].gate = PathGate(missing: [], at: now)
        unproved.remove(group)
        timers.remove(group)
        indices[groups[group].key] = nil
        idle.removeAll { $0 == group }
        groups.remove(group)
    }

    mutating func setPath(_ path: QueuePath?, of group: GroupIndex) { groups[group].path = path }

    mutating func setTarget(_ path: QueuePath?, of group: GroupIndex) {
        groups[group].targetPath = path
        groups[group].isTargetKnown = true
    }

    mutating func setChannel(_ channel: ChannelIndex?, of group: GroupIndex) { groups[group].channel = channel }

    mutating func prepare(_ count: Int, in group: GroupIndex) { groups[group].preparing += count }

    // MARK: Gates

    mutating func change(
        _ group: GroupIndex, using random: inout SplitMix64,
        _ change: (inout PathGate, inout SplitMix64) -> PathGate.Change?
    ) -> PathGate.Change? {
        let wasClosed = groups[group].gate.isClosed
        let result = change(&groups[group].gate, &random)
        if groups[group].gate.isClosed != wasClosed { openCount += wasClosed ? 1 : -1 }
        if groups[group].gate.isUnproved { unproved.insert(group) } else { unproved.remove(group) }
        return result
    }

    mutating func giveUpWaiting() { for group in indices.values { groups[group].gate.giveUpWaiting() } }

    /// A path is there: destinations are approached slowly from now on.
    mutating func resume(_ group: GroupIndex, isNew: Bool) {
        if isNew { generation += 1 }
        groups[group].generation = generation
    }

    /// Sets the timer for the next change that time makes to the gate.
    mutating func refreshTimer(_ group: GroupIndex, at now: BootTime) {
        var times = [groups[group].gate.deadline, groups[group].cutWaitsAt]
        if let start = groups[group].gate.times { times += [start.urgent, start.others].filter { $0 > now } }
        timers.set(group, to: times.compactMap(\.self).min())
    }

    mutating func popDue(at now: BootTime) -> GroupIndex? { timers.popDue(at: now) }

    mutating func popWithDueWaits(at now: BootTime) -> GroupIndex? { waitTimers.popDue(at: now) }

    // MARK: Waits

    /// - Parameter isOfNetwork: Whether a change of the network ends the wait.
    mutating func wait(_ slot: Slot, in group: GroupIndex, until time: BootTime, isOfNetwork: Bool) {
        if isOfNetwork {
            groups[group].networkWaits.set(slot, to: time)
        } else {
            groups[group].destinationWaits.set(slot, to: time)
        }
        refreshWaitTimer(group)
    }

    mutating func endWait(_ slot: Slot, in group: GroupIndex) {
        groups[group].networkWaits.remove(slot)
        groups[group].destinationWaits.remove(slot)
        refreshWaitTimer(group)
    }

    mutating func popDueWait(in group: GroupIndex, at now: BootTime) -> Slot? {
        groups[group].networkWaits.popDue(at: now) ?? groups[group].destinationWaits.popDue(at: now)
    }

    mutating func popNetworkWait(in group: GroupIndex) -> Slot? { groups[group].networkWaits.pop() }

    mutating func refreshWaitTimer(_ group: GroupIndex) {
        waitTimers.set(group, to: groups[group].gate.isClosed ? nil : groups[group].earliestWait)
    }

    /// Sets the time at which the group's waits after failures of the network end; `nil` if they are not cut.
    mutating func cutWaits(of group: GroupIndex, at time: BootTime?) { groups[group].cutWaitsAt = time }

    /// The same for waits of an earlier epoch, once in each epoch.
    mutating func cutWaits(of group: GroupIndex, at time: BootTime, inEpoch epoch: UInt64) {
        guard groups[group].epoch != epoch else { return }
        groups[group].epoch = epoch
        groups[group].cutWaitsAt = time
    }

    /// The same at a random time, while the gate stays open in a new epoch.
    mutating func spreadWaits(
        of group: GroupIndex, inEpoch epoch: UInt64, at now: BootTime, using random: inout SplitMix64
    ) {
        // When a gate settles, waits are cut when it has settled.
        guard groups[group].gate.deadline == nil, groups[group].epoch != epoch else { return }
        groups[group].epoch = epoch
        spreadWaits(of: group, at: now, using: &random)
    }

    mutating func spreadWaits(of group: GroupIndex, at now: BootTime, using random: inout SplitMix64) {
        guard !groups[group].networkWaits.isEmpty else { return }
        groups[group].cutWaitsAt = groups[group].gate.spreadAgain(at: now, policy, using: &random)
    }

    // MARK: Canaries

    /// The groups that a canary of a group tries: those with the same path. A canary on a host's own path says nothing
    /// about other hosts.
    private func groupsTried(like group: GroupIndex, by interface: UInt32) -> [GroupIndex] {
        let destination = groups[group].key.destination
        return groups.indices.filter {
            groups[$0].path?.interfaceIndex == interface && groups[$0].key.destination == destination
        }
    }

    mutating func canaryStarted(
        of owner: UInt32, in group: GroupIndex, by interface: UInt32, at now: BootTime, using random: inout SplitMix64
    ) {
        for group in groupsTried(like: group, by: interface) where groups[group].gate.isUnproved {
            groups[group].gate.canaryStarted(of: owner, at: now, policy, using: &random)
        }
    }

    mutating func canaryFailed(
        of owner: UInt32, in group: GroupIndex, by interface: UInt32, at now: BootTime, using random: inout SplitMix64
    ) {
        for group in groupsTried(like: group, by: interface) {
            groups[group].gate.canaryFailed(of: owner, at: now, policy, using: &random)
        }
    }

    mutating func canaryWithdrawn(of owner: UInt32, in group: GroupIndex, by interface: UInt32) {
        for group in groupsTried(like: group, by: interface) { groups[group].gate.canaryWithdrawn(of: owner) }
    }

    /// When an urgent request may start, since canaries of its user failed; `nil` if it may now.
    func urgentWait(of user: UInt32, in group: GroupIndex, at now: BootTime) -> BootTime? {
        guard let time = groups[group].gate.canaries[user]?.urgent, time > now else { return nil }
        return time
    }

    /// A shared gate that waits for a canary by that interface.
    func unprovedGate(by interface: UInt32) -> PathGate? {
        let group = unproved.sorted().first {
            groups[$0].path?.interfaceIndex == interface && groups[$0].key.destination == nil
        }
        return group.map { groups[$0].gate }
    }
}
