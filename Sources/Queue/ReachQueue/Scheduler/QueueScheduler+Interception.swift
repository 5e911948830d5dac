internal import ReachCore

/// Interceptors: a request that has one is prepared before each attempt, and the answer may be judged after it.
///
/// Both happen without a lease and without a slot. An interceptor may wait for a token that another request of this
/// queue fetches, with one slot in all.
extension QueueScheduler {
    mutating func setInterceptors(_ names: Set<String>) {
        admission.setInterceptors(names)
        // Rare: a program registers its interceptors at its start.
        lines.resumeAll()
    }

    // MARK: Before an attempt

    /// Whether the request has to be prepared before it can start.
    func needsPreparation(_ entry: QueueEntry) -> Bool {
        guard gates[entry.group].key.interceptor != nil else { return false }
        return !entry.flags.contains(.prepared) || now - entry.since >= policy.preparationLifetime
    }

    /// Whether the first request of the lane is prepared, or can be now. Otherwise the lane waits until an interceptor
    /// is registered, or has prepared others.
    mutating func mayPrepareFirst(of index: LaneIndex) -> Bool {
        guard needsPreparation(requests[lines.first(of: index)]) else { return true }
        let lane = lines[index]
        guard admission.isRegistered(gates[lane.group].key.interceptor) else { return false }
        if hasRoomToPrepare(lane.group) { return true }
        admission.awaitPreparation(at: lane.destination)
        return false
    }

    /// As many as could start are prepared at most: others would be prepared too early.
    private func hasRoomToPrepare(_ group: GroupIndex) -> Bool {
        gates[group].preparing < max(1, attempts.room)
    }

    mutating func prepareFirst(of lane: LaneIndex, _ channel: ChannelIndex) {
        let slot = lines.first(of: lane)
        lines.rotate(lane, channel: channel)
        unplace(slot)
        requests[slot].place = .preparing
        requests[slot].since = now
        gates.prepare(1, in: requests[slot].group)
        turn.actions.append(.prepare(requests[slot].id))
    }

    mutating func prepared(_ id: RequestID, _ isReady: Bool) {
        guard let slot = requests[id], requests[slot].place == .preparing else { return }
        leavePreparation(slot)
        guard isReady else { return finish(slot, .dead(.authentication)) }
        requests[slot].flags.insert(.prepared)
        place(slot)
    }

    private mutating func leavePreparation(_ slot: Slot) {
        requests[slot].place = .parked
        gates.prepare(-1, in: requests[slot].group)
        resumePreparation()
    }

    /// There is room to prepare more requests, since a preparation or an attempt has ended.
    mutating func resumePreparation() {
        for destination in admission.endAwaiting() { lines.resume(destination: destination) }
    }

    // MARK: After an attempt

    /// Keeps an attempt that has ended until its interceptor has judged it.
    mutating func hold(_ id: RequestID, isAnswered: Bool) {
        guard let index = attempts.index(of: id), attempts[index].phase == .sending else { return }
        if isAnswered { answered(index) }
        var attempt = remove(index)
        attempt.isAnswered = isAnswered
        attempts.setJudged(attempt)
        requests[attempt.slot].place = .judged
        requests[attempt.slot].since = now
    }

    mutating func judged(_ id: RequestID, _ verdict: InterceptorVerdict) {
        guard let slot = requests[id], let attempt = attempts.endJudgement(slot) else { return }
        requests[slot].place = .parked
        switch verdict {
        case .stands(let end):
            attempts.regain(attempt)
            destinations.regain(requests[slot].destination)
            requests[slot].place = .running
            attemptEnded(id, end)
        case .again(let wait):
            answered(attempt)
            requests[slot].startClass = .fresh
            requests[slot].flags.remove(.networkFailure)
            requests[slot].notBefore = now + wait
            var event = event(.retrying, slot, reason: "interceptor")
            if wait > .zero { event.notBefore = moment.at(now + wait).wall }
            publish(event)
            place(slot)
            turn.changes.append(.update(progress(slot)))
        case .refused(let result):
            answered(attempt)
            finish(slot, .dead(.authentication), result)
        }
    }

    /// An answer of the destination may make room there; the attempt's own slot has been free since the answer came.
    private mutating func answered(_ attempt: RunningAttempt) {
        let destination = requests[attempt.slot].destination
        if attempt.isAnswered { destinationAnswered(destination, by: attempt.path.interface, isSuccess: false) }
        lines.resume(destination: destination)
    }

    // MARK: Both

    /// The request is held, cancelled or over while its interceptor has it.
    mutating func abandonInterception(_ slot: Slot) {
        turn.actions.append(.abandon(requests[slot].id))
        if requests[slot].place == .preparing { leavePreparation(slot) }
        _ = attempts.endJudgement(slot)
        requests[slot].place = .parked
    }

    func interceptionBlock(of entry: QueueEntry) -> Block? {
        guard let name = gates[entry.group].key.interceptor else { return nil }
        let isAtWork = entry.place == .preparing || entry.place == .judged
        let isBehindOthers = entry.place == .ready && needsPreparation(entry) && !hasRoomToPrepare(entry.group)
        guard isAtWork || isBehindOthers || !admission.isRegistered(name) else { return nil }
        return Block(blocker: .interceptor, since: entry.since)
    }
}
