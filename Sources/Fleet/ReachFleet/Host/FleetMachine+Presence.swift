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
    /// Since when the host reads its own lease; `nil` if it does not.
    var readingSince: BootTime?
    /// When the engine had this run's last word for sure.
    var heard: BootTime?
    /// Whether the server is the one of the connection before.
    var hasRunOn = false
    /// Absences that the engine does not have yet, and when they ended.
    var absences: [Absence] = []

    struct Absence: Hashable, Sendable {
        let absence: HostAbsence
        let end: Instant
    }

    /// The most that are kept: who connects again and again, and is cut off before it could tell, has said enough.
    static let absenceLimit = 8

    mutating func connect(_ now: Instant) {
        (written, writtenAt, isWriting, stateDue) = (nil, nil, false, nil)
        (leaseDue, leaseAsked, storeIsFull) = (nil, nil, false)
        (connectedAt, readingSince) = (now.wall, now.boot)
    }

    mutating func disconnect() {
        (leaseDue, leaseAsked, stateDue, connectedAt, readingSince) = (nil, nil, nil, nil, nil)
    }

    func readingIsOverdue(_ now: Instant) -> Bool {
        readingSince.map { $0 + FleetMachine.patience <= now.boot } ?? false
    }

    mutating func handleStateStored(_ isStored: Bool, _ now: Instant) {
        isWriting = false
        if isStored { heard = now.boot }
        if !isStored {
            written = nil
            stateDue = now.boot + FleetMachine.patience
        }
    }

    func leaseIsOverdue(_ now: Instant) -> Bool {
        leaseAsked.map { $0 + FleetMachine.patience <= now.boot } ?? false
    }

    var deadline: BootTime? {
        [
            leaseAsked.map { $0 + FleetMachine.patience } ?? leaseDue, isWriting ? nil : stateDue,
            readingSince.map { $0 + FleetMachine.patience },
        ].compactMap(\.self).min()
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
            let lease = HostLease(
                boot: settings.boot, n: acknowledged?.n ?? 0, since: presence.connectedAt ?? now.wall, behind: behind,
                server: server.start, period: period)
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
        if isStored { (presence.storeIsFull, presence.heard) = (false, now.boot) }
        if !isStored { presence.leaseDue = now.boot + Self.patience }
    }

    private var period: Duration { isMetered ? settings.meteredLease : settings.lease }

    // MARK: - The time before this connection

    /// The lease says when the engine had the host's last word, unless this run knows of a later one.
    mutating func handleLease(_ answer: LeaseAnswer, _ now: Instant) {
        guard presence.readingSince != nil else { return }
        (presence.readingSince, presence.leaseDue) = (nil, now.boot)
        let own = presence.heard.map { now.boot - $0 }
        guard let absence = absence(answer, own, now), presence.absences.count < Presence.absenceLimit else { return }
        presence.absences.append(.init(absence: absence, end: now))
    }

    private func absence(_ answer: LeaseAnswer, _ own: Duration?, _ now: Instant) -> HostAbsence? {
        switch answer {
        case .none:
            guard let own, HostAbsence.counts(own, lease: period) else { return nil }
            return HostAbsence(away: own, isKnown: presence.hasRunOn, lease: period)
        case .deleted(let time):
            return HostAbsence(from: time, away: own, isKnown: true, hadLeft: own == nil, lease: period)
        case .renewed(let lease, let time):
            let length = lease.period ?? period
            let age = time.duration(to: now.wall)
            // A clock that is behind the engine's says nothing; the readers look at the engine's times.
            guard HostAbsence.counts(own ?? age, lease: length) || (own == nil && age < .zero) else { return nil }
            return HostAbsence(
                from: time, away: own, isKnown: lease.server != nil && lease.server == server.start,
                hasRestarted: lease.boot != settings.boot, lease: length)
        }
    }

    /// Tells the engine of the absence before this connection.
    ///
    /// - Returns: Whether there was one to tell.
    mutating func sendAbsence(_ now: Instant, _ actions: inout [Action]) -> Bool {
        guard let first = presence.absences.first, let tail else { return false }
        // The message becomes the subject's last, by which a later run finds its place in the journal and sees whether
        // another machine wrote. So it says no less than the last one did.
        let place = acknowledged.map { JournalCursor(log: $0.log, n: $0.n) }
        guard place == resume, place?.n ?? 0 == 0 || lastEvent != nil else { return false }
        var absence = first.absence
        absence.after = place?.n ?? 0 > 0 ? lastEvent ?? nil : nil
        var chunk = EventChunk(
            absence, log: place?.log ?? Self.noLog, after: place?.n ?? 0, tail: tail, boot: settings.boot, at: first.end
        )
        chunk.sent = now
        publish(chunk, now, &actions)
        return true
    }

    /// The log that a host names of whose journal the engine has nothing.
    static let noLog = "none"

    /// The host's state with what the machine knows; `nil` before the daemon's first answer.
    func state(_ now: Instant, left: Timestamp?) -> HostState? {
        guard var state = presence.current else { return nil }
        state.written = now
        state.boot = settings.boot
        state.lease = period
        // What the engine has, as far as this connection knows.
        (state.log, state.n) = knowsTail ? (acknowledged?.log, acknowledged?.n ?? 0) : (nil, 0)
        state.outbox = HostState.Outbox(behind: behind, oldest: queue.oldest, dropped: figures.dropped)
        state.left = left
        state.desired = presence.applied
        state.hasConflict = trouble == .conflict
        return state
    }
}

extension HostState {
    /// Whether readers learn something from it. The time at which it was written does not count, nor how far the host
    /// is behind while it is.
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
