internal import ReachCore

/// What clients may do to existing requests. Each may be done twice: the second time changes nothing.
extension QueueScheduler {
    /// The request, if the client may touch it. Otherwise the client is answered.
    private mutating func slot(
        of id: RequestID, for client: QueueInput.Client, _ ticket: QueueInput.Ticket
    ) -> Slot? {
        guard let slot = requests[id] else {
            let isOver = requests.recentOwner(of: id).map(client.mayTouch) ?? false
            reply(ticket, isOver ? .alreadyOver : .notFound)
            return nil
        }
        guard client.mayTouch(requests[slot].owner) else {
            reply(ticket, .notPermitted)
            return nil
        }
        return slot
    }

    mutating func hold(_ id: RequestID, _ client: QueueInput.Client, _ ticket: QueueInput.Ticket) {
        guard let slot = slot(of: id, for: client, ticket) else { return }
        let state = state(of: slot)
        guard RequestTransition.outcome(of: .held, in: state) != .refused else {
            return reply(ticket, .alreadyOver)
        }
        if !requests[slot].flags.contains(.held) {
            let hasStopped = suspend(slot)
            requests[slot].flags.insert(.held)
            requests[slot].heldSince = now
            if hasStopped, requests[slot].place != .storing { place(slot) }
            publish(event(.suspended, slot))
            turn.changes.append(holdChange(slot))
        }
        reply(ticket, .done)
    }

    mutating func release(_ id: RequestID, _ client: QueueInput.Client, _ ticket: QueueInput.Ticket) {
        guard let slot = slot(of: id, for: client, ticket) else { return }
        guard RequestTransition.outcome(of: .released, in: state(of: slot)) != .refused else {
            return reply(ticket, .alreadyOver)
        }
        if requests[slot].flags.contains(.held) {
            requests[slot].flags.remove(.held)
            publish(event(.released, slot))
            if requests[slot].place == .parked { place(slot) }
            turn.asked.append(slot)
            turn.changes.append(holdChange(slot))
        }
        reply(ticket, .done)
    }

    /// What is written of a hold. A request that runs stays leased: were its row to say that it waits, it would be sent
    /// again after a crash although it must not be.
    private func holdChange(_ slot: Slot) -> StoreChange {
        let entry = requests[slot]
        guard entry.place == .running else { return .update(progress(slot)) }
        return .holdRequest(entry.id, isHeld: entry.flags.contains(.held))
    }

    mutating func cancel(_ id: RequestID, _ client: QueueInput.Client, _ ticket: QueueInput.Ticket) {
        guard let slot = slot(of: id, for: client, ticket) else { return }
        guard RequestTransition.outcome(of: .cancelled, in: state(of: slot)) == .becomes(.cancelled) else {
            return reply(ticket, .alreadyOver)
        }
        // Each repetition of what carries it has to be the same.
        if let carrier = joins.carrier(of: slot) { return reply(ticket, .carried(carrier)) }
        if requests[slot].place == .storing {
            requests[slot].flags.insert(.cancelled)
        } else {
            abort(slot)
            finish(slot, .cancelled(.byUser))
        }
        reply(ticket, .done)
    }

    mutating func retry(_ id: RequestID, _ client: QueueInput.Client, _ ticket: QueueInput.Ticket) {
        guard let slot = slot(of: id, for: client, ticket) else { return }
        guard RequestTransition.outcome(of: .retried, in: state(of: slot)) == .derived else {
            return reply(ticket, .notDead)
        }
        revive(slot)
        reply(ticket, .retried(1))
    }

    mutating func retryAll(_ reason: DeathReason?, _ client: QueueInput.Client, _ ticket: QueueInput.Ticket) {
        let wanted = requests.all.filter { _, slot in
            let entry = requests[slot]
            return entry.place == .dead && client.mayTouch(entry.owner) && (reason == nil || entry.reason == reason)
        }
        for (_, slot) in wanted.sorted(by: { $0.key < $1.key }) { revive(slot) }
        reply(ticket, .retried(wanted.count))
    }

    /// A dead request starts again, with its original time to live and the same key. Its destination, which may have
    /// refused a hundred like it, is approached slowly.
    private mutating func revive(_ slot: Slot) {
        let order = deadlines.takeDead(slot, requests[slot])
        requests[slot].place = .parked
        let lifetime = requests[slot].deadline - requests[slot].created
        requests[slot].created = now
        requests[slot].deadline = now + lifetime
        requests[slot].attempts = 0
        requests[slot].networkFailures = 0
        requests[slot].answerBytes = 0
        requests[slot].notBefore = BootTime(nanoseconds: .min)
        requests[slot].reason = nil
        requests[slot].startClass = .backlog
        requests[slot].flags.subtract([.expired, .networkFailure, .awaitsClock, .reportedWaiting, .supersedes])
        count(slot, in: order)
        destinations.approachSlowly(requests[slot].destination, since: gates.generation)
        publish(event(.queued, slot, reason: "retry"))
        turn.changes.append(.revive(progress(slot), deadline: moment.at(requests[slot].deadline)))
        place(slot)
        turn.asked.append(slot)
    }

    mutating func forget(_ id: RequestID, _ client: QueueInput.Client, _ ticket: QueueInput.Ticket) {
        guard let slot = requests[id] else {
            guard client == .root else { return reply(ticket, .notPermitted) }
            turn.changes.append(.purge([id]))
            return reply(ticket, .done)
        }
        guard client.mayTouch(requests[slot].owner) else { return reply(ticket, .notPermitted) }
        guard requests[slot].place == .dead else { return reply(ticket, .notDead) }
        purge(slot)
        reply(ticket, .done)
    }

    /// Root holds all requests, other users their own. Running requests finish.
    mutating func setQueueHold(_ isHeld: Bool, _ client: QueueInput.Client, _ ticket: QueueInput.Ticket) {
        if owners.hold(client.user, since: isHeld ? now : nil) {
            queueHoldChanged(isHeld, for: client.user == 0 ? nil : client.user, publishedFor: client.user)
        }
        reply(ticket, .done)
    }

    /// Running requests finish. The reason of a hold that stands may change.
    mutating func setFleetHold(_ isHeld: Bool, _ reason: String?, _ ticket: QueueInput.Ticket) {
        if owners.holdByFleet(since: isHeld ? now : nil, reason: reason) {
            queueHoldChanged(isHeld, for: QueueInput.Client.fleet.user, publishedFor: 0, reason: "fleet")
        }
        reply(ticket, .done)
    }

    private mutating func queueHoldChanged(
        _ isHeld: Bool, for owner: UInt32?, publishedFor user: UInt32, reason: String? = nil
    ) {
        if !isHeld { lines.resumeAll() }
        turn.changes.append(.holdQueue(owner: owner, isHeld: isHeld))
        var event = event(isHeld ? .suspended : .released)
        event.owner = user
        event.reason = reason
        publish(event)
    }
}
