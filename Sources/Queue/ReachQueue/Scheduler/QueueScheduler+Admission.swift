internal import ReachCore

/// Starts as many requests as the limits allow, in fair turns.
extension QueueScheduler {
    /// The most due requests that one turn handles, and the most lanes that it takes out of line.
    private static let portion = 512

    /// Handles everything that has become due.
    mutating func advance() {
        var portion = Self.portion
        if paths == nil, !hasGivenUpWaiting, now >= started + policy.firstLook { giveUpWaiting() }
        for id in lingeredTooLong { lingerEnded(id) }
        for interface in evidence.expire(at: now) { judge(interface, works: false) }
        purgeOldDead()
        while portion > 0, let slot = deadlines.popDue(at: now) {
            portion -= 1
            expire(slot)
        }
        lookUpNames(portion: &portion)
        while portion > 0, let group = gateTimers.popDue(at: now) { gateDue(group, portion: &portion) }
        if openGroups > 0 {
            while portion > 0, let group = groupTimers.popDue(at: now) { waitsDue(in: group, portion: &portion) }
            while portion > 0, let destination = destinationTimers.popDue(at: now) {
                portion -= 1
                destinationDue(destination)
            }
        }
        if portion <= 0 { hasMore = true }
    }

    private var lingeredTooLong: [RequestID] {
        var ids: [RequestID] = []
        for index in running.indices {
            if let end = running[index].lingerUntil, end <= now { ids.append(running[index].id) }
        }
        return ids
    }

    private mutating func giveUpWaiting() {
        hasGivenUpWaiting = true
        for group in groupNumbers.values { groups[Int(group)].gate.giveUpWaiting() }
    }

    private mutating func waitsDue(in group: Int32, portion: inout Int) {
        let index = Int(group)
        while portion > 0,
            let slot = groups[index].networkWaits.popDue(at: now) ?? groups[index].destinationWaits.popDue(at: now)
        {
            portion -= 1
            entries[Int(slot)].place = .parked
            place(slot)
        }
        refreshGroupTimer(group)
    }

    private mutating func expire(_ slot: Int32) {
        let attempt = running.first { $0.slot == slot }
        let facts = attempt.map(facts) ?? RequestTransition.Facts()
        switch RequestTransition.outcome(of: .expired, in: state(of: slot), facts) {
        case .dies(let reason):
            if attempt != nil { abort(slot) }
            finish(slot, .dead(reason))
        default: entries[Int(slot)].flags.insert(.expired)
        }
    }

    // MARK: Starting

    mutating func admit() {
        admitAt = nil
        canaryAt = nil
        yieldAt = nil
        guard paths != nil, !isDegraded, !isStopped, heldSince == nil, fleetHold == nil else { return }
        var portion = Self.portion
        fillSlots(portion: &portion)
        while portion > 0, let index = attemptThatYields(portion: &portion) {
            portion -= 1
            yield(index)
            fillSlots(portion: &portion)
        }
        if portion <= 0 { hasMore = true }
    }

    private mutating func fillSlots(portion: inout Int) {
        startCanaries(portion: &portion)
        while running.count < policy.globalLimit {
            let isSpaced = now < spacedUntil
            if isSpaced, nextStart > now, lines.users.contains(where: { !candidates(of: $0).isEmpty }) {
                admitAt = nextStart
                return
            }
            guard let (lane, channel) = nextStart(portion: &portion) else { break }
            if needsPreparation(lines.firstEntry(of: lane)) {
                prepareFirst(of: lane, channel)
                continue
            }
            if let until = windowWait(lines.firstEntry(of: lane)) {
                portion -= 1
                holdBack(lines.firstEntry(of: lane), until: until)
                continue
            }
            guard start(lane, channel) else {
                portion -= 1
                continue
            }
            if isSpaced { nextStart = now + policy.startSpacing }
        }
    }

    /// The next start: of the user with the fewest slots, and of users with equally many, the one who was served longest ago.
    private mutating func nextStart(portion: inout Int) -> (lane: Int32, channel: Int32)? {
        guard lines.users.count > 1 else {
            guard let user = lines.users.first else { return nil }
            return nextStart(of: user, portion: &portion)
        }
        var left = lines.users.map { ($0, shares[$0] ?? OwnerShare()) }
        while let next = left.indices.min(by: { left[$0].1.precedes(left[$1].1) }) {
            let (user, _) = left.remove(at: next)
            if let start = nextStart(of: user, portion: &portion) { return start }
        }
        return nil
    }

    /// The priorities of the user's requests that stand in lines with a free slot.
    private func candidates(of user: UInt32) -> PrioritySet {
        var found = PrioritySet()
        for channel in channels.indices where hasRoom(Int32(channel), for: user) {
            lines.addPriorities(of: user, channel: Int32(channel), to: &found)
        }
        return found
    }

    /// The user's next start, by smooth weighted turns: with each start every present priority's credit grows by its weight, and the
    /// chosen priority pays the sum of the weights.
    private mutating func nextStart(of user: UInt32, portion: inout Int) -> (lane: Int32, channel: Int32)? {
        let present = candidates(of: user)
        guard !present.isEmpty else { return nil }
        var share = shares[user] ?? OwnerShare()
        defer { shares[user] = share }
        var left = present
        while let chosen = left.first(by: { share.credits[Int($0.rawValue)] + $0.weight }) {
            left.remove(chosen)
            guard let next = nextLane(of: user, chosen, &share, portion: &portion) else { continue }
            present.forEach {
                share.credits[Int($0.rawValue)] += $0.weight
                share.credits[Int(chosen.rawValue)] -= $0.weight
            }
            return next
        }
        return nil
    }

    /// The next lane of a priority. New requests and the backlog take turns (as in Postfix), and within the backlog retries and requests
    /// that were never tried.
    private mutating func nextLane(
        of user: UInt32, _ priority: RequestPriority, _ share: inout OwnerShare, portion: inout Int
    ) -> (lane: Int32, channel: Int32)? {
        let index = Int(priority.rawValue)
        let old: (StartClass, StartClass) = share.lastWasRetry[index] ? (.backlog, .retry) : (.retry, .backlog)
        let order: InlineArray<3, StartClass> =
            share.lastWasFresh[index] ? [old.0, old.1, .fresh] : [.fresh, old.0, old.1]
        for place in order.indices {
            let startClass = order[place]
            guard let next = nextLane(of: user, StartKind(priority, startClass), portion: &portion) else { continue }
            share.lastWasFresh[index] = startClass == .fresh
            if startClass != .fresh { share.lastWasRetry[index] = startClass == .retry }
            return next
        }
        return nil
    }

    private mutating func nextLane(
        of user: UInt32, _ kind: StartKind, portion: inout Int
    ) -> (lane: Int32, channel: Int32)? {
        for offset in channels.indices {
            let channel = Int32((firstChannel + offset) % channels.count)
            guard hasRoom(channel, for: user) else { continue }
            if let lane = startableLane(of: user, channel, kind, portion: &portion) {
                firstChannel = (Int(channel) + 1) % channels.count
                return (lane, channel)
            }
        }
        return nil
    }

    /// The first lane that may start; blocked lanes before it are taken out of the line.
    mutating func startableLane(
        of user: UInt32, _ channel: Int32, _ kind: StartKind, portion: inout Int
    ) -> Int32? {
        while portion > 0, let lane = lines.nextLane(of: user, channel: channel, kind: kind) {
            if mayStart(lane) { return lane }
            portion -= 1
            lines.stall(lane)
        }
        return nil
    }

    private mutating func mayStart(_ number: Int32) -> Bool {
        let lane = lines.lanes[Int(number)]
        if !owners.isEmpty, owners[lane.owner]?.heldSince != nil { return false }
        if let time = urgentCanaryWait(of: lane.owner, in: lane.group) {
            destinationTimers.setNoLater(lane.destination, than: time)
            return false
        }
        if groups[Int(lane.group)].key.interceptor != nil, !mayPrepareFirst(of: number) { return false }
        guard let block = block(of: lane.destination, group: lane.group, isRetry: lane.kind.isRetry) else {
            return true
        }
        if let until = block.until { destinationTimers.setNoLater(lane.destination, than: until) }
        return false
    }

    /// Starts the first request of the lane, beginning with the write of its lease.
    ///
    /// - Returns: Whether it started; otherwise it was too late for it.
    @discardableResult
    mutating func start(_ lane: Int32, _ channel: Int32) -> Bool {
        let slot = lines.firstEntry(of: lane)
        let index = Int(slot)
        lines.turnOver(lane, channel: channel)
        guard entries[index].deadline > now, let path = groups[Int(entries[index].group)].path else {
            expire(slot)
            return false
        }
        guard RequestTransition.outcome(of: .admitted, in: .ready) == .becomes(.running) else { return false }
        unplace(slot)
        let destination = Int(entries[index].destination)
        let resume = groups[Int(entries[index].group)].generation
        if destinations[destination].generation < resume {
            destinations[destination].generation = resume
            destinations[destination].limit = 1
        }
        let isCanary = destinations[destination].limit == 1 && policy.destinationLimit > 1
        entries[index].place = .running
        entries[index].since = now
        entries[index].tries += 1
        destinations[destination].running += 1
        sites[Int(destinations[destination].site)].running += 1
        starts += 1
        shares[entries[index].owner, default: OwnerShare()].running += 1
        shares[entries[index].owner]?.lastStart = starts
        destinations[destination].lastStart = now
        channels[Int(channel)].running += 1
        let isTrial = groups[Int(entries[index].group)].gate.isUnproved
        let attempt = RunningAttempt(
            slot: slot, id: entries[index].id, number: Int(entries[index].tries), path: path, channel: channel,
            epoch: epoch, isCanary: isCanary, isTrial: isTrial, phase: .leasing)
        running.append(attempt)
        if isTrial { canaryStarted(attempt) }
        heldBack[slot] = nil
        turn.refusable.append(
            .lease(
                attempt.id, attempt: attempt.number, interface: path.interface,
                isRepeatable: entries[index].flags.contains(.repeatable), at: moment))
        turn.leased.append(Lease(id: attempt.id, attempt: attempt.number))
        if entries[index].flags.contains(.reportedWaiting) {
            entries[index].flags.remove(.reportedWaiting)
            turn.refusableEvents.append(event(.resumed, slot))
        }
        var started = event(.started, slot)
        started.interface = path.interface
        turn.refusableEvents.append(started)
        return true
    }
}
