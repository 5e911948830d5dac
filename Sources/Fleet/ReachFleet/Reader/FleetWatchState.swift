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
    package var engine: EngineFacts
    private var words: [String: HostWord] = [:]
    /// Changes before the first whole reading are the beginning, and not shown.
    package private(set) var isReady = false

    package init(engine: EngineFacts) { self.engine = engine }

    /// The engine answers again.
    ///
    /// - Parameter started: When it started, if it says so.
    package mutating func reconnected(started: Timestamp?) {
        guard let started, started != engine.started else { return }
        (engine.started, engine.stopped) = (started, nil)
        engine.noteLastWord(in: roster)
    }

    package mutating func apply(listed host: String, _ entry: HostList.Entry?) {
        roster.apply(listed: host, entry)
    }

    /// - Returns: A host that is retired now.
    package mutating func apply(noteKey key: String, _ value: [UInt8]?, storedAt time: Timestamp) -> String? {
        guard let host = notes.apply(key: key, value, storedAt: time) else { return nil }
        roster.apply(note: value, of: host)
        guard roster[host]?.retired != nil else { return nil }
        words[host] = nil
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
        roster.apply(advisory: value).flatMap { change(of: $0) }
    }

    package mutating func apply(
        subject: String, headers: [HeaderField], payload: [UInt8], storedAt time: Timestamp, sequence: UInt64
    ) -> [TimelineEvent] {
        timeline.apply(subject: subject, headers: headers, payload: payload, storedAt: time, sequence: sequence)
    }

    /// Everything that the engine held at the start has been applied: what differs from now on is a change.
    ///
    /// - Returns: How many hosts have each word.
    package mutating func begin() -> RosterTotals {
        isReady = true
        engine.noteLastWord(in: roster)
        var totals = RosterTotals()
        for host in roster.hosts {
            let word = host.presence(engine).word
            words[host.id] = word
            totals.add(word)
        }
        return totals
    }

    /// The hosts whose lease ran out without a word from the engine, as on servers before 2.11.
    package mutating func tick(_ now: Timestamp) -> [Change] {
        engine.now = now
        guard isReady else { return [] }
        return roster.hosts.compactMap { change(of: $0.id) }
    }

    private mutating func change(of id: String) -> Change? {
        guard isReady, let host = roster[id], host.retired == nil else { return nil }
        let presence = host.presence(engine)
        let previous = words.updateValue(presence.word, forKey: id)
        guard previous ?? .unseen != presence.word else { return nil }
        return Change(host: host, previous: previous, presence: presence)
    }
}
