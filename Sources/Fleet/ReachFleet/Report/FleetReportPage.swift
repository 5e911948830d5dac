package import ReachCore

/// A report as one HTML file without scripts, for a browser or a printer: tables, and for each label and host a bar of the window.
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
        var output = HTMLPage.head(
            title: "Availability of the fleet", nonce: nonce, styles: Self.styles.utf8, hasScript: false)
        output += "<header><h1>Availability of the fleet</h1>\n<p>From <b>\(stamp(report.from))</b> to ".utf8
        output += "<b>\(stamp(report.to))</b>, \(report.hosts.count) hosts.</p></header>\n<main>\n".utf8
        for table in FleetReportTable.all(of: report) { output += section(table).utf8 }
        output += outages.utf8
        output += "</main>\n</html>\n".utf8
        return output
    }

    private func section(_ table: FleetReportTable) -> String {
        let bars = bars(of: table)
        let isNamed = table.title != "Availability"
        var html = "<section>\n<h2>\(HTMLPage.escaped(table.title))</h2>\n<div class=\"wide\"><table>\n<caption>"
        html += HTMLPage.escaped(table.caption) + "</caption>\n<thead><tr>"
        for name in table.heading { html += "<th scope=\"col\">\(HTMLPage.escaped(name))</th>" }
        html += (bars.isEmpty ? "" : "<th scope=\"col\">When</th>") + "</tr></thead>\n<tbody>\n"
        for (index, row) in table.rows.enumerated() {
            html += "<tr>"
            for (column, cell) in row.enumerated() {
                let text = HTMLPage.escaped(cell)
                html += column == 0 && isNamed ? "<th scope=\"row\">\(text)</th>" : "<td>\(text)</td>"
            }
            html += (bars.isEmpty ? "" : "<td>\(index < bars.count ? bars[index] : "")</td>") + "</tr>\n"
        }
        return html + "</tbody></table></div>\n</section>\n"
    }

    private func bars(of table: FleetReportTable) -> [String] {
        if table.title == "By host" {
            return report.hosts.prefix(Self.barLimit).map { bar([$0]) }
        }
        return report.groups.filter { "By \($0.label)" == table.title }.prefix(Self.barLimit).map { group in
            bar(group.hosts.map { report.hosts[$0] })
        }
    }

    // MARK: - Pictures

    private static let cells = 60

    /// The window in cells. A cell's height says the same as its colour: the lower, the more of the hosts' time was lost. Of
    /// a low and pale one nothing is known.
    private func bar(_ hosts: [FleetReport.Host]) -> String {
        let (begin, end) = (report.from.nanosecondsSince1970, report.to.nanosecondsSince1970)
        let cell = max(1, (end - begin) / Int64(Self.cells))
        var away = [Int64](repeating: 0, count: Self.cells)
        for absence in hosts.flatMap(\.absences) where !absence.isSwitchedOff {
            let from = max(absence.start?.nanosecondsSince1970 ?? .min, begin)
            let to = min(absence.end?.nanosecondsSince1970 ?? .max, begin + cell * Int64(Self.cells))
            guard from < to else { continue }
            for index in Int((from - begin) / cell)...Int((to - 1 - begin) / cell) {
                let start = begin + Int64(index) * cell
                away[index] += min(to, start + cell) - max(from, start)
            }
        }
        let all = Double(cell) * Double(max(1, hosts.count))
        let lost = away.filter { $0 > 0 }.count
        let known = hosts.map { $0.known?.nanosecondsSince1970 ?? .min }.min() ?? .min
        let words = lost == 0 ? "never away" : "away in \(lost) of \(Self.cells) parts of the time"
        var svg = "<svg class=\"bar\" viewBox=\"0 0 \(Self.cells * 3) 16\" role=\"img\" aria-label=\"\(words)\">"
        for (index, time) in away.enumerated() {
            let share = min(1, Double(time) / all)
            let isKnown = known < begin + cell * Int64(index + 1)
            let height = !isKnown ? 3 : time == 0 ? 14 : max(2, 12 - Int(share * 10))
            let kind = !isKnown ? "n" : time == 0 ? "g" : share < 0.5 ? "w" : "b"
            svg += "<rect class=\"\(kind)\" x=\"\(index * 3)\" y=\"\(15 - height)\" width=\"2\" height=\"\(height)\"/>"
        }
        return svg + "</svg>"
    }

    private var outages: String {
        let items = report.outages.map { outage in
            let more = outage.addition.map { "<br><small>\(HTMLPage.escaped($0))</small>" } ?? ""
            return "<li>\(HTMLPage.escaped(outage.sentence.text(writing: stamp)))\(more)</li>\n"
        }
        let list = items.isEmpty ? "<p>None of several hosts.</p>\n" : "<ul>\n\(items.joined())</ul>\n"
        return "<section>\n<h2>Outages of several hosts</h2>\n\(list)</section>\n"
    }

    private static let styles = """
        body{margin:0 auto;max-width:1200px;padding:16px clamp(12px,3vw,32px);background:var(--bg);color:var(--text);
        font:14px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;font-variant-numeric:tabular-nums}
        h1{font-size:20px}h2{font-size:15px;margin:22px 0 6px}
        .wide{overflow-x:auto;background:var(--surface);border:1px solid var(--line);border-radius:8px}
        table{border-collapse:collapse;width:100%}
        caption{text-align:left;color:var(--muted);padding:8px 10px}
        th,td{padding:5px 10px;text-align:right;border-top:1px solid var(--line);white-space:nowrap}
        th:first-child,td:first-child,thead th:first-child{text-align:left}
        thead th{color:var(--muted);font-weight:600}
        .bar{width:140px;height:16px;display:block}
        .g{fill:var(--idle)}.w{fill:var(--c1)}.b{fill:var(--c2)}.n{fill:var(--line)}
        li{padding:3px 0}small{color:var(--muted)}
        @media print{body{padding:0;max-width:none}.wide{border:0;overflow:visible}tr{break-inside:avoid}}

        """
}
