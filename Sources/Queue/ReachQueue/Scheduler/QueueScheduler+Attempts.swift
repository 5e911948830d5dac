internal import ReachCore

/// Attempts: how they begin, how they outlive their path for a moment, and what their end means.
extension QueueScheduler {
    func place(of id: RequestID) -> Int? {
        for index in running.indices where running[index].id == id { return index }
        return nil
    }

    /// The attempt is over; its room is free.
    mutating func remove(_ index: Int) -> RunningAttempt {
        let attempt = running.remove(at: index)
        entries[Int(attempt.slot)].waitsSince = now
        let entry = entries[Int(attempt.slot)]
        channels[Int(attempt.channel)].running -= 1
        freeChannelIfUnused(attempt.channel)
        shares[entry.owner]?.running -= 1
        if attempt.isTrial { canaryWithdrawn(attempt) }
        leaveSlot(at: entry.destination)
        resumePreparation()
        return attempt
    }

    func facts(_ attempt: RunningAttempt) -> RequestTransition.Facts {
        let flags = entries[Int(attempt.slot)].flags
        return RequestTransition.Facts(
            isNetworkFailure: flags.contains(.networkFailure),
            isRepeatable: flags.contains(.repeatable) || !attempt.isSent, isExpired: flags.contains(.expired))
    }

    // MARK: The lease

    mutating func leaseCommitted(_ lease: Lease) {
        guard let index = place(of: lease) else { return }
        // The path went while the lease was written: nothing was sent yet.
        if running[index].lingerUntil != nil { return interrupt(index) }
        running[index].phase = .sending
        let attempt = running[index]
        let entry = entries[Int(attempt.slot)]
        turn.actions.append(
            .start(
                AttemptOrder(
                    id: attempt.id, number: attempt.number,
                    destination: destinations[Int(entry.destination)].destination,
                    path: attempt.path, condition: groups[Int(entry.group)].key.condition,
                    isRevealing: groups[Int(entry.group)].key.isRevealing, isCanary: attempt.isTrial)))
    }

    mutating func leaseRefused(_ lease: Lease) {
        guard let index = place(of: lease) else { return }
        let attempt = remove(index)
        entries[Int(attempt.slot)].tries -= 1
        place(attempt.slot)
    }

    /// `nil` if the attempt was ended while its lease was being written.
    private func place(of lease: Lease) -> Int? {
        guard let index = place(of: lease.id), running[index].number == lease.attempt, running[index].phase == .leasing
        else { return nil }
        return index
    }

    mutating func markSent(_ id: RequestID) {
        if let index = place(of: id) { running[index].isSent = true }
    }

    // MARK: Ends that the queue makes

    /// Ends a running attempt of a request that is finished otherwise.
    mutating func abort(_ slot: Int32) {
        guard let index = running.firstIndex(where: { $0.slot == slot }) else { return }
        let attempt = remove(index)
        entries[Int(slot)].place = .parked
        if attempt.phase == .sending { turn.actions.append(.abort(attempt.id)) }
    }

    /// Ends an attempt without counting it: the network took its path away, or the run ends.
    ///
    /// - Parameter reason: `nil` for what the path lacks.
    private mutating func interrupt(_ index: Int, reason: String? = nil) {
        let outcome = RequestTransition.outcome(of: .lingerEnded, in: .lingering, facts(running[index]))
        let attempt = remove(index)
        let slot = attempt.slot
        entries[Int(slot)].place = .parked
        if attempt.phase == .sending { turn.actions.append(.abort(attempt.id)) }
        if case .dies(let reason) = outcome { return finish(slot, .dead(reason)) }
        entries[Int(slot)].startClass = .backlog
        if reason == nil { pathCutOff(attempt) }
        var event = event(.interrupted, slot, reason: reason ?? attempt.lacking.words.first ?? "no-path")
        event.interface = attempt.path.interface
        publish(event)
        place(slot)
        turn.changes.append(.update(progress(slot)))
        turn.asked.append(slot)
    }

    mutating func lingerEnded(_ id: RequestID) {
        guard let index = place(of: id) else { return }
        // What is being judged has failed already, and its path is gone.
        if running[index].phase == .judging { return failed(index, .network) }
        interrupt(index)
    }

    /// A user holds a running request.
    ///
    /// - Returns: `false` if the attempt is let finish, since it could not be repeated.
    mutating func suspend(_ slot: Int32) -> Bool {
        guard let index = running.firstIndex(where: { $0.slot == slot }) else { return true }
        let state: QueuedRequestState = running[index].lingerUntil == nil ? .running : .lingering
        guard RequestTransition.outcome(of: .held, in: state, facts(running[index])) == .becomes(.held) else {
            return false
        }
        abort(slot)
        entries[Int(slot)].startClass = .backlog
        return true
    }

    /// The run ends: it gives back what is leased, so that the next run need not guess what became of it.
    mutating func stop() {
        isStopped = true
        while !running.isEmpty { interrupt(running.count - 1, reason: "restart") }
        for slot in judged.keys.sorted() {
            place(slot)
            turn.changes.append(.update(progress(slot)))
        }
    }

    // MARK: The path of a running attempt

    /// Looks whether an attempt may stay on its path.
    mutating func evaluateAttempt(_ id: RequestID) {
        guard let paths, let index = place(of: id) else { return }
        let attempt = running[index]
        let entry = entries[Int(attempt.slot)]
        let group = groups[Int(entry.group)]
        var lacking: Blocker = []
        if let path = attempt.path(in: pathsInReach(of: group, paths, isBegun: attempt.phase != .leasing)) {
            lacking = Blocker(group.key.condition.unmet(on: path))
            // The path still works: what it lacks is only that nothing new would go by it.
            if !entry.flags.contains(.strict) { lacking.remove(.family) }
        } else {
            lacking = Blocker(group.key.condition.unmetWithoutPath)
        }
        if lacking.isEmpty {
            running[index].lingerUntil = nil
        } else if running[index].lingerUntil == nil {
            running[index].lacking = lacking
            running[index].lingerUntil = now + policy.linger
            if attempt.phase == .judging { failed(index, .network) }
        }
    }

    // MARK: Ends that the executor reports

    mutating func attemptEnded(_ id: RequestID, _ end: AttemptEnd) {
        guard let index = place(of: id), running[index].phase == .sending else { return }
        switch end {
        case .answered(let result, let isAccepted):
            let mayBeForged = 300..<400 ~= result.status && isInTheClear(running[index].slot)
            attemptAnswered(index, result, isAccepted, mayBeForged: mayBeForged)
        case .answeredElsewhere(let result, let isAccepted):
            attemptAnswered(index, result, isAccepted, mayBeForged: true)
        case .failed(let fault): attemptFailed(index, fault)
        }
    }

    private mutating func attemptAnswered(
        _ index: Int, _ result: RequestResult, _ isAccepted: Bool, mayBeForged: Bool
    ) {
        if !mayBeForged { answered(index) }
        switch FailureClassifier.judge(status: result.status, isAccepted: isAccepted) {
        case .success where mayBeForged && 200..<300 ~= result.status:
            askForEvidence(index, RunningAttempt.Suspicion(reason: nil, result: result))
        case .success: succeeded(index, result)
        case .permanent(let reason) where mayBeForged:
            askForEvidence(index, RunningAttempt.Suspicion(reason: reason, result: result))
        case .permanent(let reason): diedOfAnswer(index, reason, result)
        default: failed(index, .destination, result)
        }
    }

    private mutating func attemptFailed(_ index: Int, _ fault: AttemptFault) {
        if let isSent = fault.isSent { running[index].isSent = isSent }
        if fault.isAnswered { answered(index) }
        let attempt = running[index]
        let pathChanged = attempt.lingerUntil != nil || attempt.epoch != epoch
        switch FailureClassifier.judge(fault, pathChanged: pathChanged) {
        case .network: failed(index, .network)
        case .destination: failed(index, .destination)
        case .undecided: askForEvidence(index)
        // A portal has no certificate of the destination's.
        case .permanent(.untrusted):
            askForEvidence(index, RunningAttempt.Suspicion(reason: .untrusted, result: nil))
        case .uncounted: failed(index, .uncounted)
        case .clock: failed(index, .clock)
        case .permanent(let reason):
            if reason == .pinMismatch {
                destinationFailed(entries[Int(attempt.slot)].destination, by: attempt.path.interface, trips: true)
            }
            _ = remove(index)
            finish(attempt.slot, .dead(reason))
        case .success: break
        }
    }

    /// A redirect in the clear is what portals answer in everybody's place. Where the path works it is the server's.
    private func isInTheClear(_ slot: Int32) -> Bool {
        !destinations[Int(entries[Int(slot)].destination)].destination.isSecure
    }

    private mutating func askForEvidence(_ index: Int, _ suspicion: RunningAttempt.Suspicion? = nil) {
        let path = running[index].path
        running[index].suspicion = suspicion
        switch evidence.ask(about: path.interfaceIndex, at: now, policy) {
        case .works(let works): decide(index, works: works)
        case .pending(let begin):
            running[index].phase = .judging
            if begin { turn.actions.append(.checkPath(path)) }
        }
    }

    mutating func pathChecked(_ interface: UInt32, _ works: Bool, isProof: Bool) {
        if works, isProof { proved(interface) }
        evidence.answer(works, for: interface, at: now)
        judge(interface, works: works)
    }

    /// One answer for all who wait for it.
    mutating func judge(_ interface: UInt32, works: Bool) {
        while let index = running.firstIndex(where: {
            $0.phase == .judging && $0.path.interfaceIndex == interface
        }) {
            decide(index, works: works)
        }
    }

    private mutating func decide(_ index: Int, works: Bool) {
        guard works, let suspicion = running[index].suspicion else {
            return failed(index, works ? .destination : .network)
        }
        answered(index)
        switch (suspicion.reason, suspicion.result) {
        case (nil, let result?): succeeded(index, result)
        case (let reason?, let result?): diedOfAnswer(index, reason, result)
        case (let reason, nil):
            let attempt = remove(index)
            finish(attempt.slot, reason.map { .dead($0) } ?? .done)
        }
    }

    private mutating func succeeded(_ index: Int, _ result: RequestResult) {
        noteCarried(running[index])
        let attempt = remove(index)
        destinationAnswered(
            entries[Int(attempt.slot)].destination, by: attempt.path.interface, isSuccess: true)
        finish(attempt.slot, .done, result)
    }

    private mutating func diedOfAnswer(_ index: Int, _ reason: DeathReason, _ result: RequestResult) {
        let attempt = remove(index)
        destinationAnswered(
            entries[Int(attempt.slot)].destination, by: attempt.path.interface, isSuccess: false)
        finish(attempt.slot, .dead(reason), result)
    }
}
