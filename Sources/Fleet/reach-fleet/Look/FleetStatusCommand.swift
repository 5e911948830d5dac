internal import ArgumentParser
internal import ReachCore
internal import ReachFleet
internal import ReachTerminal

struct FleetStatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Print a line for each host: its word, since when, and why.",
        discussion: """
            The words: here, limited (connected, but a portal, a limited path or a target that is down), silent (its lease \
            ran out), left (it said goodbye), unseen (it has never connected). Silence is presumed until the host is back \
            and says what happened.

            Exit status: 0 printed, whatever the words.
            """)

    @Flag(help: "Only hosts that are not here: silent, left, unseen.")
    var offline = false

    @Flag(help: "Print a JSON object for each host, one a line.")
    var json = false

    @OptionGroup var filters: FilterOptions
    @OptionGroup var engine: EngineOptions

    func run() throws {
        var filter = try filters.filter()
        filter.isOffline = offline
        let view = try FleetView.read(try engine.connect())
        var totals = RosterTotals()
        var rows: [(host: RosterHost, presence: HostPresence)] = []
        for host in view.roster.hosts {
            let presence = host.presence(view.engine)
            guard filter.includes(host, presence) else { continue }
            totals.add(presence.word)
            rows.append((host, presence))
        }
        rows.sort { $0.host.id < $1.host.id }
        guard !json else { return Self.writeJSON(rows) }
        RosterText(style: .current, width: StandardOutput.width, now: view.engine.now).write(rows) {
            StandardOutput.write($0)
        }
        StandardOutput.write(totals.sentence + "\n" + Self.notes(view))
    }

    private static func writeJSON(_ rows: [(host: RosterHost, presence: HostPresence)]) {
        for start in stride(from: 0, to: rows.count, by: 256) {
            StandardOutput.writeJSON(Array(rows[start..<min(start + 256, rows.count)])) { json, row in
                json.object {
                    $0.field("v", 1)
                    $0.field("type", "fleet-host")
                    $0.members(of: row.host, row.presence)
                }
            }
        }
    }

    private static func notes(_ view: FleetView) -> String {
        guard view.roster.damaged > 0 else { return "" }
        let last = view.roster.lastDamage.map { "; the last: \($0)" } ?? ""
        return "\(view.roster.damaged) values could not be read\(last)\n"
    }
}
