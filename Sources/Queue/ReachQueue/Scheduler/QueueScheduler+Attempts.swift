internal import ReachCore

/// Attempts: how they outlive their path for a moment, and what follows from their ends.
extension QueueScheduler {
    /// The attempt is over; its slots are free.
    mutating func remove(_ index: Int) -> RunningAttempt {
        let attempt = attempts.end(index)
        requests[attempt.slot].waitsSince = now
        requests[attempt.slot].place = .parked
        if attempt.isTrial { canaryWithdrawn(attempt) }
        if attempt.phase == .leasing { metered.withdraw(attempt.id, attempt.number) }
        let destination = requests[attempt.slot].destination
        destinations.end(destination)
        for record in destinations.site(of: destination).records { lines.resume(destination: record) }
        resumePreparation()
        return attempt
    }

    func facts(_ attempt: RunningAttempt) -> RequestTransition.Facts {
        let flags = requests[attempt.slot].flags
        return RequestTransition.Facts(
            isNetworkFailure: flags.contains(.networkFailure),
            isRepeatable: flags.contains(.repeatable) || !attempt.isSent, isExpired: flags.contains(.expired))
    }

    // MARK: The lease

    mutating func leaseCommitted(_ lease: Lease) {
        guard let index = place(of: lease) else { return }
        // The path went while the lease was written: nothing was sent yet.
        if attempts[index].lingerUntil != nil { return interrupt(index) }
        attempts[index].phase = .sending
        let attempt = attempts[index]
        let entry = requests[attempt.slot]
        turn.actions.append(
            .start(
                AttemptOrder(
                    id: attempt.id, number: attempt.number,
                    destination: destinations[entry.destination].destination,
                    path: attempt.path, condition: gates[entry.group].key.condition,
                    exposesSecrets: gates[entry.group].key.exposesSecrets, isCanary: attempt.isTrial,
                    bar: metered.bar(for: gates[entry.group].key.payer), isCounted: metered.isNeeded)))
    }

    mutating func leaseRefused(_ lease: Lease) {
        guard let index = place(of: lease) else { return }
        let attempt = remove(index)
        requests[attempt.slot].tries -= 1
        if requests[attempt.slot].tries == 0 { undoJoin(attempt.id) }
        place(attempt.slot)
    }

    /// `nil` if the attempt was ended while its lease was being written.
    private func place(of lease: Lease) -> Int? {
        guard let index = attempts.index(of: lease.id), attempts[index].number == lease.attempt,
            attempts[index].phase == .leasing
        else { return nil }
        return index
    }

    mutating func markSent(_ id: RequestID) {
        if let index = attempts.index(of: id) { attempts[index].isSent = true }
    }

    // MARK: Ends that the queue makes

    /// Ends a running attempt of a request that is finished otherwise.
    mutating func abort(_ slot: Slot) {
        guard let index = attempts.index(at: slot) else { return }
        let attempt = remove(index)
        if attempt.phase == .sending { turn.actions.append(.abort(attempt.id)) }
    }

    /// Ends an attempt without counting it: the network took its path away, or the run ends.
    ///
    /// - Parameter reason: `nil` for what the path lacks.
    mutating func interrupt(_ index: Int, reason: String? = nil) {
        let outcome = RequestTransition.outcome(of: .lingerEnded, in: .lingering, facts(attempts[index]))
        let attempt = remove(index)
        let slot = attempt.slot
        if attempt.phase == .sending { turn.actions.append(.abort(attempt.id)) }
        if case .dies(let reason) = outcome { return finish(slot, .dead(reason)) }
        requests[slot].startClass = .backlog
        if reason == nil { pathLost(attempt) }
        var event = event(.interrupted, slot, reason: reason ?? attempt.lacking.words.first ?? "no-path")
        event.interface = attempt.path.interface
        publish(event)
        place(slot)
        turn.changes.append(.update(progress(slot)))
        turn.asked.append(slot)
    }

    mutating func lingerEnded(_ id: RequestID) {
        guard let index = attempts.index(of: id) else { return }
        // What is being judged has failed already, and its path is gone.
        if attempts[index].phase == .judging { return failed(index, .network) }
        interrupt(index)
    }

    /// A user holds a running request.
    ///
    /// - Returns: `false` if the attempt is let finish, since it could not be repeated.
    mutating func suspend(_ slot: Slot) -> Bool {
        guard let index = attempts.index(at: slot) else { return true }
        let state: QueuedRequestState = attempts[index].lingerUntil == nil ? .running : .lingering
        guard RequestTransition.outcome(of: .held, in: state, facts(attempts[index])) == .becomes(.held) else {
            return false
        }
        abort(slot)
        requests[slot].startClass = .backlog
        return true
    }

    /// The run ends: it gives back what is leased, so that the next run need not guess what became of it.
    mutating func stop() {
        attempts.isStopped = true
        while !attempts.isEmpty { interrupt(attempts.count - 1, reason: "restart") }
        for slot in attempts.judgedSlots {
            place(slot)
            turn.changes.append(.update(progress(slot)))
        }
    }

    // MARK: The path of a running attempt

    /// Looks whether an attempt may stay on its path.
    mutating func evaluateAttempt(_ id: RequestID) {
        guard let paths = network.paths, let index = attempts.index(of: id) else { return }
        let attempt = attempts[index]
        let entry = requests[attempt.slot]
        let group = gates[entry.group]
        var lacking: Blocker = []
        if let path = attempt.path(in: pathsInReach(of: group, paths, isBegun: attempt.phase != .leasing)) {
            lacking = Blocker(group.key.condition.unmet(on: path))
            // The path still works: what it lacks is only that nothing new would go by it.
            if !entry.flags.contains(.strict) { lacking.remove(.family) }
        } else {
            lacking = Blocker(group.key.condition.unmetWithoutPath)
        }
        if lacking.isEmpty {
            attempts[index].lingerUntil = nil
        } else if attempts[index].lingerUntil == nil {
            attempts[index].lacking = lacking
            attempts[index].lingerUntil = now + policy.paths.linger
            if attempt.phase == .judging { failed(index, .network) }
        }
    }

    // MARK: Ends that the executor reports

    mutating func attemptEnded(_ id: RequestID, _ end: AttemptEnd) {
        guard let index = attempts.index(of: id), attempts[index].phase == .sending else { return }
        switch end {
        case .answered(let result, let isAccepted):
            let mayBeForged = 300..<400 ~= result.status && isInTheClear(attempts[index].slot)
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
        if let isSent = fault.isSent { attempts[index].isSent = isSent }
        attempts[index].trouble = fault.trouble
        if fault.isAnswered { answered(index) }
        let attempt = attempts[index]
        let pathChanged = attempt.lingerUntil != nil || attempt.epoch != epoch
        switch FailureClassifier.judge(fault, pathChanged: pathChanged) {
        // It turned out that no path leads to its destination: the request waits for one, and for nothing else.
        case .network where fault.kind == .localNetwork && !attempts[index].isSent && isWithoutPath(attempt.slot):
            // It has ended already.
            attempts[index].phase = .judging
            interrupt(index)
        case .network: failed(index, .network)
        case .destination: failed(index, .destination)
        case .undecided: askForEvidence(index)
        // A portal has no certificate of the destination's.
        case .permanent(.untrusted):
            askForEvidence(index, RunningAttempt.Suspicion(reason: .untrusted, result: nil))
        case .uncounted: failed(index, .uncounted)
        case .clock: failed(index, .clock)
        case .disk: failed(index, .disk)
        case .permanent(let reason):
            if reason == .pinMismatch {
                destinationFailed(requests[attempt.slot].destination, by: attempt.path.interface, trips: true)
            }
            _ = remove(index)
            finish(attempt.slot, .dead(reason))
        case .success: break
        }
    }

    private func isWithoutPath(_ slot: Slot) -> Bool { gates[requests[slot].group].gate.isClosed }

    /// A redirect in the clear is what portals answer in everybody's place. Where the path works it is the server's.
    private func isInTheClear(_ slot: Slot) -> Bool {
        !destinations[requests[slot].destination].destination.isSecure
    }

    private mutating func askForEvidence(_ index: Int, _ suspicion: RunningAttempt.Suspicion? = nil) {
        let path = attempts[index].path
        attempts[index].suspicion = suspicion
        switch network.evidence.ask(about: path.interfaceIndex, at: now, policy) {
        case .works(let works): decide(index, works: works)
        case .pending(let begin):
            attempts[index].phase = .judging
            if begin { turn.actions.append(.checkPath(path)) }
        }
    }

    mutating func pathChecked(_ interface: UInt32, _ works: Bool, isProof: Bool) {
        if works, isProof { proved(interface) }
        network.evidence.answer(works, for: interface, at: now)
        judge(interface, works: works)
    }

    /// One answer for all who wait for it.
    mutating func judge(_ interface: UInt32, works: Bool) {
        while let index = attempts.indexJudged(by: interface) { decide(index, works: works) }
    }

    private mutating func decide(_ index: Int, works: Bool) {
        guard works, let suspicion = attempts[index].suspicion else {
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
        network.carried(requests[attempts[index].slot], by: attempts[index].path, at: now)
        let attempt = remove(index)
        destinationAnswered(
            requests[attempt.slot].destination, by: attempt.path.interface, isSuccess: true)
        finish(attempt.slot, .done, result)
    }

    private mutating func diedOfAnswer(_ index: Int, _ reason: DeathReason, _ result: RequestResult) {
        let attempt = remove(index)
        destinationAnswered(
            requests[attempt.slot].destination, by: attempt.path.interface, isSuccess: false)
        finish(attempt.slot, .dead(reason), result)
    }

    // MARK: Losses

    /// The server has more of a resumable upload than before: earlier attempts were no failures, and are not counted.
    mutating func uploadAdvanced(_ id: RequestID) {
        guard let index = attempts.index(of: id), attempts[index].phase == .sending else { return }
        let slot = attempts[index].slot
        let destination = requests[slot].destination
        destinations.refund(Int(requests[slot].attempts), to: destination, at: now)
        (requests[slot].attempts, requests[slot].networkFailures, requests[slot].losses) = (0, 0, 0)
        destinationAnswered(destination, by: attempts[index].path.interface, isSuccess: true)
    }

    /// The attempt ended since it lost its path, or since the path no longer satisfies its condition.
    private mutating func pathLost(_ attempt: RunningAttempt) {
        let slot = attempt.slot
        let group = gates[requests[slot].group]
        let present = network.paths.flatMap { attempt.path(in: pathsInReach(of: group, $0, isBegun: true)) }
        guard present == nil, attempt.isSent else { return }
        let lostAt = (attempt.lingerUntil ?? now + policy.paths.linger) + (.zero - policy.paths.linger)
        network.interrupted(requests[slot], by: attempt.path, at: lostAt)
        requests[slot].notBefore = now
        requests[slot].flags.insert(.networkFailure)
        lose(slot)
    }

    /// The server may have received the request: it is sent again no sooner than `curl --retry` would.
    mutating func lose(_ slot: Slot) {
        requests[slot].losses = UInt8(clamping: Int(requests[slot].losses) + 1)
        let time = now + policy.lossWait(after: Int(requests[slot].losses))
        requests[slot].notBefore = max(requests[slot].notBefore, time)
    }
}
