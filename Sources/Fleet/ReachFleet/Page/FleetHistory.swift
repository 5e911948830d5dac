package import ReachCore

/// What happened in a fleet within a window of time: for each host its timeline, and when it went away and returned.
///
/// Feed it in any order; its memory is proportional to the window.
package struct FleetHistory: Sendable {
    /// The newest events of a host that are kept for its timeline.
    package static let eventsOfHost = PageData.eventsOfHost
    /// The start of the window.
    package private(set) var start: Timestamp
    /// Since when everything is known that the streams hold: ``start``, or later if older messages were left out.
    package private(set) var known: Timestamp
    private var numbers: [String: Int] = [:]
    private var records: [PresenceRecord] = []
    private var timelines: [[PageEvent]] = []
    private var addresses: [IPAddress?] = []
    private var runs = ServerRuns()

    /// Whether it keeps what hosts' timelines show. Sentences about all events take most of the time of reading them.
    package let keepsTimelines: Bool

    package init(since start: Timestamp, keepsTimelines: Bool = true) {
        (self.start, known) = (start, start)
        self.keepsTimelines = keepsTimelines
    }

    /// One without content, for the same time.
    package var emptied: FleetHistory { FleetHistory(since: start, keepsTimelines: keepsTimelines) }

    /// How much is kept that tells about presence, of all hosts.
    package var evidenceCount: Int { records.reduce(0) { $0 + $1.count } }

    /// How many events are kept, of all hosts.
    package var eventCount: Int { timelines.reduce(0) { $0 + $1.count } }

    // MARK: - Feeding it

    /// An event of a host.
    package mutating func apply(_ event: TimelineEvent) {
        guard event.time >= start else { return }
        let number = number(of: event.host)
        if keepsTimelines { append(PageEvent(event), number) }
        apply(PastEvent(event), number)
    }

    /// The events of a message that have not come before.
    package mutating func apply(_ message: HostEvents, _ timeline: inout FleetTimeline) {
        let events = timeline.apply(message).filter { $0.time >= start }
        guard !events.isEmpty else { return }
        let number = number(of: message.host)
        for event in events { apply(event, number) }
    }

    private mutating func apply(_ event: PastEvent, _ number: Int) {
        // A clock that may be wrong by years decides nothing about others.
        guard !event.isHostClock else { return }
        switch event.kind {
        case .word(let status, let connectivity, let reason, let previous):
            records[number].apply(status, connectivity, reason, previous: previous, at: event.time)
        case .absence(let absence, _): records[number].apply(absence, until: event.time)
        case .other: break
        }
    }

    /// A connection that began or ended, as the server reported it.
    package mutating func apply(_ advisory: ConnectionAdvisory, of host: String) {
        if let server = advisory.server { runs.note(server, at: advisory.time) }
        let number = number(of: host)
        addresses[number] = advisory.address ?? addresses[number]
        records[number].apply(advisory)
        guard keepsTimelines, advisory.time >= start else { return }
        let why = advisory.isUp ? advisory.address.map { "from \($0)" } : advisory.reason
        append(
            PageEvent(
                time: advisory.time, word: advisory.isUp ? .here : .silent,
                what: advisory.isUp ? "connected" : "connection ended", why: why), number)
    }

    /// Moves the start of the window.
    package mutating func forget(before start: Timestamp) {
        self.start = start
        known = max(known, start)
        for index in records.indices { records[index].forget(before: start) }
    }

    /// Messages that the engine stored before this time were not read.
    package mutating func leaveOut(before time: Timestamp) { known = max(known, time) }

    private mutating func number(of host: String) -> Int {
        if let number = numbers[host] { return number }
        let number = timelines.count
        numbers[host] = number
        timelines.append([])
        records.append(PresenceRecord())
        addresses.append(nil)
        return number
    }

    private mutating func append(_ event: PageEvent, _ number: Int) {
        timelines[number].append(event)
        guard timelines[number].count >= 2 * Self.eventsOfHost else { return }
        timelines[number] = Array(timelines[number].sorted { $0.time < $1.time }.suffix(Self.eventsOfHost))
    }

    // MARK: - Reading it

    /// The newest events of a host, the oldest first.
    package func timeline(of host: String) -> [PageEvent] {
        guard let number = numbers[host] else { return [] }
        return Array(timelines[number].sorted { $0.time < $1.time }.suffix(Self.eventsOfHost))
    }

    /// The past of the roster's hosts, by their indexes in the roster.
    package func pasts(of roster: Roster, _ engine: EngineFacts) -> [HostPast] {
        roster.hosts.enumerated().map { past(of: $1, $0, engine) }
    }

    /// - Parameter member: Its index in the roster.
    func past(of host: RosterHost, _ member: Int, _ engine: EngineFacts) -> HostPast {
        let record = numbers[host.id].map { records[$0] } ?? PresenceRecord()
        let intervals = PresenceJudge.intervals(record, host, engine, runs)
        return HostPast(intervals, member: member, since: start, known: known, until: engine.now)
    }

    /// When the roster's hosts were away, by their indexes in the roster, the earliest first.
    package func absences(of roster: Roster, _ engine: EngineFacts) -> [Absence] {
        pasts(of: roster, engine).sortedAbsences
    }

    /// The roster's hosts, with what they have in common with others.
    package func members(of roster: Roster) -> [FleetMember] {
        roster.hosts.map { host in FleetMember(host, address: numbers[host.id].flatMap { addresses[$0] }) }
    }
}

extension FleetPage {
    /// The page of a fleet, as the engine holds it.
    package init(
        _ roster: Roster, _ history: FleetHistory, _ engine: EngineFacts, notes: OperatorNotes = OperatorNotes(),
        systems: ASNTable = ASNTable(),
        _ options: OutageOptions = OutageOptions()
    ) {
        self.init(asOf: engine.now, written: engine.now)
        let pasts = history.pasts(of: roster, engine)
        outages = OutageFinder.find(pasts.sortedAbsences, among: history.members(of: roster), systems: systems, options)
        hosts = zip(roster.hosts, pasts).map { host, past in
            var line = PageHost(host, engine)
            line.quiet = notes.quietReason(host, line.presence, at: engine.now)
            line.timeline = history.timeline(of: host.id)
            line.known = past.known(since: history.known)
            return line
        }
        lines = FleetLine.list(roster.hosts, engine)
        self.pasts = pasts
        strips = pasts.map { AbsenceStrip.text($0, asOf: engine.now, known: history.known) }
        (known, isCut) = (history.known, history.known > history.start)
        if roster.damaged > 0 {
            engineNotes.append("\(roster.damaged) entries cannot be read, the last: \(roster.lastDamage ?? "")")
        }
    }
}
