internal import ReachCore
internal import ReachFleet
internal import ReachTerminal

/// The lines of a fleet, for people and for programs.
struct LineText {
    private static let headings = ["LINE", "STATE", "SINCE", "CONNECTED", "HOSTS"]
    /// The most hosts whose names are shown.
    private static let most = 4

    private let lines: [FleetLine]
    private let now: Timestamp

    /// - Parameter hosts: Those that somebody asked for. All hosts of a line say how it is.
    init(_ view: FleetView, of hosts: Set<String>) {
        lines = FleetLine.list(view.roster.hosts, view.engine).filter { $0.hosts.contains(where: hosts.contains) }
        now = view.engine.now
    }

    func write(json: Bool) {
        guard !json else { return StandardOutput.writeJSON(lines) { $0.line($1) } }
        if !lines.isEmpty {
            StandardOutput.write(
                lines: TextTable(style: .current, width: StandardOutput.width).layOut(
                    [Self.headings.map { TextTable.Cell($0, .grey) }] + lines.map(row)))
        }
        var totals = RosterTotals()
        for line in lines { totals.add(line.word) }
        StandardOutput.write(lines: totals.sentence(of: "line") + "\n")
    }

    private func row(_ line: FleetLine) -> [TextTable.Cell] {
        let since = line.since.map { DurationText.describe(max(.zero, $0.duration(to: now))) } ?? ""
        let names = line.hosts.prefix(Self.most).joined(separator: ", ")
        let more = line.hosts.count > Self.most ? " and \(line.hosts.count - Self.most) more" : ""
        return [
            TextTable.Cell(line.name), TextTable.Cell(line.word.shown, line.word.colour), TextTable.Cell(since),
            TextTable.Cell("\(line.connected) of \(line.hosts.count)"), TextTable.Cell(names + more),
        ]
    }
}
