package import ReachCore

/// What a reader of the live fleet shows: each host's word as it changes, and each event once.
package struct FleetWatchState: Sendable {
    /// A host's word that differs from the previous.
    package struct Change: Hashable, Sendable {
        package let host: RosterHost
        /// `nil` for a host that was not known.
        package let previous: HostWord?
        package let presence: HostPresence
    }

    package private(set) var roster = Roster()
    package private(set) var notes = OperatorNotes()
    package private(set) var timeline = FleetTimeline()
    /// What tells when hosts were away, for those who are called.
    package private(set) var history: FleetHistory
    package var engine: EngineFacts
    private var words = JudgedWords()
    /// Changes before the first whole reading are the beginning, and not shown.
    package private(set) var isReady = false

    package init(engine: EngineFacts) {
        self.engine = engine
        history = FleetHistory(since: engine.now + (.zero - Self.memory), keepsTimelines: false)
    }

    /// For so long the history goes back. Of a host that was away for longer the alert itself says since when.
    private static let memory: Duration = .seconds(86_400)

    /// The engine answers again.
    ///
    /// - Parameter started: When it started, if it says so.
    package mutating func reconnected(started: Timestamp?) {
        guard let started, started != engine.started else { return }
        (engine.started, engine.stopped) = (started, nil)
        engine.noteLastWord(in: roster)
        words.makeAllDue()
    }

    package mutating func apply(listed host: String, _ entry: HostList.Entry?) {
        roster.apply(listed: host, entry)
        _ = change(of: host)
    }

    /// - Returns: A host that is retired now.
    package mutating func apply(noteKey key: String, _ value: [UInt8]?, storedAt time: Timestamp) -> String? {
        guard let host = notes.apply(key: key, value, storedAt: time) else { return nil }
        roster.apply(note: value, of: host)
        guard roster[host]?.retired != nil else {
            words.makeDue(host)
            return nil
        }
        words.forget(host)
        return host
    }

    package mutating func apply(state value: [UInt8]?, of host: String, storedAt time: Timestamp) -> Change? {
        roster.apply(state: value, of: host, storedAt: time)
        return change(of: host)
    }

    package mutating func apply(
        lease value: [UInt8]?, of host: String, storedAt time: Timestamp, isExpired: Bool = false
    ) -> Change? {
        roster.apply(lease: value, of: host, storedAt: time, isExpired: isExpired)
        return change(of: host)
    }

    package mutating func apply(advisory value: [UInt8]) -> Change? {
        let connection = ReportedConnection(value)
        guard let advisory = connection.advisory else {
            roster.apply(connection)
            return nil
        }
        return apply(advisory)
    }

    package mutating func apply(_ advisory: ConnectionAdvisory) -> Change? {
        guard let host = roster.apply(advisory) else { return nil }
        history.apply(advisory, of: host)
        return change(of: host)
    }

    package mutating func apply(
        subject: String, headers: [HeaderField], payload: [UInt8], storedAt time: Timestamp, sequence: UInt64
    ) -> [TimelineEvent] {
        let events = timeline.apply(
            subject: subject, headers: headers, payload: payload, storedAt: time, sequence: sequence)
        for event in events { history.apply(event) }
        return events
    }

    /// Everything that the engine held at the start has been applied: what differs from now on is a change.
    ///
    /// - Returns: How many of the hosts that somebody asked about have each word.
    package mutating func begin(_ includes: (RosterHost, HostPresence) -> Bool = { _, _ in true }) -> RosterTotals {
        isReady = true
        engine.noteLastWord(in: roster)
        var totals = RosterTotals()
        for host in roster.hosts {
            let presence = host.presence(engine)
            _ = words.update(host.id, to: presence.word, until: host.nextJudgement(engine))
            if includes(host, presence) { totals.add(presence) }
        }
        return totals
    }

    /// The hosts whose lease ran out without a word from the engine, as on servers before 2.11. Only those are judged
    /// whose word time alone may have changed: to judge 100,000 takes a fifth of a second.
    package mutating func tick(_ now: Timestamp) -> [Change] {
        engine.now = now
        // Hourly, since it looks at all hosts.
        if history.start + (Self.memory + .seconds(3600)) <= now { history.forget(before: now + (.zero - Self.memory)) }
        guard isReady else { return [] }
        return words.due(at: now).compactMap { change(of: $0) }
    }

    private mutating func change(of id: String) -> Change? {
        guard isReady, let host = roster[id], host.retired == nil else { return nil }
        let presence = host.presence(engine)
        let previous = words.update(id, to: presence.word, until: host.nextJudgement(engine))
        guard previous ?? .unseen != presence.word else { return nil }
        return Change(host: host, previous: previous, presence: presence)
    }
}

/// The word of each host as it was judged last, and until when it holds if nothing comes from the host.
private struct JudgedWords {
    private var numbers: [String: Int] = [:]
    private var ids: [String] = []
    private var words: [HostWord?] = []
    /// In nanoseconds since 1970, beside one another: all are looked at each second.
    private var ends: [Int64] = []

    /// - Returns: The word before; `nil` for a host that was not known.
    mutating func update(_ id: String, to word: HostWord, until end: Timestamp?) -> HostWord? {
        let end = end?.nanosecondsSince1970 ?? .max
        guard let number = numbers[id] else {
            numbers[id] = ids.count
            ids.append(id)
            words.append(word)
            ends.append(end)
            return nil
        }
        defer { (words[number], ends[number]) = (word, end) }
        return words[number]
    }

    mutating func forget(_ id: String) {
        guard let number = numbers[id] else { return }
        (words[number], ends[number]) = (nil, .max)
    }

    /// A host that is shown again is judged at the next second.
    mutating func makeDue(_ id: String) {
        if let number = numbers[id] { ends[number] = .min }
    }

    mutating func makeAllDue() {
        for number in ends.indices where words[number] != nil { ends[number] = .min }
    }

    func due(at now: Timestamp) -> [String] {
        ends.indices.filter { ends[$0] <= now.nanosecondsSince1970 }.map { ids[$0] }
    }
}

extension RosterHost {
    /// When ``presence(_:)`` may say another word although nothing came from the host: the next of the times with which
    /// it compares the present.
    func nextJudgement(_ engine: EngineFacts) -> Timestamp? {
        let reported = report.map { $0.stored + ($0.lease * HostLease.patience + Self.leaseGrace) }
        let unreported = report == nil ? lease.map { $0.renewed + Self.leaseGrace } : nil
        let returned = engine.started.map { $0 + (Self.returning + Self.leaseGrace) }
        return [leaseEnd(engine), reported, unreported, returned].compactMap(\.self).filter { $0 >= engine.now }.min()
    }
}
