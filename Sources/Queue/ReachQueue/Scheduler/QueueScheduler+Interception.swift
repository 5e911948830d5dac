internal import ReachCore

/// Interceptors: a request that has one is prepared before each attempt, and the answer may be judged after it.
///
/// Both happen without a lease and without a slot. An interceptor may wait for a token that another request of this queue
/// fetches, with one slot in all.
extension QueueScheduler {
    mutating func setInterceptors(_ names: Set<String>) {
        interceptors = names
        // Rare: a program registers its interceptors at its start.
        lines.resumeAll()
    }

    // MARK: Before an attempt

    /// Whether the request has to be prepared before it can start.
    func needsPreparation(_ slot: Int32) -> Bool { needsPreparation(entries[Int(slot)]) }

    private func needsPreparation(_ entry: QueueEntry) -> Bool {
        guard groups[Int(entry.group)].key.interceptor != nil else { return false }
        return !entry.flags.contains(.prepared) || now - entry.since >= policy.preparationLifetime
    }

    /// Whether the first request of the lane is prepared, or can be now. Otherwise the lane waits until an interceptor is
    /// registered, or has prepared others.
    mutating func mayPrepareFirst(of lane: Int32) -> Bool {
        guard needsPreparation(lines.firstEntry(of: lane)) else { return true }
        let (group, destination) = (Int(lines.lanes[Int(lane)].group), lines.lanes[Int(lane)].destination)
        guard let name = groups[group].key.interceptor, interceptors.contains(name) else { return false }
        if hasRoomToPrepare(Int32(group)) { return true }
        awaitingPreparation.insert(destination)
        return false
    }

    /// As many as could start are prepared at most: others would be prepared too early.
    private func hasRoomToPrepare(_ group: Int32) -> Bool {
        groups[Int(group)].preparing < max(1, policy.globalLimit - running.count)
    }

    mutating func prepareFirst(of lane: Int32, _ channel: Int32) {
        let slot = lines.firstEntry(of: lane)
        lines.turnOver(lane, channel: channel)
        unplace(slot)
        entries[Int(slot)].place = .preparing
        entries[Int(slot)].since = now
        groups[Int(entries[Int(slot)].group)].preparing += 1
        turn.actions.append(.prepare(entries[Int(slot)].id))
    }

    mutating func prepared(_ id: RequestID, _ isReady: Bool) {
        guard let slot = slots[id], entries[Int(slot)].place == .preparing else { return }
        leavePreparation(slot)
        guard isReady else { return finish(slot, .dead(.authentication)) }
        entries[Int(slot)].flags.insert(.prepared)
        place(slot)
    }

    private mutating func leavePreparation(_ slot: Int32) {
        entries[Int(slot)].place = .parked
        let group = Int(entries[Int(slot)].group)
        groups[group].preparing -= 1
        resumePreparation()
    }

    /// There is room to prepare more requests, since a preparation or an attempt has ended.
    mutating func resumePreparation() {
        for destination in awaitingPreparation { lines.resume(destination: destination) }
        awaitingPreparation = []
    }

    // MARK: After an attempt

    mutating func answerHeld(_ id: RequestID) {
        guard let index = place(of: id), running[index].phase == .sending else { return }
        answered(index)
        let attempt = remove(index)
        judged[attempt.slot] = attempt
        entries[Int(attempt.slot)].place = .judged
        entries[Int(attempt.slot)].since = now
    }

    mutating func judged(_ id: RequestID, _ verdict: InterceptorVerdict) {
        guard let slot = slots[id], let attempt = judged.removeValue(forKey: slot) else { return }
        entries[Int(slot)].place = .parked
        switch verdict {
        case .stands(let end):
            regain(attempt)
            attemptEnded(id, end)
        case .again(let wait):
            answered(attempt)
            entries[Int(slot)].startClass = .fresh
            entries[Int(slot)].flags.remove(.networkFailure)
            entries[Int(slot)].notBefore = now + wait
            var event = event(.retrying, slot, reason: "interceptor")
            if wait > .zero { event.notBefore = moment(of: now + wait).wall }
            publish(event)
            place(slot)
            turn.changes.append(.update(progress(slot)))
        case .refused(let result):
            answered(attempt)
            finish(slot, .dead(.authentication), result)
        }
    }

    /// The destination answered, which may make room there; the attempt's own slot has been free since the answer came.
    private mutating func answered(_ attempt: RunningAttempt) {
        let destination = entries[Int(attempt.slot)].destination
        destinationAnswered(destination, by: attempt.path.interface, isSuccess: false)
        lines.resume(destination: destination)
    }

    /// Counts the attempt again, until its end is judged in this turn or, after a check of the path, in a later one.
    private mutating func regain(_ ended: RunningAttempt) {
        var attempt = ended
        attempt.channel = channelNumber(attempt.path)
        let entry = entries[Int(attempt.slot)]
        channels[Int(attempt.channel)].running += 1
        destinations[Int(entry.destination)].running += 1
        sites[Int(destinations[Int(entry.destination)].site)].running += 1
        shares[entry.owner, default: OwnerShare()].running += 1
        entries[Int(attempt.slot)].place = .running
        running.append(attempt)
    }

    // MARK: Both

    /// The request is held, cancelled or over while its interceptor has it.
    mutating func abandonInterception(_ slot: Int32) {
        turn.actions.append(.abandon(entries[Int(slot)].id))
        if entries[Int(slot)].place == .preparing { leavePreparation(slot) }
        judged[slot] = nil
        entries[Int(slot)].place = .parked
    }

    func interceptionBlock(of entry: QueueEntry) -> Block? {
        guard let name = groups[Int(entry.group)].key.interceptor else { return nil }
        let isAtWork = entry.place == .preparing || entry.place == .judged
        let isBehindOthers = entry.place == .ready && needsPreparation(entry) && !hasRoomToPrepare(entry.group)
        guard isAtWork || isBehindOthers || !interceptors.contains(name) else { return nil }
        return Block(blocker: .interceptor, since: entry.since)
    }
}
