internal import ReachCore

/// What the host's state and lease in the engine are, and when they are written next.
struct Presence: Hashable, Sendable {
    var current: HostState?
    /// The newest revision of desired state that is applied.
    var applied: UInt64 = 0
    /// The last state that was written in this connection.
    var written: HostState?
    var writtenAt: BootTime?
    var isWriting = false
    /// When the lease is written next; `nil` without a connection.
    var leaseDue: BootTime?
    var leaseAsked: BootTime?
    var connectedAt: Timestamp?
    /// Whether the engine refused the last lease because its store is full.
    var storeIsFull = false
    /// When the state may be written, if it differs.
    var stateDue: BootTime?

    mutating func connect(_ now: Instant) {
        (written, writtenAt, isWriting, stateDue) = (nil, nil, false, nil)
        (leaseDue, leaseAsked, storeIsFull) = (now.boot, nil, false)
        connectedAt = now.wall
    }

    mutating func disconnect() { (leaseDue, leaseAsked, stateDue, connectedAt) = (nil, nil, nil, nil) }

    mutating func handleStateStored(_ isStored: Bool, _ now: Instant) {
        isWriting = false
        if !isStored {
            written = nil
            stateDue = now.boot + FleetMachine.patience
        }
    }

    func leaseIsOverdue(_ now: Instant) -> Bool {
        leaseAsked.map { $0 + FleetMachine.patience <= now.boot } ?? false
    }

    var deadline: BootTime? {
        [leaseAsked.map { $0 + FleetMachine.patience } ?? leaseDue, isWriting ? nil : stateDue].compactMap(\.self).min()
    }

    /// Whether events may go: with many waiting, the first state of a connection precedes them.
    func allowsEvents(behind: UInt64) -> Bool {
        behind < FleetMachine.backlogLimit || current == nil || written != nil
    }
}

extension FleetMachine {
    /// Renews the lease and writes the state if they are due.
    mutating func attend(_ now: Instant, _ actions: inout [Action]) {
        if let due = presence.leaseDue, due <= now.boot, presence.leaseAsked == nil {
            let period = isMetered ? settings.meteredLease : settings.lease
            let lease = HostLease(
                boot: settings.boot, n: acknowledged?.n ?? 0, since: presence.connectedAt ?? now.wall, behind: behind)
            presence.leaseDue = now.boot + period
            presence.leaseAsked = now.boot
            actions.append(.putLease(lease))
        }
        writeState(now, &actions)
    }

    private mutating func writeState(_ now: Instant, _ actions: inout [Action]) {
        guard !presence.isWriting else { return }
        presence.stateDue = presence.stateDue.flatMap { $0 > now.boot ? $0 : nil }
        guard let state = state(now, left: nil), presence.stateDue == nil, state.differs(from: presence.written),
            mayWriteState
        else { return }
        if let last = presence.writtenAt, now.boot < last + Self.stateInterval {
            presence.stateDue = last + Self.stateInterval
            return
        }
        (presence.written, presence.writtenAt, presence.isWriting) = (state, now.boot, true)
        actions.append(.putState(state))
        // Events may have waited for it.
        if case .idle = work { advance(now, &actions) }
    }

    /// The state follows the events that it includes, unless too many wait or none may be sent.
    private var mayWriteState: Bool {
        guard knowsTail || trouble != nil else { return false }
        if lacksJournal || behind >= Self.backlogLimit || holdsEvents || trouble != nil { return true }
        guard case .idle = work, hasJournal else { return false }
        return queue.isEmpty && isJournalComplete
    }

    mutating func handleLeaseStored(_ isStored: Bool, _ now: Instant) {
        presence.leaseAsked = nil
        if isStored { presence.storeIsFull = false }
        if !isStored { presence.leaseDue = now.boot + Self.patience }
    }

    /// The host's state with what the machine knows; `nil` before the daemon's first answer.
    func state(_ now: Instant, left: Timestamp?) -> HostState? {
        guard var state = presence.current else { return nil }
        state.written = now
        state.boot = settings.boot
        state.lease = isMetered ? settings.meteredLease : settings.lease
        // What the engine has, as far as this connection knows.
        (state.log, state.n) = knowsTail ? (acknowledged?.log, acknowledged?.n ?? 0) : (nil, 0)
        state.outbox = HostState.Outbox(behind: behind, oldest: queue.oldest, dropped: figures.dropped)
        state.left = left
        state.desired = presence.applied
        return state
    }
}

extension HostState {
    /// Whether readers learn something from it. The time at which it was written does not count, nor how far the host is behind while it
    /// is.
    fileprivate func differs(from other: HostState?) -> Bool {
        guard var other else { return true }
        other.written = written
        if (other.outbox.behind == 0) == (outbox.behind == 0) {
            other.outbox.behind = outbox.behind
            other.outbox.oldest = outbox.oldest
        }
        return other != self
    }
}
