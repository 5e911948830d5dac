internal import ReachCore

/// Where requests stand: each in one place, which follows from what blocks it by itself. What blocks its destination or
/// its condition is looked at when its turn comes.
extension QueueScheduler {
    mutating func makeSlot(_ entry: QueueEntry) -> Int32 {
        let slot: Int32
        if let free = freeSlots.popLast() {
            slot = free
            entries[Int(slot)] = entry
        } else {
            slot = Int32(entries.count)
            entries.append(entry)
            lines.grow(entries: entries.count)
            chains.grow(entries: entries.count)
        }
        slots[entry.id] = slot
        return slot
    }

    /// Counts it among those that are not over, and joins its order.
    mutating func count(_ slot: Int32, in order: OrderChains.Key?) {
        let entry = entries[Int(slot)]
        aliveCount += 1
        aliveBytes += entry.bytes
        change(&owners[entry.owner, default: OwnerAccount()], by: 1, entry.bytes)
        deadlines.set(slot, to: entry.deadline)
        if let order { entries[Int(slot)].chain = chains.append(slot, to: order) }
    }

    private mutating func uncount(_ slot: Int32) {
        let entry = entries[Int(slot)]
        aliveCount -= 1
        aliveBytes -= entry.bytes
        change(&owners[entry.owner, default: OwnerAccount()], by: -1, -entry.bytes)
        if let account = owners[entry.owner], account.count == 0 {
            if account.isIdle { owners[entry.owner] = nil }
            shares[entry.owner] = nil
        }
        deadlines.remove(slot)
    }

    func change(_ account: inout OwnerAccount, by count: Int, _ bytes: Int64) {
        account.count += count
        account.bytes += bytes
    }

    /// Puts it where it belongs, and takes it out of where it was.
    mutating func place(_ slot: Int32) {
        unplace(slot)
        joinSeparated(slot)
        let entry = entries[Int(slot)]
        let index = Int(slot)
        entries[index].since = now
        // Its time ended while that could do it no harm.
        if entry.flags.contains(.expired) { deadlines.set(slot, to: now) }
        if entry.flags.contains(.held) || isBehind(slot) {
            entries[index].place = .parked
            entries[index].flags.remove(.prepared)
        } else if entry.notBefore > now {
            let group = Int(entry.group)
            if !entry.flags.isDisjoint(with: [.networkFailure, .awaitsWindow]) {
                entries[index].place = .networkWait
                groups[group].networkWaits.set(slot, to: entry.notBefore)
            } else {
                entries[index].place = .destinationWait
                groups[group].destinationWaits.set(slot, to: entry.notBefore)
            }
            refreshGroupTimer(entry.group)
        } else {
            entries[index].place = .ready
            entries[index].flags.subtract([.awaitsClock, .awaitsWindow])
            lines.add(
                slot, group: entry.group, destination: entry.destination, owner: entry.owner,
                kind: StartKind(entry.priority, entry.startClass), isFirst: entry.flags.contains(.prepared))
        }
    }

    mutating func unplace(_ slot: Int32) {
        let entry = entries[Int(slot)]
        switch entry.place {
        case .ready:
            lines.remove(slot)
            entries[Int(slot)].flags.remove(.prepared)
        case .preparing, .judged: abandonInterception(slot)
        case .networkWait:
            groups[Int(entry.group)].networkWaits.remove(slot)
            refreshGroupTimer(entry.group)
        case .destinationWait:
            groups[Int(entry.group)].destinationWaits.remove(slot)
            refreshGroupTimer(entry.group)
        case .dead: exhume(slot)
        case .storing, .parked, .running, .free: break
        }
        entries[Int(slot)].place = .parked
    }

    /// Whether an earlier one of its order is not over.
    func isBehind(_ slot: Int32) -> Bool {
        let chain = entries[Int(slot)].chain
        return chain >= 0 && !chains.isHead(slot, of: chain)
    }

    mutating func refreshGroupTimer(_ group: Int32) {
        groupTimers.set(group, to: groups[Int(group)].gate.isClosed ? nil : groups[Int(group)].earliestWait)
    }

    // MARK: The end

    /// The request is over. Those behind it in its order go on, or die with it.
    mutating func finish(_ slot: Int32, _ end: RequestEnd, _ result: RequestResult? = nil, reason: String? = nil) {
        var ending: (slot: Int32, end: RequestEnd, result: RequestResult?)? = (slot, end, result)
        while let (slot, end, result) = ending {
            ending = nil
            publishEnd(slot, end, result)
            turn.changes.append(.finish(progress(slot), end, result, at: moment))
            unplace(slot)
            let order = entries[Int(slot)].chain
            let key = order >= 0 ? chains.key(of: order) : nil
            let next = leaveChain(slot)
            uncount(slot)
            entries[Int(slot)].answerBytes = result?.bytesHeld ?? 0
            if case .dead(let reason) = end { bury(slot, reason, order: key) } else { forget(slot) }
            guard let next else { continue }
            if entries[Int(next)].flags.contains(.dependsOnPrevious), end != .done, end != .cancelled(.superseded) {
                // What depends on it goes with it; at once, or when it is stored.
                if entries[Int(next)].place == .storing {
                    entries[Int(next)].flags.insert(.orphaned)
                } else if RequestTransition.outcome(of: .predecessorDied, in: state(of: next)) == .dies(.dependency) {
                    ending = (next, .dead(.dependency), nil)
                }
            } else if chains.isHead(next, of: order), entries[Int(next)].place == .parked {
                place(next)
            }
        }
    }

    private mutating func publishEnd(_ slot: Int32, _ end: RequestEnd, _ result: RequestResult?) {
        var event: QueueEvent
        switch end {
        case .done: event = self.event(.done, slot)
        case .dead(let reason): event = self.event(.dead, slot, reason: reason.rawValue)
        case .cancelled(let reason): event = self.event(.cancelled, slot, reason: reason.rawValue)
        }
        event.status = result?.status
        publish(event)
    }

    /// - Returns: The one behind it in its order.
    private mutating func leaveChain(_ slot: Int32) -> Int32? {
        let chain = entries[Int(slot)].chain
        guard chain >= 0 else { return nil }
        entries[Int(slot)].chain = -1
        return chains.remove(slot, from: chain)
    }

    /// Keeps a dead request, so that it can be sent again.
    mutating func bury(_ slot: Int32, _ reason: DeathReason, order: OrderChains.Key?, at time: BootTime? = nil) {
        deadOrders[slot] = order
        entries[Int(slot)].place = .dead
        entries[Int(slot)].reason = reason
        entries[Int(slot)].since = time ?? now
        let end = (time ?? now) + policy.deadLifetime
        deadUntil.set(slot, to: end)
        let owner = entries[Int(slot)].owner
        owners[owner, default: OwnerAccount()].dead.set(slot, to: end)
        owners[owner]?.deadBytes += entries[Int(slot)].deadBytes
        while let oldest = surplusDead(of: owner) {
            exhume(oldest)
            purge(oldest)
        }
    }

    /// The oldest of an owner who has too many; the last one stays, however long it is.
    private func surplusDead(of owner: UInt32) -> Int32? {
        guard let account = owners[owner] else { return nil }
        let isTooLong = account.deadBytes > policy.deadBytes && account.dead.count > 1
        return account.dead.count > policy.deadCount || isTooLong ? account.dead.first : nil
    }

    /// Takes it from among the dead.
    private mutating func exhume(_ slot: Int32) {
        deadUntil.remove(slot)
        let entry = entries[Int(slot)]
        guard owners[entry.owner]?.dead[slot] != nil else { return }
        owners[entry.owner]?.dead.remove(slot)
        owners[entry.owner]?.deadBytes -= entry.deadBytes
        if owners[entry.owner]?.isIdle == true { owners[entry.owner] = nil }
    }

    /// Forgets the dead whose time is over. No one is woken for it.
    mutating func purgeOldDead() {
        while let first = deadUntil.first, let end = deadUntil.earliest, end <= now {
            exhume(first)
            purge(first)
        }
    }

    mutating func purge(_ slot: Int32) {
        turn.changes.append(.purge([entries[Int(slot)].id]))
        forget(slot)
    }

    private mutating func forget(_ slot: Int32) {
        recentlyOver.insert(entries[Int(slot)].id, of: entries[Int(slot)].owner)
        free(slot)
    }

    private mutating func free(_ slot: Int32) {
        let entry = entries[Int(slot)]
        deadOrders[slot] = nil
        heldBack[slot] = nil
        slots[entry.id] = nil
        entries[Int(slot)].place = .free
        freeSlots.append(slot)
        leave(entry.group, at: entry.destination)
        leaveDestination(entry.destination)
    }

    /// It was never stored.
    mutating func abandon(_ slot: Int32) {
        unplace(slot)
        let order = entries[Int(slot)].chain
        let next = leaveChain(slot)
        uncount(slot)
        free(slot)
        if let next, chains.isHead(next, of: order), entries[Int(next)].place == .parked { place(next) }
    }
}
