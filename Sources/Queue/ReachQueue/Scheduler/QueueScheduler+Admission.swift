internal import ReachCore

/// Starts as many requests as the limits allow, in fair turns.
extension QueueScheduler {
    /// The most due requests that one turn handles, and the most lanes that it takes out of line.
    private static let portion = 512

    /// Handles everything that has become due.
    mutating func advance() {
        var portion = Self.portion
        if let end = network.firstLookEnds, end <= now {
            network.giveUpWaiting()
            gates.giveUpWaiting()
        }
        for (id, end) in attempts.lingerEnds where end <= now { lingerEnded(id) }
        for interface in network.evidence.expire(at: now) { judge(interface, works: false) }
        if network.endSilence(at: now) { evaluateAll() }
        purgeOldDead()
        while portion > 0, let slot = deadlines.popExpired(at: now) {
            portion -= 1
            expire(slot)
        }
        lookUpNames(portion: &portion)
        while portion > 0, let group = gates.popDue(at: now) { gateDue(group, portion: &portion) }
        if gates.openCount > 0 {
            while portion > 0, let group = gates.popWithDueWaits(at: now) { waitsDue(in: group, portion: &portion) }
            while portion > 0, let destination = destinations.popDue(at: now, epoch: epoch) {
                portion -= 1
                lines.resume(destination: destination)
            }
        }
        if portion <= 0 { turn.hasMore = true }
    }

    private mutating func waitsDue(in group: GroupIndex, portion: inout Int) {
        while portion > 0, let slot = gates.popDueWait(in: group, at: now) {
            portion -= 1
            requests[slot].place = .parked
            place(slot)
        }
        gates.refreshWaitTimer(group)
    }

    private mutating func expire(_ slot: Slot) {
        // It ends with the request that carries it.
        if joins.carrier(of: slot) != nil { return }
        let attempt = attempts.first(at: slot)
        let facts = attempt.map(facts) ?? RequestTransition.Facts()
        switch RequestTransition.outcome(of: .expired, in: state(of: slot), facts) {
        case .dies(let reason):
            if attempt != nil { abort(slot) }
            finish(slot, .dead(reason))
        default: requests[slot].flags.insert(.expired)
        }
    }

    // MARK: Starts

    mutating func admit() {
        admission.begin()
        guard network.paths != nil, !store.isDegraded, !attempts.isStopped, !owners.holdsAll else { return }
        var portion = Self.portion
        fillSlots(portion: &portion)
        while portion > 0, let index = attemptThatYields(portion: &portion) {
            portion -= 1
            yield(index)
            fillSlots(portion: &portion)
        }
        if portion <= 0 { turn.hasMore = true }
    }

    private mutating func fillSlots(portion: inout Int) {
        startCanaries(portion: &portion)
        while !attempts.isFull {
            if let pause = admission.pause(at: now), lines.users.contains(where: { !candidates(of: $0).isEmpty }) {
                return admission.retry(at: pause)
            }
            guard let (lane, channel) = nextStart(portion: &portion) else { break }
            let slot = lines.first(of: lane)
            if needsPreparation(requests[slot]) {
                prepareFirst(of: lane, channel)
            } else if let wait = bodyWait(slot) {
                portion -= 1
                holdBack(slot, wait)
            } else if start(lane, channel) {
                admission.started(at: now)
            } else {
                portion -= 1
            }
        }
    }

    /// The next start: of the user with the fewest slots, and of users with equally many, the one who was served
    /// longest ago.
    private mutating func nextStart(portion: inout Int) -> (lane: LaneIndex, channel: ChannelIndex)? {
        guard lines.users.count > 1 else {
            guard let user = lines.users.first else { return nil }
            return nextStart(of: user, portion: &portion)
        }
        var left = lines.users.map { ($0, attempts.share(of: $0)) }
        while let next = left.indices.min(by: { left[$0].1.precedes(left[$1].1) }) {
            let (user, _) = left.remove(at: next)
            if let start = nextStart(of: user, portion: &portion) { return start }
        }
        return nil
    }

    /// The priorities of the user's requests that are in lines with a free slot.
    private func candidates(of user: UInt32) -> PrioritySet {
        var found = PrioritySet()
        for channel in attempts.allChannels where attempts.hasRoom(channel, for: user, at: now) {
            lines.addPriorities(of: user, channel: channel, to: &found)
        }
        return found
    }

    private mutating func nextStart(
        of user: UInt32, portion: inout Int
    ) -> (lane: LaneIndex, channel: ChannelIndex)? {
        let present = candidates(of: user)
        guard !present.isEmpty else { return nil }
        var share = attempts.share(of: user)
        defer { attempts.setShare(share, of: user) }
        var left = present
        while let chosen = share.next(of: left) {
            left.remove(chosen)
            let order = share.order(of: chosen)
            for place in order.indices {
                guard let next = nextLane(of: user, StartKind(chosen, order[place]), portion: &portion) else {
                    continue
                }
                share.served(order[place], of: chosen)
                share.pay(chosen, among: present)
                return next
            }
        }
        return nil
    }

    private mutating func nextLane(
        of user: UInt32, _ kind: StartKind, portion: inout Int
    ) -> (lane: LaneIndex, channel: ChannelIndex)? {
        let count = attempts.channelCapacity
        for offset in 0..<count {
            let channel = admission.channel(offset, of: count)
            guard attempts.hasRoom(channel, for: user, at: now),
                let lane = startableLane(of: user, channel, kind, portion: &portion)
            else { continue }
            admission.served(channel, of: count)
            return (lane, channel)
        }
        return nil
    }

    /// The first lane that may start; blocked lanes before it are taken out of the line.
    private mutating func startableLane(
        of user: UInt32, _ channel: ChannelIndex, _ kind: StartKind, portion: inout Int
    ) -> LaneIndex? {
        while portion > 0, let lane = lines.nextLane(of: user, channel: channel, kind: kind) {
            if mayStart(lane) { return lane }
            portion -= 1
            lines.stall(lane)
        }
        return nil
    }

    private mutating func mayStart(_ index: LaneIndex) -> Bool {
        let lane = lines[index]
        if owners.isHeld(lane.owner) { return false }
        if let time = gates.urgentWait(of: lane.owner, in: lane.group, at: now) {
            destinations.setTimer(lane.destination, noLaterThan: time)
            return false
        }
        if gates[lane.group].key.interceptor != nil, !mayPrepareFirst(of: index) { return false }
        guard let block = block(of: lane.destination, group: lane.group, isRetry: lane.kind.isRetry) else {
            return true
        }
        if let until = block.until { destinations.setTimer(lane.destination, noLaterThan: until) }
        return false
    }

    /// Starts the first request of the lane, beginning with the write of its lease.
    ///
    /// - Returns: Whether it started; otherwise it was too late for it.
    @discardableResult
    mutating func start(_ lane: LaneIndex, _ channel: ChannelIndex) -> Bool {
        let slot = lines.first(of: lane)
        let (group, owner, destination) = (requests[slot].group, requests[slot].owner, requests[slot].destination)
        lines.rotate(lane, channel: channel)
        guard requests[slot].deadline > now, let path = gates[group].path else {
            expire(slot)
            return false
        }
        guard RequestTransition.outcome(of: .admitted, in: .ready) == .becomes(.running) else { return false }
        unplace(slot)
        requests[slot].place = .running
        requests[slot].since = now
        requests[slot].tries += 1
        let isCanary = destinations.start(destination, resume: gates[group].generation, at: now)
        let attempt = RunningAttempt(
            slot: slot, owner: owner, id: requests[slot].id, number: Int(requests[slot].tries), path: path,
            channel: channel, epoch: epoch, isCanary: isCanary, isTrial: gates[group].gate.isUnproved, phase: .leasing)
        attempts.begin(attempt)
        if attempt.isTrial {
            gates.canaryStarted(of: owner, in: group, by: path.interfaceIndex, at: now, using: &turn.random)
        }
        network.endHoldingBack(slot)
        beginCharge(attempt)
        gather(slot)
        turn.refusable.append(
            .lease(
                attempt.id, attempt: attempt.number, interface: path.interface,
                isRepeatable: requests[slot].flags.contains(.repeatable), at: moment))
        turn.leased.append(Lease(id: attempt.id, attempt: attempt.number))
        if requests[slot].flags.contains(.reportedWaiting) {
            requests[slot].flags.remove(.reportedWaiting)
            turn.refusableEvents.append(event(.resumed, slot))
        }
        var started = event(.started, slot)
        started.interface = path.interface
        turn.refusableEvents.append(started)
        return true
    }

    // MARK: Bodies that are too large for the path

    /// Why a request waits whose path has not enough time, or not enough of a budget, for its body.
    struct BodyWait {
        let until: BootTime
        let flag: QueueEntry.Flags
    }

    /// The wait of a request whose body would not be finished before the path goes, or is larger than what is left of a
    /// budget; `nil` if it may start.
    func bodyWait(_ slot: Slot) -> BodyWait? {
        if let until = meteredWait(slot) { return BodyWait(until: until, flag: .awaitsBudget) }
        return network.windowWait(slot, requests[slot], by: gates[requests[slot].group].path, at: now)
            .map { BodyWait(until: $0, flag: .awaitsWindow) }
    }

    mutating func holdBack(_ slot: Slot, _ wait: BodyWait) {
        if wait.flag == .awaitsBudget || network.holdBack(slot, at: now) { turn.asked.append(slot) }
        requests[slot].notBefore = wait.until
        requests[slot].flags.insert(wait.flag)
        place(slot)
    }

    // MARK: Slots of other users

    private struct FullScope {
        /// The channel whose slots are all taken; `nil` if all of the queue's are.
        let channel: ChannelIndex?
    }

    /// The attempt that makes room now for a user who waited long enough. While there are enough slots, each user takes
    /// as many as needed. When they run short, the next one goes to the user with the fewest; and a user who still gets
    /// none because others keep theirs is given one of those: no user has to wait for a slow server of another.
    ///
    /// - Parameter portion: The number of lanes that may be taken out of line.
    private mutating func attemptThatYields(portion: inout Int) -> Int? {
        // Mostly there is one user.
        guard !attempts.isEmpty,
            attempts.users.count > 1 || lines.users.contains(where: { !attempts.users.contains($0) })
        else { return nil }
        let users = Set(attempts.users).union(lines.users)
        var due: (index: Int, at: BootTime)?
        for user in users {
            let scope = fullScope(for: user, portion: &portion)
            guard let since = attempts.setStarved(scope != nil, user, at: now), let scope,
                let next = nextToYield(to: user, waitingSince: since, in: scope.channel)
            else { continue }
            if due.map({ next.at < $0.at }) ?? true { due = next }
        }
        guard let due else { return nil }
        if due.at <= now { return due.index }
        admission.retry(at: due.at)
        return nil
    }

    /// Where the user could start a request but for a slot.
    private mutating func fullScope(for user: UInt32, portion: inout Int) -> FullScope? {
        if let channel = admission.channelLacked(by: user) {
            return FullScope(channel: attempts.isFull(channel) ? channel : nil)
        }
        for channel in attempts.allChannels where attempts.isFull || attempts.isFull(channel) {
            for kind in StartKind.all {
                guard startableLane(of: user, channel, kind, portion: &portion) != nil else { continue }
                return FullScope(channel: attempts.isFull(channel) ? channel : nil)
            }
        }
        return nil
    }

    /// An attempt of a user who has at least two slots more, so that afterwards shares differ less; of the user who has
    /// most, the least urgent, and of those the youngest, which loses least. A user without any slot gets in the end
    /// also the only one of another.
    private func nextToYield(
        to user: UInt32, waitingSince since: BootTime, in channel: ChannelIndex?
    ) -> (index: Int, at: BootTime)? {
        let counts = attempts.counts(in: channel)
        let ofUser = counts[user] ?? 0
        var best: (index: Int, at: BootTime, rank: (Int, UInt8, Int64))?
        for index in attempts.indices where channel == nil || attempts[index].channel == channel {
            let attempt = attempts[index]
            let (entry, count) = (requests[attempt.slot], counts[attempt.owner] ?? 0)
            guard attempt.owner != user, count >= ofUser + 2 || ofUser == 0, mayYield(attempt) else { continue }
            let grace = since + policy.shares.grace
            let time = count >= ofUser + 2 ? grace : max(grace, entry.since + policy.shares.slice)
            let rank = (count, entry.priority.rawValue, entry.since.nanoseconds)
            if let best, best.at < time || (best.at == time && best.rank >= rank) { continue }
            best = (index, time, rank)
        }
        return best.map { ($0.index, $0.at) }
    }

    /// Whether it is being sent, and may be sent again.
    private func mayYield(_ attempt: RunningAttempt) -> Bool {
        guard attempt.phase == .sending, attempt.lingerUntil == nil else { return false }
        return RequestTransition.outcome(of: .failedUncounted, in: .running, facts(attempt)) == .derived
    }

    /// Ends an attempt for another user's request. It counts as no failure, and its request moves to the end of its
    /// line.
    private mutating func yield(_ index: Int) {
        let attempt = remove(index)
        requests[attempt.slot].startClass = .backlog
        turn.actions.append(.abort(attempt.id))
        var event = event(.interrupted, attempt.slot, reason: "share")
        event.interface = attempt.path.interface
        publish(event)
        place(attempt.slot)
        turn.changes.append(.update(progress(attempt.slot)))
        attempts.keepLastSlot(until: now + policy.shares.memory)
    }
}
