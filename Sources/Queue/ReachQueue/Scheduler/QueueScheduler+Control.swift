package import ReachCore

/// What clients may do to requests that are there. Each may be done twice: the second time changes nothing.
extension QueueScheduler {
    /// The request, if the client may touch it. Otherwise the client is answered.
    private mutating func slot(
        of id: RequestID, for client: QueueInput.Client, _ ticket: QueueInput.Ticket
    ) -> Int32? {
        guard let slot = slots[id] else {
            let isOver = recentlyOver.owner(of: id).map(client.mayTouch) ?? false
            reply(ticket, isOver ? .alreadyOver : .notFound)
            return nil
        }
        guard client.mayTouch(entries[Int(slot)].owner) else {
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
        if !entries[Int(slot)].flags.contains(.held) {
            let hasStopped = suspend(slot)
            entries[Int(slot)].flags.insert(.held)
            entries[Int(slot)].heldSince = now
            if hasStopped, entries[Int(slot)].place != .storing { place(slot) }
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
        if entries[Int(slot)].flags.contains(.held) {
            entries[Int(slot)].flags.remove(.held)
            publish(event(.released, slot))
            if entries[Int(slot)].place == .parked { place(slot) }
            turn.asked.append(slot)
            turn.changes.append(holdChange(slot))
        }
        reply(ticket, .done)
    }

    /// What is written of a hold. A request that runs stays leased: were its row to say that it waits, it would be sent
    /// again after a crash although it must not be.
    private func holdChange(_ slot: Int32) -> StoreChange {
        let entry = entries[Int(slot)]
        guard entry.place == .running else { return .update(progress(slot)) }
        return .holdRequest(entry.id, isHeld: entry.flags.contains(.held))
    }

    mutating func cancel(_ id: RequestID, _ client: QueueInput.Client, _ ticket: QueueInput.Ticket) {
        guard let slot = slot(of: id, for: client, ticket) else { return }
        guard RequestTransition.outcome(of: .cancelled, in: state(of: slot)) == .becomes(.cancelled) else {
            return reply(ticket, .alreadyOver)
        }
        if entries[Int(slot)].place == .storing {
            entries[Int(slot)].flags.insert(.cancelled)
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
        let wanted = slots.filter { _, slot in
            let entry = entries[Int(slot)]
            return entry.place == .dead && client.mayTouch(entry.owner) && (reason == nil || entry.reason == reason)
        }
        for (_, slot) in wanted.sorted(by: { $0.key < $1.key }) { revive(slot) }
        reply(ticket, .retried(wanted.count))
    }

    /// A dead request starts again, with its original time to live and the same key. Its destination, which may have
    /// refused a hundred like it, is approached slowly.
    private mutating func revive(_ slot: Int32) {
        let index = Int(slot)
        unplace(slot)
        let lifetime = entries[index].deadline - entries[index].created
        entries[index].created = now
        entries[index].deadline = now + lifetime
        entries[index].attempts = 0
        entries[index].networkFailures = 0
        entries[index].answerBytes = 0
        entries[index].notBefore = BootTime(nanoseconds: .min)
        entries[index].reason = nil
        entries[index].startClass = .backlog
        entries[index].flags.subtract([.expired, .networkFailure, .awaitsClock, .reportedWaiting, .supersedes])
        let order = deadOrders.removeValue(forKey: slot)
        count(slot, in: order)
        let destination = Int(entries[index].destination)
        destinations[destination].limit = 1
        destinations[destination].generation = max(destinations[destination].generation, generation)
        publish(event(.queued, slot, reason: "retry"))
        turn.changes.append(.revive(progress(slot), deadline: moment(of: entries[index].deadline)))
        place(slot)
        turn.asked.append(slot)
    }

    mutating func forget(_ id: RequestID, _ client: QueueInput.Client, _ ticket: QueueInput.Ticket) {
        guard let slot = slots[id] else {
            guard client == .root else { return reply(ticket, .notPermitted) }
            turn.changes.append(.purge([id]))
            return reply(ticket, .done)
        }
        guard client.mayTouch(entries[Int(slot)].owner) else { return reply(ticket, .notPermitted) }
        guard entries[Int(slot)].place == .dead else { return reply(ticket, .notDead) }
        unplace(slot)
        purge(slot)
        reply(ticket, .done)
    }

    /// Root holds everything, others what is theirs. What runs is let finish.
    mutating func setQueueHold(_ isHeld: Bool, _ client: QueueInput.Client, _ ticket: QueueInput.Ticket) {
        let before = client.user == 0 ? heldSince : owners[client.user]?.heldSince
        if (before != nil) != isHeld {
            if client.user == 0 {
                heldSince = isHeld ? now : nil
            } else {
                owners[client.user, default: OwnerAccount()].heldSince = isHeld ? now : nil
                if owners[client.user]?.isIdle == true { owners[client.user] = nil }
            }
            if !isHeld { lines.resumeAll() }
            turn.changes.append(.holdQueue(owner: client.user == 0 ? nil : client.user, isHeld: isHeld))
            var event = QueueEvent(isHeld ? .suspended : .released, at: moment, epoch: epoch)
            event.owner = client.user
            publish(event)
        }
        reply(ticket, .done)
    }

    /// What runs is let finish. The reason of a hold that stands may change.
    mutating func setFleetHold(_ isHeld: Bool, _ reason: String?, _ ticket: QueueInput.Ticket) {
        let wasHeld = fleetHold != nil
        fleetHold = isHeld ? FleetHold(since: fleetHold?.since ?? now, reason: reason) : nil
        if wasHeld != isHeld {
            if !isHeld { lines.resumeAll() }
            turn.changes.append(.holdQueue(owner: QueueInput.Client.fleet.user, isHeld: isHeld))
            var event = QueueEvent(isHeld ? .suspended : .released, at: moment, epoch: epoch)
            event.owner = 0
            event.reason = "fleet"
            publish(event)
        }
        reply(ticket, .done)
    }

    /// The holds of whole queues that the client may see: its own, root's and the fleet's; for root, those of all users.
    package func holds(for client: QueueInput.Client) -> [QueueHold] {
        var holds = owners.filter { client.mayTouch($0.key) }.compactMap { owner, account in
            account.heldSince.map { QueueHold(source: .user, owner: owner, since: moment(of: $0)) }
        }
        holds.sort { $0.owner ?? 0 < $1.owner ?? 0 }
        if let heldSince { holds.append(QueueHold(source: .root, since: moment(of: heldSince))) }
        if let fleetHold {
            holds.append(QueueHold(source: .fleet, since: moment(of: fleetHold.since), reason: fleetHold.reason))
        }
        return holds
    }
}

/// The fleet's hold of the queue. Its reason is not kept over a restart; the fleet's agent says it again.
struct FleetHold: Sendable {
    let since: BootTime
    let reason: String?
}

/// What keeps a whole queue from being sent.
package struct QueueHold: Hashable, Sendable {
    package enum Source: String, Hashable, Sendable, CaseIterable {
        /// A user holds their own requests.
        case user
        /// Root holds those of all users.
        case root
        /// The fleet holds them.
        case fleet
    }

    package var source: Source
    /// The user, for ``Source/user``.
    package var owner: UInt32?
    package var since: Instant
    /// Why, for people.
    package var reason: String?

    package init(source: Source, owner: UInt32? = nil, since: Instant, reason: String? = nil) {
        self.source = source
        self.owner = owner
        self.since = since
        self.reason = reason
    }
}
