package import ReachCore

/// Decides what a host sends to the engine (the NATS server), and when: inputs in, actions out. It does no I/O and
/// reads no clock.
///
/// The host's subject in the stream has every event once and in order. Each chunk of events names the sequence number
/// of the chunk before, and the engine refuses it if the subject ends with another number. So a chunk is never stored
/// twice, even if its acknowledgement was lost: whenever the machine does not know whether a chunk was stored, it reads
/// the last message of the subject, the tail, and continues after it. The tail decides, not the host's memory: after
/// the engine is restored from a backup, the host sends again what the backup lacks.
package struct FleetMachine: Sendable {
    enum Connection: Hashable, Sendable {
        /// Waits until this time; if it is `nil`, until the path allows a connection.
        case waiting(until: BootTime?)
        case connecting
        case online
        case stopped
    }

    /// What the machine waits for: an answer of the engine, a page of the journal, or nothing.
    enum Work: Hashable, Sendable {
        /// - Parameter expected: The sequence that a refusal named.
        case readingTail(expected: UInt64?, tries: Int, since: BootTime)
        /// The subject is empty, or its last message says only that it was (see ``EventChunk/mark``).
        case readingMark(tail: UInt64, since: BootTime)
        /// Waits for the journal's next page, which shows whether the journal has the tail's event.
        case verifying(Tail)
        case idle
        case sending(EventChunk, since: BootTime)
        /// Waits until this time, and then reads the tail again.
        case pausing(until: BootTime, expected: UInt64?, tries: Int)
    }

    /// How long an answer is awaited before the tail is read again.
    package static let patience: Duration = .seconds(10)
    /// So many chunks in a row without an answer, though the tail was read between them, are the server's fault.
    static let patienceWithStore = 3
    /// A chunk whose acknowledgement comes within this time may be followed by a larger one.
    static let fastAnswer: Duration = .seconds(1)
    /// If more events than this wait, the host's state is sent before them, so that readers see the current state while
    /// the backlog is sent.
    package static let backlogLimit: UInt64 = 200
    static let stateInterval: Duration = .seconds(2)
    static let conflictPause: Duration = .seconds(3600)

    package let settings: Settings
    package internal(set) var figures = Figures()
    package private(set) var word: FleetWord = .connecting
    /// The reason of the latest trouble, until it is over.
    var trouble: FleetWord?

    var connection: Connection = .waiting(until: nil)
    var work: Work = .idle
    var delay: ReconnectDelay
    var server = Server()
    var hasPath = true
    var isMetered = false
    var epoch: UInt64 = 0
    var hasStarted = false
    var hasDaemon = true
    var lacksJournal = false
    /// Whether the daemon has events, and does not hand them out.
    var journalIsRefused = false
    /// The number of the latest request. An answer with another number is late and ignored.
    var request: UInt64 = 0

    var queue = EventQueue()
    /// The subject's last sequence in the engine; `nil` before it was read in this run.
    var tail: UInt64?
    /// Whether the tail was read in this connection. Before that the engine may be another one, or an older one.
    var knowsTail = false
    /// The cursor in the journal that corresponds to ``tail``; `nil` means the journal's beginning.
    var resume: JournalCursor?
    /// The last event that the engine has of the log, or that it has none; `nil` while this run does not know it.
    var lastEvent: HostAbsence.Event??
    /// What the engine acknowledged last, in this run or an earlier one.
    var acknowledged: FleetMemory?
    /// Chunks in a row that nothing answered although the tail could be read.
    var unanswered = 0
    /// The chunks that were sent since the last acknowledgement. The engine may have stored one of them.
    var unconfirmed: [EventChunk] = []
    var newest: JournalCursor?
    var hasJournal = false
    var isJournalComplete = false
    var pauses = Backoff(first: .seconds(1), longest: .seconds(300))
    /// Whether to accept a tail that this host did not write, because the pause after a conflict has ended.
    var adoptsTail = false

    var presence = Presence()

    package init(_ settings: Settings, memory: FleetMemory? = nil, seed: UInt64) {
        self.settings = settings
        acknowledged = memory?.host == settings.host ? memory : nil
        delay = ReconnectDelay(host: settings.host, spread: settings.spread, seed: seed)
    }

    /// Whether there is room for a page of the journal.
    package var wantsJournal: Bool { queue.count < EventQueue.room }

    package mutating func handle(_ input: Input, at now: Instant) -> [Action] {
        var actions: [Action] = []
        apply(input, now, &actions)
        if connection == .online {
            advance(now, &actions)
            attend(now, &actions)
        }
        update(&actions)
        return actions
    }

    private mutating func apply(_ input: Input, _ now: Instant, _ actions: inout [Action]) {
        if connection == .stopped { return }
        switch input {
        case .start:
            hasStarted = true
            if connection == .waiting(until: nil), mayConnect { connect(&actions) }
        case .connected(let server): connected(server, now, &actions)
        case .disconnected(let loss): disconnected(loss, now)
        case .tail(let number, let answer) where number == request && connection == .online:
            handleTail(answer, now, &actions)
        case .published(let number, let answer) where number == request && connection == .online:
            handlePublished(answer, now, &actions)
        case .mark(let number, let answer) where number == request && connection == .online:
            handleMark(answer, now, &actions)
        case .tail, .mark, .published: break
        case .journal(let slice): handleJournal(slice, now, &actions)
        case .daemon(let isThere): (hasDaemon, lacksJournal, journalIsRefused) = (isThere, false, false)
        case .noJournal: (hasDaemon, lacksJournal, journalIsRefused) = (true, true, false)
        case .journalRefused: (hasDaemon, lacksJournal, journalIsRefused) = (true, true, true)
        case .state(let state): presence.current = state
        case .stateStored(let isStored): handleStateStored(isStored, now)
        case .leaseStored(let isStored): handleLeaseStored(isStored, now)
        case .leaseTaken: handleLeaseTaken(now)
        case .lease(let answer) where connection == .online: handleLease(answer, now)
        case .lease: break
        case .leaseFull:
            handleLeaseStored(false, now)
            presence.storeIsFull = true
            presence.noteAnswer(now, lease: period)
        case .path(let exists, let metered, let epoch): handlePath(exists, metered, epoch, now, &actions)
        case .applied(let revision): presence.applied = revision
        case .tick: tick(now, &actions)
        case .stop: stop(now, &actions)
        }
    }

    // MARK: - The connection

    private var mayConnect: Bool { !(isMetered && settings.metered == .nothing) }

    private mutating func connect(_ actions: inout [Action]) {
        connection = .connecting
        actions.append(.connect)
    }

    private mutating func connected(_ server: Server, _ now: Instant, _ actions: inout [Action]) {
        guard connection == .connecting else { return }
        connection = .online
        presence.hasRunOn = self.server.start != nil && self.server.start == server.start
        self.server = server
        delay.reset()
        pauses.reset()
        trouble = nil
        unanswered = 0
        figures.reconnects += 1
        presence.connect(now)
        actions.append(.readLease)
        readTail(expected: nil, tries: 0, now, &actions)
    }

    private mutating func disconnected(_ loss: Loss, _ now: Instant) {
        guard connection == .online || connection == .connecting else { return }
        let wasOnline = connection == .online
        let lostServer = wasOnline ? server.start : nil
        loseConnection()
        let wait: Duration
        switch loss {
        case .refused: (trouble, wait) = (.refused, delay.afterRefusal())
        // The next connection has the token that is in the file by then, and shows whether that has ended, too.
        case .tokenEnded where wasOnline: (trouble, wait) = (nil, delay.afterPathReturned())
        case .tokenEnded: (trouble, wait) = (.tokenEnded, delay.afterRefusal())
        case .wrongHost: (trouble, wait) = (.wrongHost, delay.afterRefusal())
        case .untrusted: (trouble, wait) = (.untrusted, delay.afterLoss(of: nil))
        case .portal: (trouble, wait) = (.portal, delay.afterLoss(of: nil))
        case .clock: (trouble, wait) = (.clock, delay.afterLoss(of: nil))
        case .tlsFirst: (trouble, wait) = (.tlsFirst, delay.afterLoss(of: nil))
        case .unreachable: (trouble, wait) = (.engineDown, delay.afterLoss(of: lostServer))
        }
        connection = .waiting(until: mayConnect ? now.boot + wait : nil)
    }

    private mutating func loseConnection() {
        work = .idle
        knowsTail = false
        queue.restart(after: nil)
        (hasJournal, isJournalComplete) = (false, false)
        request += 1
        presence.disconnect()
    }

    /// Updates the path to the Internet. Without a path the machine still tries to connect, because the engine may be
    /// on this machine or on its link. When a path returns or changes, the next try is made soon: after an outage a
    /// gateway may count as failed until something is sent to it.
    private mutating func handlePath(
        _ exists: Bool, _ metered: Bool, _ epoch: UInt64, _ now: Instant, _ actions: inout [Action]
    ) {
        let couldConnect = mayConnect
        let returned = exists && !hasPath
        let hasChanged = epoch != self.epoch
        let mayHaveBroken = metered != isMetered || hasChanged
        let hurries = returned || !couldConnect || (hasChanged && trouble != .refused && trouble != .tokenEnded)
        (hasPath, isMetered, self.epoch) = (exists, metered, epoch)
        if !mayConnect {
            if connection == .online || connection == .connecting {
                loseConnection()
                actions += [.closeJournal, .disconnect]
            }
            connection = .waiting(until: nil)
        } else if case .waiting(let until) = connection, hasStarted, hurries {
            let soon = now.boot + delay.afterPathReturned()
            connection = .waiting(until: min(until ?? soon, soon))
        } else if connection == .online, mayHaveBroken {
            // Renewing the lease shows whether the connection survived.
            presence.leaseDue = now.boot
        }
    }

    private mutating func tick(_ now: Instant, _ actions: inout [Action]) {
        switch connection {
        case .waiting(let until?) where until <= now.boot: connect(&actions)
        case .online:
            if presence.readingIsOverdue(now) { handleLease(.none, now) }
            if presence.leaseIsOverdue(now) {
                // The connection is dead although no error was reported: its packets are dropped on the way.
                actions += [.closeJournal, .disconnect]
                disconnected(.unreachable, now)
                // Hosts of a server that died find that one after the other, so that they need no wait to be spread.
                // One behind a lossy path would be called silent if it waited.
                if case .waiting = connection { connection = .waiting(until: now.boot + delay.afterPathReturned()) }
            }
        case .waiting, .connecting, .stopped: break
        }
    }

    private mutating func stop(_ now: Instant, _ actions: inout [Action]) {
        if connection == .online {
            actions.append(.deleteLease)
            if let state = state(now, left: now.wall) { actions.append(.putState(state)) }
        }
        actions += [.closeJournal, .disconnect]
        connection = .stopped
    }

    // MARK: - Time and words

    /// When ``Input/tick`` is due; `nil` if nothing is.
    package var deadline: BootTime? {
        switch connection {
        case .waiting(let until): return until
        case .connecting, .stopped: return nil
        case .online:
            let waits: BootTime? =
                switch work {
                case .readingTail(_, _, let since), .readingMark(_, let since), .sending(_, let since):
                    since + Self.patience
                case .pausing(let until, _, _): until
                case .verifying, .idle: nil
                }
            return [waits, presence.deadline].compactMap(\.self).min()
        }
    }

    private mutating func update(_ actions: inout [Action]) {
        let now = currentWord
        guard now != word else { return }
        word = now
        actions.append(.word(now))
    }

    private var currentWord: FleetWord {
        switch connection {
        case .stopped: return .left
        case .waiting(nil) where isMetered && settings.metered == .nothing: return .metered
        case .waiting, .connecting: return trouble ?? .connecting
        case .online:
            if presence.storeIsFull { return .storeFull }
            if presence.isShared { return .conflict }
            if let trouble { return trouble }
            if !hasDaemon { return .noDaemon }
            if lacksJournal { return journalIsRefused ? .journalRefused : .noJournal }
            if case .idle = work, queue.isEmpty, isJournalComplete || !hasJournal { return .connected }
            return behind >= Self.backlogLimit || holdsEvents ? .behind : .connected
        }
    }

    /// Whether events wait for a path that is not metered.
    var holdsEvents: Bool { isMetered && settings.metered == .state }

    /// The number of events that the engine does not have, as far as it is known.
    package var behind: UInt64 {
        guard let newest else { return UInt64(queue.count) }
        guard let acknowledged, acknowledged.log == newest.log else { return max(newest.n, UInt64(queue.count)) }
        return queue.isEmpty && isJournalComplete ? 0 : newest.n - min(acknowledged.n, newest.n)
    }
}

/// What the engine acknowledged last. It is kept in a file. After a restart, only this file distinguishes a chunk of
/// this host, whose acknowledgement was lost, from a message of another machine.
package struct FleetMemory: Hashable, Sendable {
    package var host: String
    package var log: String
    package var n: UInt64
    /// The stream sequence of the chunk.
    package var sequence: UInt64

    package init(host: String, log: String, n: UInt64, sequence: UInt64) {
        self.host = host
        self.log = log
        self.n = n
        self.sequence = sequence
    }

    package init(_ bytes: [UInt8]) throws(WireError) {
        let reader = try WireReader(bytes, limit: 1024)
        guard let n: UInt64 = try reader.number("n") else { throw reader.fault("n") }
        guard let sequence: UInt64 = try reader.number("sequence") else { throw reader.fault("sequence") }
        self.init(
            host: try reader.requiredText("host"), log: try reader.requiredText("log"), n: n, sequence: sequence)
    }

    package var bytes: [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.field("v", 1)
            json.field("host", host)
            json.field("log", log)
            json.field("n", Int64(clamping: n))
            json.field("sequence", Int64(clamping: sequence))
        }
        json.newline()
        return json.bytes
    }
}

extension FleetMachine {
    /// What is sent while the path is metered.
    package enum MeteredRule: String, Hashable, Sendable, CaseIterable {
        /// Everything is sent over metered paths, too.
        case all
        /// Lease and state are sent; events wait for another path.
        case state
        case nothing
    }

    package struct Settings: Hashable, Sendable {
        package var host: String
        /// A hash of the boot identifier.
        package var boot: String
        package var lease: Duration = .seconds(30)
        package var meteredLease: Duration = .seconds(600)
        package var metered: MeteredRule = .all
        package var spread: Duration = .seconds(60)

        package init(host: String, boot: String) {
            self.host = host
            self.boot = boot
        }
    }

    /// Counters and facts for people and programs.
    package struct Figures: Hashable, Sendable {
        package var acknowledged: UInt64 = 0
        /// Chunks that the engine had although their acknowledgement was lost.
        package var duplicates: UInt64 = 0
        package var dropped: UInt64 = 0
        package var reconnects: UInt64 = 0

        package init() {}
    }
}
