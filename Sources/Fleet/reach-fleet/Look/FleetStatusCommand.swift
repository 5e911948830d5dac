internal import ArgumentParser
internal import ReachCore
internal import ReachFleet
internal import ReachTerminal

struct FleetStatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Print a line for each host: its word, since when, and why.",
        discussion: """
            The words: online, limited (connected, but a portal, a limited path or a target that is down), silent (its \
            lease ran out), left (it said goodbye), unseen (it has never connected). Silence is presumed until the \
            host is back and says what happened.

            Exit status: 0 printed, whatever the words.

            Example: reach fleet status --offline
            """)

    @Flag(help: "Only hosts that are not online: silent, left, unseen.")
    var offline = false

    @Flag(help: "Count the hosts of each version instead.")
    var versions = false

    @Flag(help: "The lines that the hosts are behind instead: those with one public address are one.")
    var lines = false

    @Flag(help: "Only hosts that are retired.")
    var retired = false

    @Flag(help: "Print a JSON object for each host, one a line.")
    var json = false

    @OptionGroup var filters: FilterOptions
    @OptionGroup var engine: EngineOptions

    func run() throws {
        var filter = try filters.filter()
        filter.isOffline = offline
        let view = try FleetView.read(try engine.connect(), allConnections: lines)
        var totals = RosterTotals()
        var rows: [(host: RosterHost, presence: HostPresence)] = []
        for host in retired ? view.roster.retired : view.roster.hosts {
            let presence = host.presence(view.engine)
            guard filter.includes(host, presence) else { continue }
            totals.add(presence)
            rows.append((host, presence))
        }
        rows.sort { $0.host.id < $1.host.id }
        if rows.isEmpty, let hint = filter.query.hint(among: retired ? view.roster.retired : view.roster.hosts) {
            StandardError.write("reach-fleet: \(hint)\n")
        }
        if lines { return LineText(view, of: Set(rows.map(\.host.id))).write(json: json) }
        if versions { return VersionCount(rows.map(\.host)).write(json: json) }
        guard !json else { return Self.writeJSON(rows, view) }
        var text = RosterText(style: .current, now: view.engine.now)
        text.showsVersions = Set(rows.compactMap(\.host.report?.version)).count > 1
        text.quiet = { view.notes.quietReason($0, $1, at: view.engine.now) }
        text.write(rows) { StandardOutput.write(lines: $0) }
        let more = retired || view.roster.retired.isEmpty ? "" : "; \(view.roster.retired.count) retired"
        StandardOutput.write(lines: totals.sentence + more + "\n" + Self.notes(view))
    }

    private static func writeJSON(_ rows: [(host: RosterHost, presence: HostPresence)], _ view: FleetView) {
        for start in stride(from: 0, to: rows.count, by: 256) {
            StandardOutput.writeJSON(Array(rows[start..<min(start + 256, rows.count)])) { json, row in
                view.write(row.host, row.presence, to: &json)
            }
        }
    }

    private static func notes(_ view: FleetView) -> String {
        guard view.roster.damaged > 0 else { return "" }
        let last = view.roster.lastDamage.map { "; the last: \($0)" } ?? ""
        return "\(view.roster.damaged) values could not be read\(last)\n"
    }
}

extension FleetView {
    /// Writes a host as `status --json` does.
    func write(_ host: RosterHost, _ presence: HostPresence, to json: inout JSONWriter) {
        json.object {
            $0.field("v", 1)
            $0.field("type", "fleet-host")
            $0.members(of: host, presence, quiet: notes.quietReason(host, presence, at: engine.now))
        }
    }

    /// Writes a line for each host.
    func writeStatus(_ json: inout JSONWriter) {
        for host in roster.hosts.sorted(by: { $0.id < $1.id }) {
            write(host, host.presence(engine), to: &json)
            json.newline()
        }
    }
}

/// How many hosts run which version of reach.
struct VersionCount {
    /// The most frequent first. `nil` is of hosts that have not reported one.
    let counts: [(version: String?, hosts: Int)]

    init(_ hosts: [RosterHost]) {
        var counts: [String?: Int] = [:]
        for host in hosts { counts[host.report?.version, default: 0] += 1 }
        self.counts = counts.map { (version: $0.key, hosts: $0.value) }
            .sorted { ($1.hosts, $0.version ?? "") < ($0.hosts, $1.version ?? "") }
    }

    func write(json: Bool) {
        guard !json else {
            return StandardOutput.writeJSON(counts) { json, count in
                json.object {
                    $0.field("v", 1)
                    $0.field("type", "fleet-version")
                    $0.field("version", count.version)
                    $0.field("hosts", Int64(count.hosts))
                }
            }
        }
        let rows = counts.map { [TextTable.Cell($0.version ?? "not reported"), TextTable.Cell("\($0.hosts)")] }
        StandardOutput.write(
            lines: TextTable(style: .current, width: StandardOutput.width).layOut(
                [["VERSION", "HOSTS"].map { TextTable.Cell($0, .grey) }] + rows))
    }
}

/// Which hosts a command shows.
struct FilterOptions: ParsableArguments {
    @Option(
        name: .customLong("where"),
        help: ArgumentHelp(
            "Only these hosts, such as 'site=berlin-* and not (class=wwan or state=silent)'. May be repeated; all must "
                + "match.", valueName: "query"))
    var queries: [String] = []

    @Option(
        name: .customLong("class"),
        help: ArgumentHelp("Only hosts whose path uses this class of link.", valueName: "class"),
        transform: { text in
            guard let linkClass = LinkClass(rawValue: text) else {
                let words = LinkClass.allCases.map(\.rawValue).joined(separator: ", ")
                throw ValidationError("'\(text)' is not a class of links: \(words)")
            }
            return linkClass
        })
    var linkClass: LinkClass?

    func validate() throws { _ = try filter() }

    func filter() throws -> RosterFilter {
        var filter = RosterFilter()
        filter.linkClass = linkClass
        for text in queries { filter.query = filter.query.and(try FleetArgument.query(text)) }
        return filter
    }
}
