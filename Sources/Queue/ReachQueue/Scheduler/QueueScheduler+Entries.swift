internal import ReachCore

/// The place of each request, which follows from what blocks the request by itself. What blocks its destination or its
/// condition is looked at when its turn comes.
extension QueueScheduler {
    /// Counts a request as unfinished, and adds it to its order.
    mutating func count(_ slot: Slot, in order: OrderChains.Key?) {
        owners.add(1, bytes: requests[slot].bytes, to: requests[slot].owner)
        deadlines.set(slot, to: requests[slot].deadline)
        if let order { requests.join(order, slot) }
    }

    private mutating func uncount(_ slot: Slot) {
        let owner = requests[slot].owner
        owners.add(-1, bytes: -requests[slot].bytes, to: owner)
        if owners.count(of: owner) == 0 { attempts.forget(owner) }
        joins.remove(slot)
        deadlines.remove(slot)
    }

    /// Moves a request to the place where it belongs.
    mutating func place(_ slot: Slot) {
        unplace(slot)
        joinSeparated(slot)
        let entry = requests[slot]
        requests[slot].since = now
        // Its time ended while that could do it no harm.
        if entry.flags.contains(.expired) { deadlines.set(slot, to: now) }
        if entry.flags.contains(.held) || requests.predecessor(of: slot) != nil || joins.carrier(of: slot) != nil {
            requests[slot].place = .parked
            requests[slot].flags.remove(.prepared)
        } else if entry.notBefore > now {
            let isOfNetwork = !entry.flags.isDisjoint(with: [.networkFailure, .awaitsWindow, .awaitsBudget])
            requests[slot].place = isOfNetwork ? .networkWait : .destinationWait
            gates.wait(slot, in: entry.group, until: entry.notBefore, isOfNetwork: isOfNetwork)
        } else {
            requests[slot].place = .ready
            requests[slot].flags.subtract([.awaitsClock, .awaitsWindow, .awaitsBudget])
            lines.add(
                slot, group: entry.group, destination: entry.destination, owner: entry.owner,
                kind: StartKind(entry.priority, entry.startClass), isFirst: entry.flags.contains(.prepared))
        }
    }

    /// Takes a request out of its place.
    mutating func unplace(_ slot: Slot) {
        switch requests[slot].place {
        case .ready:
            lines.remove(slot)
            requests[slot].flags.remove(.prepared)
        case .preparing, .judged: abandonInterception(slot)
        case .networkWait, .destinationWait: gates.endWait(slot, in: requests[slot].group)
        case .dead: _ = deadlines.takeDead(slot, requests[slot])
        case .storing, .parked, .running, .free: break
        }
        requests[slot].place = .parked
    }

    // MARK: The end

    /// The request is over. The requests behind it in its order continue, or die with it.
    mutating func finish(_ slot: Slot, _ end: RequestEnd, _ result: RequestResult? = nil) {
        var ending: (slot: Slot, end: RequestEnd, result: RequestResult?)? = (slot, end, result)
        while let (slot, end, result) = ending {
            ending = nil
            publishEnd(slot, end, result)
            turn.changes.append(.finish(progress(slot), end, result, at: moment))
            unplace(slot)
            let order = requests.order(of: slot)
            let next = requests.leaveOrder(slot)
            uncount(slot)
            finishCarried(by: slot, end, result)
            requests[slot].answerBytes = result?.bytesHeld ?? 0
            if case .dead(let reason) = end { bury(slot, reason, order: order, at: now) } else { forget(slot) }
            guard let next else { continue }
            if requests[next].flags.contains(.dependsOnPrevious), end != .done, end != .cancelled(.superseded) {
                // What depends on it dies with it: at once, or when it is stored.
                if requests[next].place == .storing {
                    requests[next].flags.insert(.orphaned)
                } else if RequestTransition.outcome(of: .predecessorDied, in: state(of: next)) == .dies(.dependency) {
                    ending = (next, .dead(.dependency), nil)
                }
            } else {
                continueOrder(with: next)
            }
        }
    }

    /// The request before it in its order is over.
    private mutating func continueOrder(with slot: Slot) {
        if requests.predecessor(of: slot) == nil, requests[slot].place == .parked { place(slot) }
    }

    private mutating func publishEnd(_ slot: Slot, _ end: RequestEnd, _ result: RequestResult?) {
        var event: QueueEvent
        switch end {
        case .done: event = self.event(.done, slot)
        case .dead(let reason): event = self.event(.dead, slot, reason: reason.rawValue)
        case .cancelled(let reason): event = self.event(.cancelled, slot, reason: reason.rawValue)
        }
        event.status = result?.status
        publish(event)
    }

    /// Keeps a dead request, so that it can be sent again.
    mutating func bury(_ slot: Slot, _ reason: DeathReason, order: OrderChains.Key?, at time: BootTime) {
        // Its interceptor may have had it when its name was separated.
        joinSeparated(slot)
        requests[slot].place = .dead
        requests[slot].reason = reason
        requests[slot].since = time
        deadlines.keep(slot, requests[slot], order: order)
        while let oldest = deadlines.surplusDead(of: requests[slot].owner) { purge(oldest) }
    }

    /// Keeps dead requests by other limits.
    mutating func keepDead(_ limits: QueuePolicy.Keeping) {
        let dead = requests.indices.filter { requests[$0].place == .dead }.map { ($0, requests[$0]) }
        deadlines.keep(dead, within: limits)
        for owner in Array(deadlines.ownersOfDead) {
            while let oldest = deadlines.surplusDead(of: owner) { purge(oldest) }
        }
    }

    /// Deletes the dead requests whose time is over. No timer runs for them.
    mutating func purgeOldDead() {
        while let slot = deadlines.overdueDead(at: now) { purge(slot) }
    }

    mutating func purge(_ slot: Slot) {
        unplace(slot)
        turn.changes.append(.purge([requests[slot].id]))
        forget(slot)
    }

    private mutating func forget(_ slot: Slot) {
        requests.remember(slot)
        remove(slot)
    }

    private mutating func remove(_ slot: Slot) {
        let (group, destination) = (requests[slot].group, requests[slot].destination)
        network.endHoldingBack(slot)
        requests.remove(slot)
        leave(group, at: destination)
        destinations.leave(destination, at: now)
    }

    /// A new request could not be stored.
    mutating func abandon(_ slot: Slot) {
        unplace(slot)
        let next = requests.leaveOrder(slot)
        uncount(slot)
        remove(slot)
        if let next { continueOrder(with: next) }
    }
}
