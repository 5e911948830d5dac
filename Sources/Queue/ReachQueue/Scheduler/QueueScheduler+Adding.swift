internal import ReachCore

/// How requests come in: from clients, and from an earlier run.
extension QueueScheduler {
    mutating func add(_ request: QueuedRequest, _ ticket: QueueInput.Ticket) {
        // From here on its upload counts with the request, or not at all.
        if request.uploadedBytes > 0 { reserve(-request.uploadedBytes, for: request.owner) }
        if case .unique(_, .keep) = request.uniqueness, keep(like: request, ticket) { return }
        if let refusal = refusal(of: request) { return reply(ticket, .refused(refusal)) }
        let id = RequestID(rawValue: nextID)
        nextID += 1
        let deadline = now + (request.timeToLive ?? policy.timeToLive)
        let stored = StoredRequest(id, request, created: moment, deadline: moment(of: deadline))
        let slot = enter(stored, created: now, deadline: deadline)
        count(slot, in: stored.order)
        turn.refusable.append(.insert(stored, request))
        turn.inserted.append(slot)
        var queued = event(.queued, slot)
        queued.destination = request.destination
        queued.condition = request.condition
        turn.refusableEvents.append(queued)
        reply(ticket, .added(id), insertion: id)
    }

    private func refusal(of request: QueuedRequest) -> QueueReply.Refusal? {
        if isDegraded { return .storage }
        if aliveCount >= policy.limits.requests { return .queueFull }
        // Root is bounded by the queue alone.
        let isLimited = request.owner != 0
        let count = owners[request.owner]?.count ?? 0
        if isLimited, count >= policy.limits.ownerRequests { return .userLimit }
        return excess(of: request.bytesBesideUpload, for: request.owner, isLimited: isLimited)?.refusal
    }

    /// A request of that name is there: it stays, and does not sleep on.
    private mutating func keep(like request: QueuedRequest, _ ticket: QueueInput.Ticket) -> Bool {
        guard
            let key = OrderChains.key(owner: request.owner, orderKey: nil, uniqueness: request.uniqueness),
            let slot = chains.head(of: key)
        else { return false }
        let id = entries[Int(slot)].id
        if entries[Int(slot)].place == .storing {
            let waiting = PendingReply(ticket: ticket, reply: .kept(id), insertion: id)
            if !pending.append(waiting, toInsertionOf: slot) { turn.replies.append(waiting) }
            return true
        }
        if case .derived = RequestTransition.outcome(of: .woken, in: state(of: slot)) {
            entries[Int(slot)].notBefore = now
            place(slot)
            turn.changes.append(.update(progress(slot)))
        }
        reply(ticket, .kept(id))
        return true
    }

    /// Makes its entry, which is in no place yet and not counted.
    private mutating func enter(_ stored: StoredRequest, created: BootTime, deadline: BootTime) -> Int32 {
        let destination = destinationNumber(
            DestinationRecord.Key(destination: stored.destination, owner: stored.owner))
        let group = groupNumber(
            stored.condition, stored.destination, isRevealing: stored.isRevealing, interceptor: stored.interceptor,
            for: stored.owner)
        var entry = QueueEntry(
            id: stored.id, group: group, destination: destination, owner: stored.owner, priority: stored.priority,
            created: created, deadline: deadline, since: now, heldSince: now, waitsSince: created)
        entry.bytes = stored.bytesHeld
        entry.maximumAttempts = stored.maximumAttempts.map { Int32(clamping: $0) } ?? .max
        entry.attempts = Int32(clamping: stored.progress.attempts)
        entry.networkFailures = Int32(clamping: stored.progress.networkFailures)
        entry.tries = Int32(clamping: stored.progress.tries)
        if stored.isRepeatable { entry.flags.insert(.repeatable) }
        if stored.isResumable { entry.flags.insert(.resumable) }
        if stored.isStrict { entry.flags.insert(.strict) }
        if stored.dependsOnPrevious { entry.flags.insert(.dependsOnPrevious) }
        switch stored.uniqueness {
        case .unique(_, .replace): entry.flags.insert(.supersedes)
        case .coalesce: entry.flags.formUnion([.supersedes, .sparesRunning])
        case .unique(_, .appendOrReplace): entry.flags.remove(.dependsOnPrevious)
        case .unique, .none: break
        }
        destinations[Int(destination)].count += 1
        join(group, at: destination)
        return makeSlot(entry)
    }

    // MARK: What the store says

    mutating func committed(_ number: UInt64) {
        guard let write = pending.remove(number) else { return }
        for event in write.events { turn.actions.append(.publish(event)) }
        for reply in write.replies { turn.actions.append(.reply(reply.ticket, reply.reply)) }
        for slot in write.inserted { stored(slot) }
        for lease in write.leased { leaseCommitted(lease) }
    }

    mutating func notCommitted(_ number: UInt64) {
        guard let write = pending.remove(number) else { return }
        for reply in write.replies { turn.actions.append(.reply(reply.ticket, .refused(.storage))) }
        // Events of what was not written are dropped; the others stand.
        turn.actions += write.events.filter { !$0.kind.isKept }.map(QueueAction.publish)
        for slot in write.inserted { abandon(slot) }
        for lease in write.leased { leaseRefused(lease) }
    }

    /// Who waits for it is refused: what was asked for is done as soon as the disk works, but is not confirmed.
    mutating func postponed(_ number: UInt64) {
        isStuck = true
        for reply in pending.postpone(number) {
            turn.actions.append(.reply(reply.ticket, .refused(.storage)))
        }
    }

    private mutating func stored(_ slot: Int32) {
        let index = Int(slot)
        if entries[index].flags.contains(.cancelled) { return finish(slot, .cancelled(.byUser)) }
        if entries[index].flags.contains(.orphaned) { return finish(slot, .dead(.dependency)) }
        if !groups[Int(entries[index].group)].gate.isOpen { entries[index].startClass = .backlog }
        supersede(before: slot)
        place(slot)
        lookUpSoon(slot)
        turn.asked.append(slot)
    }

    /// The newest wins: those before it that have not started are cancelled, with `replace` also one that runs.
    private mutating func supersede(before slot: Int32) {
        let entry = entries[Int(slot)]
        guard entry.flags.contains(.supersedes), entry.chain >= 0 else { return }
        for older in chains.members(of: entry.chain).prefix(while: { $0 != slot }) {
            switch entries[Int(older)].place {
            case .storing, .dead, .free: continue
            case .running:
                if entry.flags.contains(.sparesRunning) { continue }
                abort(older)
            case .ready, .networkWait, .destinationWait, .parked, .preparing, .judged: break
            }
            finish(older, .cancelled(.superseded))
        }
    }

    // MARK: An earlier run

    mutating func restore(_ requests: [StoredRequest], _ breakers: [StoredBreaker], heldQueues: [UInt32]) {
        if entries.isEmpty, expected == nil { reserve(requests.count) }
        restored = now
        for owner in heldQueues {
            switch owner {
            case 0: heldSince = now
            case QueueInput.Client.fleet.user: fleetHold = FleetHold(since: now, reason: nil)
            default: owners[owner, default: OwnerAccount()].heldSince = now
            }
        }
        for request in requests where slots[request.id] == nil { restore(request) }
        let stored = storedBreakers + breakers
        storedBreakers = []
        for breaker in stored where !restore(breaker) && expected != nil { storedBreakers.append(breaker) }
    }

    /// - Returns: Whether there are requests that it concerns.
    private mutating func restore(_ breaker: StoredBreaker) -> Bool {
        let key = DestinationRecord.Key(destination: breaker.destination, owner: breaker.owner)
        guard let number = destinationNumbers[key] else { return false }
        guard breaker.openUntil.boot > now else { return true }
        var trouble = troubles.removeValue(forKey: number) ?? DestinationTrouble(policy, at: now)
        // A clock that was set back must not keep it open.
        let until = min(breaker.openUntil.boot, now + policy.breaker.openLongest)
        trouble.breakers[breaker.interface] = CircuitBreaker(openUntil: until, step: breaker.step)
        troubles[number] = trouble
        attentive.insert(number)
        return true
    }

    private mutating func reserve(_ count: Int) {
        slots.reserveCapacity(count)
        entries.reserveCapacity(count)
        lines.reserveCapacity(count)
        deadlines.reserveCapacity(count)
    }

    mutating func expect(_ requests: ExpectedRequests) {
        if entries.isEmpty { reserve(requests.total) }
        expected = requests
        for (owner, share) in requests.shares { countExpected(share.count, share.bytes, of: owner) }
    }

    /// What was expected and did not come was set aside, since its rows meant nothing.
    mutating func endRestoring() {
        for (owner, share) in expected?.shares ?? [:] { countExpected(-share.count, -share.bytes, of: owner) }
        expected = nil
        storedBreakers = []
    }

    private mutating func countExpected(_ count: Int, _ bytes: Int64, of owner: UInt32) {
        aliveCount += count
        aliveBytes += bytes
        change(&owners[owner, default: OwnerAccount()], by: count, bytes)
        if owners[owner]?.isIdle == true { owners[owner] = nil }
    }

    private mutating func restore(_ stored: StoredRequest) {
        nextID = max(nextID, stored.id.rawValue + 1)
        // A clock that was set back must not put off what waits, nor let it live forever.
        let longestWait = now + policy.retryLongest
        let lifetime = stored.deadline.boot - stored.created.boot
        let deadline = min(stored.deadline.boot, now + lifetime)
        if case .dead(let reason, let time) = stored.state {
            return restoreDead(stored, reason, diedAt: min(time.boot, now))
        }
        let slot = enter(stored, created: stored.created.boot, deadline: deadline)
        if let share = expected?.remove(stored.bytesHeld, of: stored.owner) {
            countExpected(-share.count, -share.bytes, of: stored.owner)
        }
        count(slot, in: stored.order)
        let index = Int(slot)
        entries[index].startClass = stored.progress.attempts > 0 ? .retry : .backlog
        if stored.progress.isHeld { entries[index].flags.insert(.held) }
        if stored.progress.isNetworkFailure { entries[index].flags.insert(.networkFailure) }
        if let notBefore = stored.progress.notBefore { entries[index].notBefore = min(notBefore.boot, longestWait) }
        // A clock that was set back does not put it into the future; a file of an earlier version does not say.
        if stored.progress.tries > 0 { entries[index].waitsSince = min(stored.progress.waitsSince?.boot ?? now, now) }
        if stored.state == .leased {
            entries[index].waitsSince = now
            let facts = RequestTransition.Facts(isRepeatable: stored.isRepeatable)
            if case .dies(let reason) = RequestTransition.outcome(of: .restarted, in: .running, facts) {
                return finish(slot, .dead(reason))
            }
            turn.changes.append(.update(progress(slot)))
            publish(event(.interrupted, slot, reason: "restart"))
        }
        supersede(before: slot)
        place(slot)
    }

    private mutating func restoreDead(_ stored: StoredRequest, _ reason: DeathReason, diedAt time: BootTime) {
        let slot = enter(stored, created: stored.created.boot, deadline: stored.deadline.boot)
        entries[Int(slot)].answerBytes = stored.answerBytes
        bury(slot, reason, order: stored.order, at: time)
    }
}

extension StoredRequest {
    fileprivate var order: OrderChains.Key? {
        OrderChains.key(owner: owner, orderKey: orderKey, uniqueness: uniqueness)
    }
}

extension ByteExcess {
    /// The word for a client.
    package var refusal: QueueReply.Refusal {
        switch limit.setter {
        case .bytes, .diskShare, .keepFree: .queueFull
        case .ownerBytes, .ownerDiskShare: .userLimit
        }
    }
}
