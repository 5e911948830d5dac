internal import ReachCore

/// What state a request is in, and why: derived when it is asked for, so that it cannot be out of date.
extension QueueScheduler {
    /// The state of a request that is not over, or dead; `nil` for all others.
    package func state(of id: RequestID) -> QueuedRequestState? { requests[id].map(state) }

    func state(of slot: Slot) -> QueuedRequestState {
        switch requests[slot].place {
        case .storing: return .new
        case .dead: return .dead
        case .running:
            return attempts.first(at: slot)?.lingerUntil != nil ? .lingering : .running
        case .free: return .cancelled
        case .ready, .networkWait, .destinationWait, .parked, .preparing, .judged: break
        }
        let blockers = blockers(of: slot)
        if !blockers.isDisjoint(with: .hold) { return .held }
        if !blockers.subtracting(.backoff).isEmpty { return .waiting }
        return blockers.isEmpty ? .ready : .backoff
    }

    /// What keeps a request that is not running from starting.
    func blockers(of slot: Slot) -> Blocker { blocks(of: slot).reduce(into: []) { $0.insert($1.blocker) } }

    /// One reason, since when it holds, and when it ends by itself.
    struct Block {
        let blocker: Blocker
        let since: BootTime
        var until: BootTime?
        /// The server asked for it.
        var isAsked = false
    }

    func blocks(of slot: Slot) -> [Block] {
        let entry = requests[slot]
        var blocks: [Block] = []
        if let block = joinBlock(of: slot) { return [block] }
        if entry.flags.contains(.held) { blocks.append(Block(blocker: .requestHold, since: entry.heldSince)) }
        if let since = owners.heldSince(entry.owner) {
            blocks.append(Block(blocker: .queueHold, since: since))
        }
        if let hold = owners.fleetHold { blocks.append(Block(blocker: .fleetHold, since: hold.since)) }
        if requests.predecessor(of: slot) != nil { blocks.append(Block(blocker: .order, since: entry.since)) }
        // A short wait after the path cut it off is not the reason while there is no path.
        let isCutOff = entry.losses > 0 && entry.flags.contains(.networkFailure)
        if entry.notBefore > now, !(isCutOff && gates[entry.group].gate.isClosed) {
            let blocker = joins.isWaiting(slot) && entry.tries == 0 ? .join : waitBlocker(of: entry)
            blocks.append(Block(blocker: blocker, since: entry.since, until: entry.notBefore))
        }
        if store.isDegraded { blocks.append(Block(blocker: .disk, since: store.since)) }
        // Of what waits for something else, too, a canary is not the reason: it might be one itself.
        blocks += networkBlocks(of: entry).filter { blocks.isEmpty || $0.blocker != .canary }
        if let block = lookupBlock(of: entry) { blocks.append(block) }
        if let block = interceptionBlock(of: entry) { return blocks + [block] }
        blocks += destinationBlocks(of: entry)
        return blocks
    }

    private func networkBlocks(of entry: QueueEntry) -> [Block] {
        let group = gates[entry.group]
        let since = waitingSince(group.gate.since, entry)
        switch group.gate.state {
        case .closed:
            return group.gate.missing.elements.map { Block(blocker: $0, since: since) }
        case .settling(let until, let times):
            let isUrgent = entry.priority == .urgent
            if isUrgent, times.urgent <= now { return urgentBlocks(of: entry) }
            let time = isUrgent ? times.urgent : until
            return group.gate.missing.elements.map { Block(blocker: $0, since: since, until: time) }
        case .canary(let times), .open(let times):
            let time = entry.priority == .urgent ? times.urgent : times.others
            if time > now { return [Block(blocker: .rate, since: group.gate.since, until: time)] }
            if group.gate.isOpen { return [] }
            if entry.priority == .urgent { return urgentBlocks(of: entry) }
            let lastStart = destinations[entry.destination].lastStart
            let next = group.gate.canaries[entry.owner].map { $0.next(lastStart: lastStart) }
            return [Block(blocker: .canary, since: group.gate.triedSince, until: next.flatMap { $0 > now ? $0 : nil })]
        }
    }

    /// Since when a request waits for the network. One whose path has not been there since the daemon's start has
    /// waited since it was added, or since it was sent last: a restart does not begin its wait again.
    private func waitingSince(_ time: BootTime, _ entry: QueueEntry) -> BootTime {
        guard let restored = requests.restored, time <= restored else { return time }
        return min(time, entry.waitsSince)
    }

    private func urgentBlocks(of entry: QueueEntry) -> [Block] {
        guard let time = gates.urgentWait(of: entry.owner, in: entry.group, at: now) else { return [] }
        return [Block(blocker: .canary, since: gates[entry.group].gate.triedSince, until: time)]
    }

    private func waitBlocker(of entry: QueueEntry) -> Blocker {
        if entry.flags.contains(.awaitsClock) { return .clock }
        if entry.flags.contains(.awaitsBudget) { return .meteredBudget }
        if entry.flags.contains(.awaitsWindow) { return .window }
        return entry.failure.trouble == .diskFull ? .disk : .backoff
    }

    private func destinationBlocks(of entry: QueueEntry) -> [Block] {
        let gate = gates[entry.group].gate
        guard gate.isOpen || (!gate.isClosed && entry.priority == .urgent) else { return [] }
        var blocks: [Block] = []
        if let block = block(of: entry.destination, group: entry.group, isRetry: entry.startClass == .retry) {
            let trouble = destinations.trouble(at: entry.destination)
            blocks.append(
                Block(
                    blocker: block.blocker, since: trouble?.since ?? entry.since, until: block.until,
                    isAsked: block.blocker == .rate && trouble?.askedUntil == block.until))
        }
        guard blocks.isEmpty else { return blocks }
        let isChannelFull = gates[entry.group].channel.map { !attempts.hasRoom($0, for: entry.owner, at: now) } ?? false
        if attempts.isFull || isChannelFull { return [Block(blocker: .concurrency, since: entry.since)] }
        return admission.pause(at: now).map { [Block(blocker: .rate, since: entry.since, until: $0)] } ?? []
    }
}
