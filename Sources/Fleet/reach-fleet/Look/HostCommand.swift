internal import ArgumentParser
internal import ReachCore
internal import ReachFleet
internal import ReachFleetLink
internal import ReachTerminal

struct HostCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "host",
        abstract: "Print all about one host: its state, its latest events, its connection, what is wanted of it.",
        discussion: """
            Exit status: 0 here or limited, 1 silent, left or unseen, 3 no such host.

            Example: reach fleet host till-7
            """)

    @Argument(help: "The host's identity.", transform: { try FleetArgument.host($0) })
    var host: String

    @Option(help: "The most events to print, the latest.")
    var events = 20

    @Flag(help: "Print one JSON object.")
    var json = false

    @OptionGroup var engine: EngineOptions

    func validate() throws {
        guard (0...10_000).contains(events) else { throw ValidationError("--events is 0 to 10000") }
    }

    func run() throws {
        let link = try engine.connect()
        let jetStream = JetStream(link)
        var view = try FleetView(jetStream)
        try read(&view, jetStream)
        guard let found = view.roster[host] else {
            throw FleetFailure(.unknown, "no host '\(host)' is known\(try hint(jetStream))")
        }
        let latest = try latestEvents(jetStream)
        let desired = try wanted(found, jetStream)
        let presence = found.presence(view.engine)
        let report = HostReport(
            host: found, presence: presence, events: latest, desired: desired, now: view.engine.now)
        if json {
            StandardOutput.writeJSON { report.write(to: &$0) }
        } else {
            StandardOutput.write(lines: report.text)
        }
        if presence.word.isAway || presence.word == .unseen { throw FleetFailure(.found) }
    }

    private func hint(_ jetStream: JetStream) throws(NATSError) -> String {
        let roster = try FleetView.read(jetStream.link).roster
        return NearestWord.hint(for: host, among: roster.hosts.map(\.id).sorted())
    }

    private func read(_ view: inout FleetView, _ jetStream: JetStream) throws(NATSError) {
        if let entry = try jetStream.entry(host, in: HostList.bucket), let value = entry.value {
            view.roster.apply(listed: host, HostList.entry(host, value))
        }
        try view.readNote(of: host, jetStream)
        if let entry = try jetStream.entry(host, in: FleetNames.state) {
            view.roster.apply(state: entry.value, of: host, storedAt: entry.time)
        }
        if let entry = try jetStream.entry(host, in: FleetNames.lease) {
            view.roster.apply(
                lease: entry.value, of: host, storedAt: entry.time, isExpired: entry.isExpired)
        }
        try view.readConnections(jetStream, all: true)
        view.engine.now = view.present
    }

    private func latestEvents(_ jetStream: JetStream) throws(NATSError) -> [TimelineEvent] {
        guard events > 0 else { return [] }
        var timeline = FleetTimeline()
        var latest: [TimelineEvent] = []
        try jetStream.read(FleetNames.events, filter: FleetNames.eventSubject(of: host), from: .first) { message in
            latest += timeline.apply(
                subject: message.subject, headers: message.headers, payload: message.payload, storedAt: message.time,
                sequence: message.sequence)
            if latest.count > 2 * events { latest.removeFirst(latest.count - events) }
        }
        return latest.suffix(events)
    }

    /// The documents that concern the host, the most specific first.
    private func wanted(_ found: RosterHost, _ jetStream: JetStream) throws(NATSError) -> [HostReport.Wanted] {
        var list: [HostReport.Wanted] = []
        for key in DesiredState.keys(host: host, groups: found.report?.groups ?? []) {
            guard let entry = try jetStream.entry(key, in: FleetNames.desired), let value = entry.value,
                let document = try? DesiredState(value)
            else { continue }
            list.append(HostReport.Wanted(key: key, revision: entry.revision, document: document))
        }
        return list
    }
}
