package import ReachCore
internal import ReachPage
internal import ReachRecords

/// A report as one HTML file without scripts, for a browser or a printer: tables, and for each label and host a bar of
/// the window.
package struct FleetReportPage {
    /// The most hosts whose bars are drawn. All are in the table.
    static let barLimit = 2_000

    let report: FleetReport
    /// How a time is written.
    let stamp: (Timestamp) -> String

    package init(_ report: FleetReport, stamp: @escaping (Timestamp) -> String) {
        self.report = report
        self.stamp = stamp
    }

    /// - Parameter nonce: See ``HTMLPage/head(title:nonce:styles:hasScript:)``.
    package func html(nonce: String) -> [UInt8] {
        var output = HTMLPage.head(title: "Availability of the fleet", nonce: nonce, styles: Self.styles.utf8)
        output += "<header><h1>Availability of the fleet</h1>\n<p>From <b>\(stamp(report.from))</b> to ".utf8
        output += "<b>\(stamp(report.to))</b>, \(report.hosts.count) hosts.</p></header>\n<main>\n".utf8
        for (number, table) in FleetReportTable.all(of: report).enumerated() { output += section(table, number).utf8 }
        output += HTMLPage.section("shapes", "Shapes", TimeStrip.legend()).utf8
        output += outages.utf8
        output += "</main>\n</html>\n".utf8
        return output
    }

    private func section(_ table: FleetReportTable, _ number: Int) -> String {
        let bars = bars(of: table)
        let rows = table.rows.enumerated().map { index, row in
            let cells = row.map { HTMLTable.Cell($0) }
            guard !bars.isEmpty else { return cells }
            return cells + [index < bars.count ? .strip(bars[index]) : HTMLTable.Cell("")]
        }
        let html = HTMLTable(
            caption: table.caption, heading: table.heading + (bars.isEmpty ? [] : ["When"]), rows: rows)
        return HTMLPage.section("table-\(number)", table.title, html.html)
    }

    private func bars(of table: FleetReportTable) -> [TimeStrip] {
        if table.title == "By host" {
            return report.hosts.prefix(Self.barLimit).map { bar([$0]) }
        }
        return report.groups.filter { "By \($0.label)" == table.title }.prefix(Self.barLimit).map { group in
            bar(group.hosts.map { report.hosts[$0] })
        }
    }

    // MARK: - Pictures

    private static let cells = 60

    /// The window in cells, for the hosts together: the share of their time that was lost.
    private func bar(_ hosts: [FleetReport.Host]) -> TimeStrip {
        let (begin, end) = (report.from.nanosecondsSince1970, report.to.nanosecondsSince1970)
        let cell = max(1, (end - begin) / Int64(Self.cells))
        // Of many hosts together a cell may have more nanoseconds than an integer.
        var (away, unknown) = ([Double](repeating: 0, count: Self.cells), [Double](repeating: 0, count: Self.cells))
        func count(_ from: Int64, _ to: Int64, _ times: inout [Double]) {
            let (from, to) = (max(from, begin), min(to, begin + cell * Int64(Self.cells)))
            guard from < to else { return }
            for index in Int((from - begin) / cell)...Int((to - 1 - begin) / cell) {
                let start = begin + Int64(index) * cell
                times[index] += Double(min(to, start + cell) - max(from, start))
            }
        }
        for past in hosts.map(\.past) {
            for absence in past.absences where !absence.isSwitchedOff {
                count(
                    absence.start?.nanosecondsSince1970 ?? .min, absence.end?.nanosecondsSince1970 ?? .max, &away)
            }
            for span in past.uncounted { count(span.lowerBound, span.upperBound, &unknown) }
        }
        let all = Double(cell) * Double(max(1, hosts.count))
        let cells = zip(away, unknown).map { away, unknown in
            guard unknown < all else { return TimeShare(notObserved: all).level }
            return TimeShare(up: max(0, all - away - unknown), down: away).level
        }
        let lost = away.count { $0 > 0 }
        return TimeStrip(
            cells, label: lost == 0 ? "never away" : "away in \(lost) of \(Self.cells) parts of the time")
    }

    private var outages: String {
        let items = (report.outages ?? []).map { outage in
            let more = outage.addition.map { "<br><small>\(HTMLPage.escaped($0))</small>" } ?? ""
            return "<li>\(HTMLPage.escaped(outage.sentence.text(writing: stamp)))\(more)</li>\n"
        }
        let none = report.outages == nil ? "Outages were \(FleetReport.outagesUnread)." : "None of several hosts."
        let list = items.isEmpty ? "<p>\(HTMLPage.escaped(none))</p>\n" : "<ul>\n\(items.joined())</ul>\n"
        return HTMLPage.section("outages", "Outages of several hosts", list)
    }

    private static let styles = """
        body{max-width:1200px}
        th,td{text-align:right;white-space:nowrap}th:first-child,td:first-child{text-align:left}
        td .strip{width:140px;height:16px}
        section>ul:not(.legend){padding-left:18px}li{padding:3px 0}small{color:var(--muted)}

        """
}
