package import ReachCore

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
    /// Renewals in a row before which another had written the lease.
    var takings = 0
    /// Whether the renewal that is under way follows such a refusal.
    var wasTaken = false
    /// Two in a row are two machines that use one identity at the same time. One may be a message of this agent's
    /// connection before, or the server's note that the lease had ended.
    var isShared: Bool { takings >= 2 }
    /// When the state may be written, if it differs.
    var stateDue: BootTime?
    /// Since when the host reads its own lease; `nil` if it does not.
    var readingSince: BootTime?
    /// When the engine had this run's last word for sure, or answered it; `nil` before.
    var heard: Hearing?
    /// Whether the server is the one of the connection before.
    var hasRunOn = false
    /// Absences that the engine does not have yet, and when they ended.
    var absences: [Absence] = []

    struct Absence: Hashable, Sendable {
        let absence: HostAbsence
        let end: Instant
    }

    struct Hearing: Hashable, Sendable {
        let time: BootTime
        /// The time after which the next word was due.
        let lease: Duration
    }

    /// The most that are kept: who connects again and again, and is cut off before it could tell, has said enough.
    static let absenceLimit = 8

    mutating func connect(_ now: Instant) {
        (written, writtenAt, isWriting, stateDue) = (nil, nil, false, nil)
        (leaseDue, leaseAsked, storeIsFull) = (nil, nil, false)
        (takings, wasTaken) = (0, false)
        (connectedAt, readingSince) = (now.wall, now.boot)
    }

    mutating func disconnect() {
        (leaseDue, leaseAsked, stateDue, connectedAt, readingSince) = (nil, nil, nil, nil, nil)
    }

    func readingIsOverdue(_ now: Instant) -> Bool {
        readingSince.map { $0 + FleetMachine.patience <= now.boot } ?? false
    }

    /// The engine has a word of this run. A host whose machine slept, or whose words were lost on the way, was away
    /// also where its connection outlived that.
    mutating func noteWord(_ now: Instant, lease: Duration) {
        // What was before this connection is not judged yet.
        guard readingSince == nil else { return }
        if let heard, HostAbsence.counts(now.boot - heard.time, lease: heard.lease) {
            note(HostAbsence(away: now.boot - heard.time, isKnown: true, lease: heard.lease), now)
        }
        heard = Hearing(time: now.boot, lease: lease)
    }

    /// The engine answers this run's word without keeping it.
    mutating func noteAnswer(_ now: Instant, lease: Duration) {
        if heard != nil { heard = Hearing(time: now.boot, lease: lease) }
    }

    mutating func note(_ absence: HostAbsence?, _ now: Instant) {
        guard let absence, absences.count < Self.absenceLimit else { return }
        absences.append(.init(absence: absence, end: now))
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

    mutating func handleStateStored(_ isStored: Bool, _ now: Instant) {
        presence.isWriting = false
        if isStored { return presence.noteWord(now, lease: period) }
        presence.written = nil
        presence.stateDue = now.boot + Self.patience
    }

    mutating func handleLeaseStored(_ isStored: Bool, _ now: Instant) {
        presence.leaseAsked = nil
        if isStored {
            presence.storeIsFull = false
            presence.noteWord(now, lease: period)
        } else {
            presence.leaseDue = now.boot + Self.patience
        }
        // The one that is written again after another's proves nothing.
        if isStored, !presence.wasTaken { presence.takings = 0 }
        presence.wasTaken = false
    }

    /// Another has written the lease since this connection did. It is written again, whatever is there.
    mutating func handleLeaseTaken(_ now: Instant) {
        presence.takings += 1
        (presence.wasTaken, presence.leaseAsked, presence.leaseDue) = (true, nil, now.boot)
    }

    var period: Duration { isMetered ? settings.meteredLease : settings.lease }

    // MARK: - The time before this connection

    /// The lease says when the engine had the host's last word, unless this run knows of a later one.
    mutating func handleLease(_ answer: LeaseAnswer, _ now: Instant) {
        guard presence.readingSince != nil else { return }
        (presence.readingSince, presence.leaseDue) = (nil, now.boot)
        let own = presence.heard.map { now.boot - $0.time }
        let absence = HostAbsence(
            lease: answer, own: own, hasRunOn: presence.hasRunOn, boot: settings.boot, server: server.start,
            period: period, at: now.wall)
        presence.note(absence, now)
        presence.noteAnswer(now, lease: period)
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
        state.hasConflict = trouble == .conflict || presence.isShared
        return state
    }
}

extension HostAbsence {
    /// What a host that has connected says of the time before; `nil` if it has nothing to say.
    ///
    /// - Parameters:
    ///   - lease: What it found in the engine.
    ///   - own: How long ago this run of the agent last had an answer; `nil` if this is its first connection.
    ///   - hasRunOn: Whether the server is the one of the run's connection before.
    ///   - server: The server's name until it ends.
    package init?(
        lease answer: FleetMachine.LeaseAnswer, own: Duration?, hasRunOn: Bool, boot: String, server: String?,
        period: Duration, at now: Timestamp
    ) {
        switch answer {
        case .none:
            guard let own, Self.counts(own, lease: period) else { return nil }
            self.init(away: own, isKnown: hasRunOn, lease: period)
        case .deleted(let time):
            self.init(from: time, away: own, isKnown: true, hadLeft: own == nil, lease: period)
        case .renewed(let lease, let time):
            let length = lease.period ?? period
            let age = time.duration(to: now)
            // A clock that is behind the engine's says nothing; the readers look at the engine's times.
            guard Self.counts(own ?? age, lease: length) || (own == nil && age < .zero) else { return nil }
            self.init(
                from: time, away: own, isKnown: lease.server != nil && lease.server == server,
                hasRestarted: lease.boot != boot, lease: length)
        }
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
