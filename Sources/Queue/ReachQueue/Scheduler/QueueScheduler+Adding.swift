internal import ReachCore

/// How requests come in: from clients, and from an earlier run.
extension QueueScheduler {
    mutating func add(_ request: QueuedRequest, _ ticket: QueueInput.Ticket) {
        // From here on its upload counts with the request, or not at all.
        if request.uploadedBytes > 0 { owners.reserve(-request.uploadedBytes, for: request.owner) }
        if case .unique(_, .keep) = request.specification.terms.uniqueness, keep(like: request, ticket) { return }
        if let refusal = refusal(of: request) { return reply(ticket, .refused(refusal)) }
        let id = requests.newID()
        let deadline = now + (request.specification.terms.timeToLive ?? policy.timeToLive)
        let stored = StoredRequest(id, request, created: moment, deadline: moment.at(deadline))
        let slot = enter(stored, created: now, deadline: deadline)
        count(slot, in: stored.order)
        turn.refusable.append(.insert(stored, request))
        turn.inserted.append(slot)
        var queued = event(.queued, slot)
        queued.destination = request.specification.destination
        queued.condition = request.specification.terms.condition
        turn.refusableEvents.append(queued)
        reply(ticket, .added(id), insertion: id)
    }

    private func refusal(of request: QueuedRequest) -> QueueReply.Refusal? {
        if store.isDegraded { return .storage }
        if owners.count >= policy.limits.requests { return .queueFull }
        // Root is bounded by the queue alone.
        let isLimited = request.owner != 0
        if isLimited, owners.count(of: request.owner) >= policy.limits.ownerRequests { return .userLimit }
        return excess(of: request.bytesBesideUpload, for: request.owner, isLimited: isLimited)?.refusal
    }

    /// Keeps an existing request of the same name, and ends its wait.
    private mutating func keep(like request: QueuedRequest, _ ticket: QueueInput.Ticket) -> Bool {
        guard
            let key = OrderChains.Key(
                owner: request.owner, orderKey: nil, uniqueness: request.specification.terms.uniqueness),
            let slot = requests.head(of: key)
        else { return false }
        let id = requests[slot].id
        if requests[slot].place == .storing {
            let waiting = PendingReply(ticket: ticket, reply: .kept(id), insertion: id)
            if !store.append(waiting, toInsertionOf: slot) { turn.replies.append(waiting) }
            return true
        }
        if case .derived = RequestTransition.outcome(of: .woken, in: state(of: slot)) {
            requests[slot].notBefore = now
            place(slot)
            turn.changes.append(.update(progress(slot)))
        }
        reply(ticket, .kept(id))
        return true
    }

    /// Makes the request's entry, which is in no place yet and not counted.
    private mutating func enter(_ stored: StoredRequest, created: BootTime, deadline: BootTime) -> Slot {
        let destination = destinations.index(
            of: DestinationRecord.Key(destination: stored.destination, owner: stored.owner),
            generation: gates.generation)
        let group = group(
            stored.condition, at: destination, exposesSecrets: stored.exposesSecrets, interceptor: stored.interceptor,
            payer: metered.payer(of: stored.owner, isOverBudget: stored.isOverBudget))
        destinations.join(destination)
        join(group, at: destination)
        var entry = QueueEntry(
            id: stored.id, group: group, destination: destination, priority: stored.priority, owner: stored.owner,
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
        case .unique, .joined, .none: break
        }
        let slot = requests.insert(entry)
        if case .dead = stored.state { return slot }
        enterJoins(slot, stored)
        return slot
    }

    // MARK: What the store says

    mutating func committed(_ number: UInt64) {
        guard let write = store.remove(number) else { return }
        for event in write.events { turn.actions.append(.publish(event)) }
        for reply in write.replies { turn.actions.append(.reply(reply.ticket, reply.reply)) }
        for slot in write.inserted { stored(slot) }
        for lease in write.leased { leaseCommitted(lease) }
    }

    mutating func notCommitted(_ number: UInt64) {
        guard let write = store.remove(number) else { return }
        for reply in write.replies { turn.actions.append(.reply(reply.ticket, .refused(.storage))) }
        // Events of what was not written are dropped; the others stand.
        turn.actions += write.events.filter { !$0.kind.isKept }.map(QueueAction.publish)
        for slot in write.inserted { abandon(slot) }
        for lease in write.leased { leaseRefused(lease) }
    }

    /// Refuses the clients that wait for it: their changes are made as soon as the disk works, but are not confirmed.
    mutating func postponed(_ number: UInt64) {
        for reply in store.postpone(number) {
            turn.actions.append(.reply(reply.ticket, .refused(.storage)))
        }
    }

    private mutating func stored(_ slot: Slot) {
        if requests[slot].flags.contains(.cancelled) { return finish(slot, .cancelled(.byUser)) }
        if requests[slot].flags.contains(.orphaned) { return finish(slot, .dead(.dependency)) }
        if !gates[requests[slot].group].gate.isOpen { requests[slot].startClass = .backlog }
        supersede(before: slot)
        awaitOthers(slot)
        place(slot)
        lookUpIfStranded(destinations[requests[slot].destination].site)
        turn.asked.append(slot)
    }

    /// The newest wins: those before it that have not started are cancelled, with `replace` also one that runs.
    private mutating func supersede(before slot: Slot) {
        let entry = requests[slot]
        guard entry.flags.contains(.supersedes) else { return }
        for older in requests.predecessors(of: slot) {
            switch requests[older].place {
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

    mutating func restore(_ stored: [StoredRequest], _ breakers: [StoredBreaker], heldQueues: [UInt32]) {
        if requests.isEmpty, owners.expected == nil { reserve(stored.count) }
        requests.restored = now
        for owner in heldQueues {
            if owner == QueueInput.Client.fleet.user {
                _ = owners.holdByFleet(since: now, reason: nil)
            } else {
                _ = owners.hold(owner, since: now)
            }
        }
        for request in stored where requests[request.id] == nil { restore(request) }
        destinations.restore(breakers, isLast: owners.expected == nil, at: now)
        if owners.expected == nil { endRestoringJoins() }
    }

    private mutating func reserve(_ count: Int) {
        requests.reserveCapacity(count)
        lines.reserveCapacity(count)
        deadlines.reserveCapacity(count)
    }

    mutating func expect(_ expected: ExpectedRequests) {
        if requests.isEmpty { reserve(expected.total) }
        owners.expect(expected)
    }

    mutating func endRestoring() {
        owners.endRestoring()
        destinations.endRestoring()
        endRestoringJoins()
    }

    private mutating func restore(_ stored: StoredRequest) {
        // A clock that was set back must not put off what waits, nor let it live forever.
        let longestWait = now + policy.retries.longest
        let lifetime = stored.deadline.boot - stored.created.boot
        let deadline = min(stored.deadline.boot, now + lifetime)
        if case .dead(let reason, let time) = stored.state {
            return restoreDead(stored, reason, diedAt: min(time.boot, now))
        }
        let slot = enter(stored, created: stored.created.boot, deadline: deadline)
        owners.restored(stored.bytesHeld, of: stored.owner)
        count(slot, in: stored.order)
        if endedWithCarrier(slot, stored) { return }
        requests[slot].startClass = stored.progress.attempts > 0 ? .retry : .backlog
        if stored.progress.isHeld { requests[slot].flags.insert(.held) }
        if stored.progress.isNetworkFailure { requests[slot].flags.insert(.networkFailure) }
        if let notBefore = stored.progress.notBefore { requests[slot].notBefore = min(notBefore.boot, longestWait) }
        // A clock that was set back does not put it into the future; a file of an earlier version does not say.
        if stored.progress.tries > 0 { requests[slot].waitsSince = min(stored.progress.waitsSince?.boot ?? now, now) }
        if stored.state == .leased {
            requests[slot].waitsSince = now
            let facts = RequestTransition.Facts(isRepeatable: stored.isRepeatable)
            if case .dies(let reason) = RequestTransition.outcome(of: .restarted, in: .running, facts) {
                return finish(slot, .dead(reason))
            }
            turn.changes.append(.update(progress(slot)))
            publish(event(.interrupted, slot, reason: "restart"))
        }
        supersede(before: slot)
        awaitOthers(slot)
        place(slot)
    }

    private mutating func restoreDead(_ stored: StoredRequest, _ reason: DeathReason, diedAt time: BootTime) {
        let slot = enter(stored, created: stored.created.boot, deadline: stored.deadline.boot)
        requests[slot].answerBytes = stored.answerBytes
        bury(slot, reason, order: stored.order, at: time)
    }
}

extension StoredRequest {
    fileprivate var order: OrderChains.Key? {
        OrderChains.Key(owner: owner, orderKey: self.orderKey, uniqueness: self.uniqueness)
    }
}
