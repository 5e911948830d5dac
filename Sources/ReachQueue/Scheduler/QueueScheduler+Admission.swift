internal import ReachCore

/// What starts now: as much as the limits allow, in fair turns.
extension QueueScheduler {
    /// How many requests one turn may touch for what is due, and how many lanes it may take out of line.
    private static let portion = 512

    /// Does what has become due.
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
        let facts = RequestTransition.Facts()
        switch RequestTransition.outcome(of: .expired, in: state(of: slot), facts) {
        case .dies(let reason): finish(slot, .dead(reason))
        default: entries[Int(slot)].flags.insert(.expired)
        }
    }

    // MARK: Starting

    mutating func admit() {
        admitAt = nil
        guard paths != nil, !isDegraded, !isStopped, heldSince == nil else { return }
        var portion = Self.portion
        while running.count < policy.globalLimit {
            let isSpaced = now < spacedUntil
            if isSpaced, nextStart > now, !candidates().isEmpty {
                admitAt = nextStart
                return
            }
            guard let (lane, channel) = nextStart(portion: &portion) else { break }
            start(lane, channel)
            if isSpaced { nextStart = now + policy.startSpacing }
        }
        if portion <= 0 { hasMore = true }
    }

    /// The priorities of which something stands in a line that may move.
    private func candidates() -> PrioritySet {
        var found = PrioritySet()
        for channel in channels.indices where channels[channel].running < channels[channel].limit {
            for kind in StartKind.all where lines.hasCandidates(channel: Int32(channel), kind: kind) {
                found.insert(kind.priority)
            }
        }
        return found
    }

    private func mayMove(_ channel: Int32, _ kind: StartKind) -> Bool {
        channels[Int(channel)].running < channels[Int(channel)].limit
            && lines.hasCandidates(channel: channel, kind: kind)
    }

    /// By smooth weighted turns: a priority's credit grows by its weight in each turn, and the start costs the sum.
    private mutating func nextStart(portion: inout Int) -> (lane: Int32, channel: Int32)? {
        let present = candidates()
        var left = present
        while let chosen = left.first(by: { credits[Int($0.rawValue)] + $0.weight }) {
            left.remove(chosen)
            guard let next = nextLane(chosen, portion: &portion) else { continue }
            present.forEach {
                credits[Int($0.rawValue)] += $0.weight
                credits[Int(chosen.rawValue)] -= $0.weight
            }
            return next
        }
        return nil
    }

    /// One new request, one of the backlog (Postfix); of the latter one retry, one that was never tried.
    private mutating func nextLane(_ priority: RequestPriority, portion: inout Int) -> (lane: Int32, channel: Int32)? {
        let index = Int(priority.rawValue)
        let old: (StartClass, StartClass) = lastWasRetry[index] ? (.backlog, .retry) : (.retry, .backlog)
        let order: (StartClass, StartClass, StartClass) =
            lastWasFresh[index] ? (old.0, old.1, .fresh) : (.fresh, old.0, old.1)
        return nextLane(priority, order.0, portion: &portion) ?? nextLane(priority, order.1, portion: &portion)
            ?? nextLane(priority, order.2, portion: &portion)
    }

    private mutating func nextLane(
        _ priority: RequestPriority, _ startClass: StartClass, portion: inout Int
    ) -> (lane: Int32, channel: Int32)? {
        guard let next = nextLane(StartKind(priority, startClass), portion: &portion) else { return nil }
        let index = Int(priority.rawValue)
        lastWasFresh[index] = startClass == .fresh
        if startClass != .fresh { lastWasRetry[index] = startClass == .retry }
        return next
    }

    private mutating func nextLane(_ kind: StartKind, portion: inout Int) -> (lane: Int32, channel: Int32)? {
        for offset in channels.indices {
            let channel = Int32((firstChannel + offset) % channels.count)
            while portion > 0, mayMove(channel, kind), let lane = lines.nextLane(channel: channel, kind: kind) {
                if mayStart(lane) {
                    firstChannel = (Int(channel) + 1) % channels.count
                    return (lane, channel)
                }
                portion -= 1
                lines.stall(lane)
            }
        }
        return nil
    }

    private mutating func mayStart(_ number: Int32) -> Bool {
        let lane = lines.lanes[Int(number)]
        if !owners.isEmpty, owners[lane.owner]?.heldSince != nil { return false }
        guard let block = block(of: lane.destination, group: lane.group, isRetry: lane.kind.isRetry) else {
            return true
        }
        if let until = block.until { destinationTimers.setNoLater(lane.destination, than: until) }
        return false
    }

    /// Takes the first of the lane, and has its lease written.
    private mutating func start(_ lane: Int32, _ channel: Int32) {
        let slot = lines.firstEntry(of: lane)
        let index = Int(slot)
        lines.turnOver(lane, channel: channel)
        guard entries[index].deadline > now, let path = groups[Int(entries[index].group)].path else {
            return expire(slot)
        }
        guard RequestTransition.outcome(of: .admitted, in: .ready) == .becomes(.running) else { return }
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
        destinations[destination].lastStart = now
        channels[Int(channel)].running += 1
        let attempt = RunningAttempt(
            slot: slot, id: entries[index].id, number: Int(entries[index].tries), path: path, channel: channel,
            epoch: epoch, isCanary: isCanary, phase: .leasing)
        running.append(attempt)
        turn.refusable.append(
            .lease(
                attempt.id, attempt: attempt.number, interface: path.interface,
                isRepeatable: entries[index].flags.contains(.repeatable), at: moment))
        turn.leased.append(Lease(id: attempt.id, attempt: attempt.number))
        if entries[index].flags.contains(.toldWaiting) {
            entries[index].flags.remove(.toldWaiting)
            turn.refusableEvents.append(event(.resumed, slot))
        }
        var started = event(.started, slot)
        started.interface = path.interface
        turn.refusableEvents.append(started)
    }
}
