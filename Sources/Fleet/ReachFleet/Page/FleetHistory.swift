package import ReachCore

/// What happened in a fleet within a window of time: for each host its timeline, and when it went away and returned.
///
/// Feed it in any order; its memory is proportional to the window.
package struct FleetHistory: Sendable {
    /// The newest events of a host that are kept for its timeline.
    package static let eventsOfHost = PageData.eventsOfHost
    /// The newest changes of a host that count: one that flaps each minute for three days has as many. A host that writes more
    /// must not use up a reader's memory.
    package static let changesOfHost = 4_320

    /// The start of the window.
    package private(set) var start: Timestamp
    /// Since when everything is known that the streams hold: ``start``, or later if older messages were left out.
    package private(set) var known: Timestamp
    private var numbers: [String: Int] = [:]
    private var changes: [PresenceChange] = []
    /// How many of the changes are of each host.
    private var counts: [Int] = []
    private var timelines: [[PageEvent]] = []
    private var addresses: [IPAddress?] = []
    /// When each host's first event of all happened, if that is within the window and nothing was heard before.
    private var begins: [Timestamp?] = []
    /// Of which hosts events came.
    private var isHeard: [Bool] = []

    /// Whether it keeps what hosts' timelines show. Sentences about all events take most of the time of reading them.
    private let keepsTimelines: Bool

    package init(since start: Timestamp, keepsTimelines: Bool = true) {
        (self.start, known) = (start, start)
        self.keepsTimelines = keepsTimelines
    }

    /// One without content, for the same time.
    package var emptied: FleetHistory { FleetHistory(since: start, keepsTimelines: keepsTimelines) }

    /// How many changes are kept, of all hosts.
    package var changeCount: Int { changes.count }

    /// How many events are kept, of all hosts.
    package var eventCount: Int { timelines.reduce(0) { $0 + $1.count } }

    // MARK: - Feeding it

    /// An event of a host.
    package mutating func apply(_ event: TimelineEvent) {
        guard event.time >= start else { return }
        let number = number(of: event.host)
        if event.event.n == 1, !isHeard[number] { begins[number] = event.time }
        isHeard[number] = true
        if keepsTimelines { append(PageEvent(event), number) }
        // A clock that may be wrong by years decides nothing about others.
        guard case .status(let status, let previous, _, _) = event.event.kind, status.target == "internet",
            status.status != .unknown, status.status != previous, !event.isHostClock
        else { return }
        append(
            PresenceChange(
                member: number, time: event.time, isHere: status.status == .reachable, evidence: .confirmed,
                reason: status.reason, provesAbsence: previous == .notReachable))
    }

    /// A connection that began or ended, as the server reported it.
    package mutating func apply(_ advisory: ConnectionAdvisory, of host: String) {
        let number = number(of: host)
        addresses[number] = advisory.address ?? addresses[number]
        if let begin = begins[number] {
            // A new host connects before it has an event; one that was there long before only has a new journal.
            begins[number] = advisory.time + .seconds(3600) < begin ? nil : min(begin, advisory.time)
        }
        guard advisory.time >= start else { return }
        if keepsTimelines {
            let why = advisory.isUp ? advisory.address.map { "from \($0)" } : advisory.reason
            append(
                PageEvent(
                    time: advisory.time, word: advisory.isUp ? .here : .silent,
                    what: advisory.isUp ? "connected" : "connection ended", why: why), number)
        }
        append(
            PresenceChange(
                member: number, time: advisory.time, isHere: advisory.isUp,
                isClosing: !advisory.isUp && advisory.reason?.hasUTF8Prefix("Client Closed") == true))
    }

    /// Moves the start of the window.
    package mutating func forget(before start: Timestamp) {
        self.start = start
        known = max(known, start)
        changes.removeAll { $0.time < start }
        countChanges()
    }

    /// Messages that the engine stored before this time were not read.
    package mutating func leaveOut(before time: Timestamp) { known = max(known, time) }

    private mutating func append(_ change: PresenceChange) {
        changes.append(change)
        counts[change.member] += 1
        guard counts[change.member] >= 2 * Self.changesOfHost else { return }
        let times = changes.filter { $0.member == change.member }.map(\.time).sorted()
        let oldest = times[times.count - Self.changesOfHost]
        changes.removeAll { $0.member == change.member && $0.time < oldest }
        countChanges()
    }

    private mutating func countChanges() {
        counts = [Int](repeating: 0, count: timelines.count)
        for change in changes { counts[change.member] += 1 }
    }

    private mutating func number(of host: String) -> Int {
        if let number = numbers[host] { return number }
        let number = timelines.count
        numbers[host] = number
        timelines.append([])
        counts.append(0)
        addresses.append(nil)
        begins.append(nil)
        isHeard.append(false)
        return number
    }

    private mutating func append(_ event: PageEvent, _ number: Int) {
        timelines[number].append(event)
        guard timelines[number].count >= 2 * Self.eventsOfHost else { return }
        timelines[number] = Array(timelines[number].sorted { $0.time < $1.time }.suffix(Self.eventsOfHost))
    }

    // MARK: - Reading it

    /// Since when a host is known within the window; `nil` for all of it.
    package func known(of host: RosterHost, since start: Timestamp) -> Timestamp? {
        let begin = numbers[host.id].flatMap { begins[$0] }
        guard self.known > start else { return begin }
        return max(begin ?? self.known, self.known)
    }

    /// The newest events of a host, the oldest first.
    package func timeline(of host: String) -> [PageEvent] {
        guard let number = numbers[host] else { return [] }
        return Array(timelines[number].sorted { $0.time < $1.time }.suffix(Self.eventsOfHost))
    }

    /// When the roster's hosts were away, by their indexes in the roster. A host that is silent now and has no change was
    /// silent since its word says.
    package func absences(of roster: Roster, _ engine: EngineFacts) -> [Absence] {
        let hosts = roster.hosts
        var members = [Int](repeating: -1, count: timelines.count)
        var changes: [PresenceChange] = []
        var isHere: [Bool] = []
        isHere.reserveCapacity(hosts.count)
        var left: Set<Int> = []
        for (member, host) in hosts.enumerated() {
            if let number = numbers[host.id] { members[number] = member }
            let presence = host.presence(engine)
            if presence.word == .left { left.insert(member) }
            // A host that said goodbye or never connected cannot be affected by an outage.
            isHere.append(presence.word == .here || presence.word == .limited)
            guard presence.word == .silent, let since = presence.since, since >= start else { continue }
            changes.append(
                PresenceChange(member: member, time: since, isHere: false, vagueness: host.vagueness))
        }
        for change in self.changes where members[change.member] >= 0 {
            changes.append(change.moved(to: members[change.member]))
        }
        var absences = Absence.list(of: changes, isHere: isHere)
        for index in absences.indices where absences[index].end == nil && left.contains(absences[index].member) {
            absences[index].isGoodbye = true
        }
        return absences
    }

    /// The roster's hosts, with what they have in common with others.
    package func members(of roster: Roster) -> [FleetMember] {
        roster.hosts.map { host in FleetMember(host, address: numbers[host.id].flatMap { addresses[$0] }) }
    }
}

extension PresenceChange {
    fileprivate func moved(to member: Int) -> PresenceChange {
        PresenceChange(
            member: member, time: time, isHere: isHere, evidence: evidence, reason: reason,
            provesAbsence: provesAbsence, vagueness: vagueness, isClosing: isClosing)
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
        let absences = history.absences(of: roster, engine)
        outages = OutageFinder.find(absences, among: history.members(of: roster), systems: systems, options)
        hosts = roster.hosts.map { host in
            var line = PageHost(host, engine)
            line.quiet = notes.quietReason(host, line.presence, at: engine.now)
            line.timeline = history.timeline(of: host.id)
            line.known = history.known(of: host, since: history.known)
            return line
        }
        self.absences = absences.byMember(of: hosts.count)
        strips = zip(self.absences, hosts).map { absences, host in
            AbsenceStrip.text(absences, asOf: engine.now, known: host.known ?? history.known)
        }
        (known, isCut) = (history.known, history.known > history.start)
        if roster.damaged > 0 {
            engineNotes.append("\(roster.damaged) entries cannot be read, the last: \(roster.lastDamage ?? "")")
        }
    }
}
