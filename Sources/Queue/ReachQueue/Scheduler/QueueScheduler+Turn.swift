internal import ReachCore

/// What a turn reports.
extension QueueScheduler {
    /// Events that are kept are reported when they are safe; the others at once, but not before earlier ones.
    mutating func publish(_ event: QueueEvent) { turn.events.append(event) }

    /// An event that concerns no single request.
    func event(_ kind: QueueEvent.Kind) -> QueueEvent { QueueEvent(kind, at: moment, epoch: epoch) }

    /// An event of a request, with the number of its attempts so far.
    func event(_ kind: QueueEvent.Kind, _ slot: Slot, reason: String? = nil) -> QueueEvent {
        var event = event(kind)
        event.request = requests[slot].id
        event.owner = requests[slot].owner
        event.reason = reason
        if requests[slot].tries > 0 { event.attempt = Int(requests[slot].tries) }
        return event
    }

    mutating func reply(_ ticket: QueueInput.Ticket, _ reply: QueueReply, insertion: RequestID? = nil) {
        turn.replies.append(PendingReply(ticket: ticket, reply: reply, insertion: insertion))
    }

    func progress(_ slot: Slot) -> RequestProgress {
        let entry = requests[slot]
        return RequestProgress(
            id: entry.id, attempts: Int(entry.attempts), networkFailures: Int(entry.networkFailures),
            tries: Int(entry.tries), isHeld: entry.flags.contains(.held),
            notBefore: entry.notBefore > now ? moment.at(entry.notBefore) : nil,
            isNetworkFailure: entry.flags.contains(.networkFailure),
            waitsSince: entry.tries > 0 ? moment.at(entry.waitsSince) : nil)
    }

    /// Reports why requests do not start, to those who expected that they would.
    mutating func publishWaiting() {
        // Of many that were added together, mostly all wait for the same.
        var last: (kind: WaitingKind, isPassing: Bool)?
        for slot in turn.asked {
            let entry = requests[slot]
            switch entry.place {
            case .running, .dead, .free, .preparing, .judged: continue
            case .storing, .ready, .networkWait, .destinationWait, .parked: break
            }
            let kind = waitingKind(of: entry)
            if let kind, let last, last.kind == kind, last.isPassing { continue }
            let blockers = blockers(of: slot)
            // What ends by itself in a moment is not reported, and a backoff already was.
            var passing: Blocker = [.concurrency, .rate, .backoff, .clock, .join]
            if gates[entry.group].gate.canaries[entry.owner]?.failures ?? 0 == 0 { passing.insert(.canary) }
            let isPassing = blockers.subtracting(passing).isEmpty
            if let kind { last = (kind, isPassing) }
            guard !isPassing else { continue }
            requests[slot].flags.insert(.reportedWaiting)
            var waiting = event(.waiting, slot)
            waiting.blockers = blockers
            if entry.notBefore > now { waiting.notBefore = moment.at(entry.notBefore).wall }
            publish(waiting)
        }
    }

    /// What decides, in one turn, for what a request waits that waits for nothing of its own.
    private struct WaitingKind: Equatable {
        let owner: UInt32
        let group: GroupIndex
        let destination: DestinationIndex
        let priority: RequestPriority
        let startClass: StartClass
    }

    private func waitingKind(of entry: QueueEntry) -> WaitingKind? {
        guard !entry.flags.contains(.held), entry.chain == nil, entry.notBefore <= now,
            gates[entry.group].key.interceptor == nil
        else { return nil }
        return WaitingKind(
            owner: entry.owner, group: entry.group, destination: entry.destination, priority: entry.priority,
            startClass: entry.startClass)
    }
}
