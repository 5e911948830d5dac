internal import ArgumentParser
internal import ReachCore
internal import ReachFleet
internal import ReachFleetLink
internal import ReachPage
internal import ReachTerminal

struct FleetReportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Print how available the hosts were: all of them, those with each label, and each host.",
        discussion: """
            From the hosts' own events, and where they have not come, from connections and leases that ended. What is \
            not known counts for nothing: the time before a host was first heard of, and that in which it was switched \
            off. Nor does the absence in a time of `quiet`.

            Exit status: 0 printed.

            Example: reach fleet report --since 30d --html > report.html
            """)

    @Option(
        help: ArgumentHelp(
            "How far back to begin: a duration such as 30d, or a time such as 2026-11-01, in UTC.", valueName: "begin"))
    var since = "7d"

    @Flag(help: "Print one HTML file, for a browser or a printer.")
    var html = false

    @Flag(help: "Print lines for a spreadsheet.")
    var csv = false

    @Flag(help: "Print a JSON object.")
    var json = false

    @Option(
        name: .customLong("where"),
        help: ArgumentHelp("Only these hosts, as for status. May be repeated; all must match.", valueName: "query"))
    var queries: [String] = []

    @OptionGroup var engine: EngineOptions

    func validate() throws {
        guard [html, csv, json].filter({ $0 }).count <= 1 else {
            throw ValidationError("--html, --csv and --json exclude each other")
        }
        _ = try begin(before: Timestamp(nanosecondsSince1970: 0))
        _ = try query()
    }

    private func query() throws -> HostQuery {
        try queries.reduce(HostQuery.all) { try $0.and(FleetArgument.query($1)) }
    }

    private func begin(before now: Timestamp) throws -> Timestamp {
        if let duration = DurationText.parse(since), duration > .zero { return now + (.zero - duration) }
        let whole = since.utf8.count == 10 ? since + "T00:00:00Z" : since
        guard let time = Timestamp(whole) else {
            throw ValidationError("--since '\(since)' is neither a duration such as 30d nor a time such as 2026-11-01")
        }
        return time
    }

    func run() throws {
        let link = try engine.connect()
        let query = try query()
        let now = try ServerStatus.present(link)
        let start = try begin(before: now)
        guard start < now else { throw FleetFailure(.usage, "--since is in the future") }
        let record = try FleetRecord(
            link, window: start.duration(to: now), .whole, timelines: false,
            selecting: query == .all ? nil : { query.includes($0, $1) })
        let report = record.report(from: start) { query.includes($0, $1) }
        if report.hosts.isEmpty, let hint = query.hint(among: record.view.roster.hosts) {
            StandardError.write("reach-fleet: \(hint)\n")
        }
        if json {
            StandardOutput.writeJSON { $0.fleetReport(report) }
        } else if csv {
            StandardOutput.write(FleetReportCSV.text(report))
        } else if html {
            var generator = SystemRandomNumberGenerator()
            let page = FleetReportPage(report, stamp: TimeText.describe).html(nonce: HTMLPage.nonce(&generator))
            StandardOutput.write(String(decoding: page, as: UTF8.self))
        } else {
            StandardOutput.write(lines: Self.text(report))
        }
    }

    private static func text(_ report: FleetReport) -> String {
        let style = TerminalStyle.current
        var text = "from \(TimeText.describe(report.from)) to \(TimeText.describe(report.to))\n"
        for table in FleetReportTable.all(of: report) {
            let heading = table.heading.map { TextTable.Cell(DisplayText.sanitized($0.uppercased()), .grey) }
            let rows = table.rows.map { $0.map { TextTable.Cell(DisplayText.sanitized($0)) } }
            text += "\n" + style.paint(DisplayText.sanitized(table.title), .bold) + "\n"
            text += TextTable(style: style, width: StandardOutput.width).layOut([heading] + rows)
        }
        text += "\n" + style.paint("Outages of several hosts", .bold) + "\n"
        guard let outages = report.outages else { return text + FleetReport.outagesUnread + "\n" }
        let lines = outages.map { $0.sentence.text(writing: TimeText.describe) + "\n" }.joined()
        return text + (lines.isEmpty ? "none\n" : lines)
    }
}
