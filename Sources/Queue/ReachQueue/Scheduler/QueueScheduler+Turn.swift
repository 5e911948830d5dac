internal import ReachCore

/// How a turn ends: what is written, what is reported at once, and what is reported once it is written.
extension QueueScheduler {
    /// Events that are kept are reported when they are safe; the others at once, but not before earlier ones.
    mutating func publish(_ event: QueueEvent) { turn.events.append(event) }

    /// An event of a request, with the number of its attempts so far.
    func event(_ kind: QueueEvent.Kind, _ slot: Int32, reason: String? = nil) -> QueueEvent {
        let entry = entries[Int(slot)]
        var event = QueueEvent(kind, at: moment, epoch: epoch)
        event.request = entry.id
        event.owner = entry.owner
        event.reason = reason
        if entry.tries > 0 { event.attempt = Int(entry.tries) }
        return event
    }

    mutating func reply(_ ticket: QueueInput.Ticket, _ reply: QueueReply, insertion: RequestID? = nil) {
        turn.replies.append(PendingReply(ticket: ticket, reply: reply, insertion: insertion))
    }

    /// A boot time on both clocks.
    func moment(of time: BootTime) -> Instant {
        Instant(wall: moment.wall + (time - now), boot: time)
    }

    func progress(_ slot: Int32) -> RequestProgress {
        let entry = entries[Int(slot)]
        return RequestProgress(
            id: entry.id, attempts: Int(entry.attempts), networkFailures: Int(entry.networkFailures),
            tries: Int(entry.tries), isHeld: entry.flags.contains(.held),
            notBefore: entry.notBefore > now ? moment(of: entry.notBefore) : nil,
            isNetworkFailure: entry.flags.contains(.networkFailure),
            waitsSince: entry.tries > 0 ? moment(of: entry.waitsSince) : nil)
    }

    /// Says why a request does not start, to those who expected that it would.
    mutating func publishWaiting() {
        // Of many that were added together, mostly all wait for the same.
        var last: (kind: WaitingKind, isPassing: Bool)?
        for slot in turn.asked {
            let entry = entries[Int(slot)]
            switch entry.place {
            case .running, .dead, .free, .preparing, .judged: continue
            case .storing, .ready, .networkWait, .destinationWait, .parked: break
            }
            let kind = waitingKind(of: entry)
            if let kind, let last, last.kind == kind, last.isPassing { continue }
            let blockers = blockers(of: slot)
            // What ends by itself in a moment is not reported, and a backoff already was.
            var passing: Blocker = [.concurrency, .rate, .backoff, .clock]
            if groups[Int(entry.group)].gate.canaries[entry.owner]?.failures ?? 0 == 0 { passing.insert(.canary) }
            let isPassing = blockers.subtracting(passing).isEmpty
            if let kind { last = (kind, isPassing) }
            guard !isPassing else { continue }
            entries[Int(slot)].flags.insert(.reportedWaiting)
            var waiting = event(.waiting, slot)
            waiting.blockers = blockers
            if entry.notBefore > now { waiting.notBefore = moment(of: entry.notBefore).wall }
            publish(waiting)
        }
    }

    /// What decides, in one turn, for what a request waits that nothing of its own keeps; `nil` for others.
    private struct WaitingKind: Equatable {
        let owner: UInt32
        let group: Int32
        let destination: Int32
        let priority: RequestPriority
        let startClass: StartClass
    }

    private func waitingKind(of entry: QueueEntry) -> WaitingKind? {
        guard !entry.flags.contains(.held), entry.chain < 0, entry.notBefore <= now,
            groups[Int(entry.group)].key.interceptor == nil
        else { return nil }
        return WaitingKind(
            owner: entry.owner, group: entry.group, destination: entry.destination, priority: entry.priority,
            startClass: entry.startClass)
    }

    /// Orders the turn's output: first what is written in any case, then what may be refused.
    mutating func finishTurn() -> [QueueAction] {
        var turn = TurnOutput()
        swap(&turn, &self.turn)
        var actions = turn.actions
        let mustWrite = !turn.changes.isEmpty
        let mayWrite = !turn.refusable.isEmpty
        if mustWrite {
            let replies = turn.replies.filter { $0.insertion == nil }
            let number = pending.add(
                PendingWrites.Write(events: turn.events, replies: replies), isNeeded: true)
            actions.append(
                .store(
                    StoreTransaction(
                        number: number, changes: turn.changes, mayBeRefused: false, isAwaited: !replies.isEmpty,
                        events: turn.events)))
        } else {
            // What a client hears may follow from a change that is on its way to the disk: it waits for that.
            let replies = turn.replies.filter { $0.insertion == nil }
            if !replies.isEmpty, !pending.append(replies) { actions += Self.actions(of: turn) { $0.insertion == nil } }
            if !turn.events.isEmpty, !pending.append(turn.events) { actions += turn.events.map(QueueAction.publish) }
        }
        if mayWrite {
            let write = PendingWrites.Write(
                events: turn.refusableEvents, replies: turn.replies.filter { $0.insertion != nil },
                inserted: turn.inserted, leased: turn.leased)
            let number = pending.add(write, isNeeded: false)
            actions.append(
                .store(
                    StoreTransaction(
                        number: number, changes: turn.refusable, mayBeRefused: true, events: turn.refusableEvents)))
        } else {
            actions += Self.actions(of: turn) { $0.insertion != nil }
        }
        return actions
    }

    private static func actions(of turn: TurnOutput, where wanted: (PendingReply) -> Bool) -> [QueueAction] {
        turn.replies.filter(wanted).map { .reply($0.ticket, $0.reply) }
    }
}
