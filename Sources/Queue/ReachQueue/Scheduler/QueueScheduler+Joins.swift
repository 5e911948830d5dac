internal import ReachCore

/// Requests whose bodies are joined: when they wait for others, and what becomes of those that another one carries.
extension QueueScheduler {
    /// A request that may be joined enters.
    mutating func enterJoins(_ slot: Slot, _ stored: StoredRequest) {
        guard let group = stored.joinGroup else { return }
        let key = Joins.Key(owner: stored.owner, group: group)
        if let carrier = stored.carrier {
            joins.carry(slot, by: carrier, key: key, bytes: stored.bodyBytes)
        } else if stored.progress.tries == 0 {
            joins.wait(slot, key: key, bytes: stored.bodyBytes)
        }
    }

    /// Sets the time until which a request waits for others; with it there may be enough.
    mutating func awaitOthers(_ slot: Slot) {
        guard joins.isWaiting(slot), requests[slot].priority != .urgent else { return }
        guard !joins.isFull(slot) else { return wakeFirst(like: slot) }
        requests[slot].notBefore = max(requests[slot].notBefore, requests[slot].created + policy.joining.wait)
    }

    private mutating func wakeFirst(like slot: Slot) {
        guard let first = joins.first(like: slot), first != slot, requests[first].place == .destinationWait else {
            return
        }
        requests[first].notBefore = now
        place(first)
    }

    /// The first attempt of a request begins, which carries others from now on.
    mutating func gather(_ slot: Slot) {
        guard !joins.isEmpty else { return }
        let others = joins.others(like: slot).filter { mayBeCarried($0, by: slot) }
        let carried = joins.begin(slot, requests[slot].id, among: others)
        for other in carried {
            unplace(other)
            requests[other].place = .parked
        }
        guard !carried.isEmpty else { return }
        turn.refusable.append(.join(requests[slot].id, carried.map { requests[$0].id }))
    }

    private func mayBeCarried(_ slot: Slot, by carrier: Slot) -> Bool {
        let entry = requests[slot]
        return entry.group == requests[carrier].group && !entry.flags.contains(.held) && entry.deadline > now
            && entry.place.isPlaced
    }

    /// The lease of a carrier was not written.
    mutating func undoJoin(_ id: RequestID) {
        for slot in joins.undo(id) {
            deadlines.set(slot, to: requests[slot].deadline)
            place(slot)
        }
    }

    /// A carrier is over, and all that it carried with it.
    mutating func finishCarried(by slot: Slot, _ end: RequestEnd, _ result: RequestResult?) {
        let id = requests[slot].id
        if joins.isRestoring { joins.note(end, result?.status, of: id) }
        let tries = requests[slot].tries
        for member in joins.end(id) {
            requests[member].tries = max(requests[member].tries, tries)
            finish(member, end, result.map { RequestResult(status: $0.status) })
        }
    }

    /// A request of an earlier run whose carrier ended before it was restored ends like it.
    ///
    /// - Returns: Whether it is over.
    mutating func endedWithCarrier(_ slot: Slot, _ stored: StoredRequest) -> Bool {
        guard let carrier = stored.carrier, let (end, status) = joins.end(of: carrier) else { return false }
        finish(slot, end, status.map { RequestResult(status: $0) })
        return true
    }

    /// Requests whose carrier is gone are sent apart.
    mutating func endRestoringJoins() {
        joins.endRestoring()
        for id in joins.carrierIDs where requests[id].map({ requests[$0].place == .dead }) ?? true {
            for slot in joins.end(id) {
                deadlines.set(slot, to: requests[slot].deadline)
                place(slot)
            }
        }
    }

    func joinBlock(of slot: Slot) -> Block? {
        guard joins.carrier(of: slot) != nil else { return nil }
        return Block(blocker: .join, since: requests[slot].since)
    }

    func joinWords(of entry: QueueEntry, left: String) -> (text: String, remedy: String) {
        if let carrier = requests[entry.id].flatMap(joins.carrier) {
            return ("It is sent with request \(carrier).", "It ends when that one does.")
        }
        return ("It waits for others that are sent with it.", "It may start in \(left), or when there are enough.")
    }
}
