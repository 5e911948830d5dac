internal import ReachCore

/// Canaries: while nothing proves that a path works, one request of each user is sent over it first.
extension QueueScheduler {
    /// The number of lanes of a user that one choice looks at, and of requests in each.
    private static let choice = (lanes: 64, requestsOfLane: 8)

    mutating func startCanaries(portion: inout Int) {
        admission.beginCanaries()
        guard !gates.unproved.isEmpty else { return }
        for group in gates.unproved.sorted() {
            guard case .canary(let times) = gates[group].gate.state, times.others <= now else { continue }
            let users = lines.users(inGroup: group).sorted {
                attempts.share(of: $0.user).precedes(attempts.share(of: $1.user))
            }
            for (user, section) in users where portion > 0 {
                startCanary(of: user, in: group, section, portion: &portion)
            }
        }
    }

    private mutating func startCanary(
        of user: UInt32, in group: GroupIndex, _ section: SlabIndex<ReadyLines.Section>, portion: inout Int
    ) {
        guard let channel = gates[group].channel, !owners.isHeld(user) else { return }
        let isFull = attempts.isFull || !attempts.hasRoom(channel, for: user, at: now)
        // One group shows that the user lacks a slot; there may be as many groups as requests.
        if isFull, admission.channelLacked(by: user) != nil { return }
        guard let (slot, lane) = bestCanary(of: user, in: section, portion: &portion) else { return }
        guard !isFull else { return admission.crowdOut(user, of: channel) }
        if let pause = admission.pause(at: now) { return admission.retry(at: pause) }
        lines.putFirst(slot)
        if needsPreparation(requests[slot]) {
            if gates[group].preparing == 0 { prepareFirst(of: lane, channel) }
            return
        }
        start(lane, channel)
        admission.started(at: now)
    }

    /// The best of the first few: a request that may be repeated does no harm if the path swallows it, and a short one
    /// shows soon whether the path works. A request that may not be repeated is sent only if there is no other.
    private mutating func bestCanary(
        of user: UInt32, in section: SlabIndex<ReadyLines.Section>, portion: inout Int
    ) -> (slot: Slot, lane: LaneIndex)? {
        var best: (slot: Slot, lane: LaneIndex, rank: Int)?
        var (left, tooLong) = (Self.choice.lanes, [(Slot, BodyWait)]())
        for kind in StartKind.all {
            var next = lines.firstLane(of: section, kind)
            while let lane = next, left > 0, portion > 0, best?.rank != 0 {
                next = lines.lane(after: lane)
                guard mayTry(lane, &left, portion: &portion) else { continue }
                var candidate: Slot? = lines.first(of: lane)
                for _ in 0..<Self.choice.requestsOfLane {
                    guard let slot = candidate else { break }
                    candidate = lines.following(slot)
                    if let wait = bodyWait(slot) {
                        tooLong.append((slot, wait))
                        continue
                    }
                    let rank = canaryRank(of: requests[slot])
                    if best.map({ rank < $0.rank }) ?? true { best = (slot, lane, rank) }
                }
            }
        }
        for (slot, wait) in tooLong { holdBack(slot, wait) }
        return best.map { ($0.slot, $0.lane) }
    }

    private func canaryRank(of entry: QueueEntry) -> Int {
        (needsPreparation(entry) ? 4 : 0) + (entry.flags.contains(.repeatable) ? 0 : 2)
            + (entry.bytes <= policy.canaries.smallBytes ? 0 : 1)
    }

    /// Whether a canary to the lane's destination may start now. A destination that bears no request is taken out of
    /// the line; one that was tried already waits for longer than another.
    ///
    /// - Parameter left: How many lanes the choice may still look at. Those that are taken out do not count, or a
    ///   hundred of them would hide the next one until something else happens.
    private mutating func mayTry(_ index: LaneIndex, _ left: inout Int, portion: inout Int) -> Bool {
        let lane = lines[index]
        let lastStart = destinations[lane.destination].lastStart
        if let next = gates[lane.group].gate.canaries[lane.owner]?.next(lastStart: lastStart), next > now {
            admission.retry(at: next)
            left -= 1
            return false
        }
        let block = block(of: lane.destination, group: lane.group, isRetry: lane.kind.isRetry)
        guard block != nil || !admission.isRegistered(gates[lane.group].key.interceptor) else {
            left -= 1
            return true
        }
        if let until = block?.until { destinations.setTimer(lane.destination, noLaterThan: until) }
        portion -= 1
        lines.stall(index)
        return false
    }

    // MARK: What a canary shows

    mutating func canaryFailed(_ index: Int) {
        guard attempts[index].isTrial else { return }
        attempts[index].isTrial = false
        gates.canaryFailed(
            of: attempts[index].owner, in: requests[attempts[index].slot].group,
            by: attempts[index].path.interfaceIndex, at: now, using: &turn.random)
    }

    mutating func canaryWithdrawn(_ attempt: RunningAttempt) {
        gates.canaryWithdrawn(
            of: attempt.owner, in: requests[attempt.slot].group, by: attempt.path.interfaceIndex)
    }
}
