internal import ReachCore
internal import ReachPage
internal import ReachRecords
internal import ReachTerminal

/// A report as one self-contained HTML file without scripts: pictures as SVG, and each picture also as a table.
struct ReportPage {
    let report: Report

    init(_ report: Report) { self.report = report }

    /// - Parameter nonce: See ``HTMLPage/head(title:nonce:styles:hasScript:)``.
    func html(nonce: String) -> [UInt8] {
        let title = report.title
        var output = HTMLPage.head(title: title, nonce: nonce, styles: ReportStyles.text.utf8)
        let sections =
            [particulars, availability, outages] + report.mapped.map(hours) + lines + probes + archives
            + [metered, queue, notes]
        output += "<header><h1>\(HTMLPage.escaped(title))</h1>\n\(period)</header>\n<main>\n".utf8
        for section in sections { output += section.utf8 }
        output += "</main>\n</html>\n".utf8
        return output
    }

    private var period: String {
        let zone = HTMLPage.escaped(report.zoneNames)
        return
            "<p>From <b>\(report.stamp(report.from))</b> to <b>\(report.stamp(report.to))</b>, local time: "
            + "\(zone).</p>\n"
    }

    // MARK: - Sections

    private func section(_ id: String, _ title: String, _ body: String) -> String {
        HTMLPage.section(id, title, body)
    }

    private var particulars: String {
        let items = report.particulars.map {
            "<div><dt>\($0.name)</dt><dd>\(HTMLPage.escaped($0.text))</dd></div>"
        }
        return section("particulars", "Connection", "<dl class=\"facts\">\(items.joined(separator: "\n"))</dl>\n")
    }

    private var availability: String {
        let rows = report.targets.map { figures in
            let summary = figures.summary
            return [
                HTMLTable.Cell(summary.target), .number(summary.uptime.map(PercentText.roundedDown) ?? "not known"),
                .number("\(summary.outages.count)"), .number(DurationText.describe(summary.down)),
                .number(summary.longestOutage.map(DurationText.describe) ?? "–"),
                .number(known(summary.unknown)), .number(known(summary.notObserved)),
            ]
        }
        let table = HTMLTable(
            caption: "Availability is the share of the time in which it is known whether the target could be used.",
            heading: ["Target", "Available", "Outages", "Down", "Longest", "Unknown", "Not observed"], rows: rows)
        return section("availability", "Availability", tiles + table.html)
    }

    private var tiles: String {
        guard let leading = report.leading else { return "" }
        let summary = leading.summary
        let tiles = [
            (summary.target + " available", summary.uptime.map(PercentText.roundedDown) ?? "not known"),
            ("outages", "\(summary.outages.count)"), ("down in all", DurationText.describe(summary.down)),
            ("the longest", summary.longestOutage.map(DurationText.describe) ?? "–"),
        ]
        return HTMLPage.tiles(tiles) + ReportStrip(leading.timeline, report).html
    }

    private func known(_ duration: Duration) -> String { duration > .zero ? DurationText.describe(duration) : "–" }

    private var outages: String {
        guard !report.outages.isEmpty else { return section("outages", "Outages", "<p>There was none.</p>\n") }
        let rows = report.outages.map { outage in
            [
                HTMLTable.Cell(report.stamp(outage.from) + (outage.beganBefore ? " (before the period)" : "")),
                HTMLTable.Cell(outage.isOpen ? "not over" : report.stamp(outage.to)),
                .number(DurationText.describe(outage.duration)), HTMLTable.Cell(outage.target),
                HTMLTable.Cell(outage.cause.layer.rawValue), HTMLTable.Cell(outage.sentenceWithTests),
                HTMLTable.Cell(outage.evidence, isCode: true),
                .number(outage.waiting.map { "\($0)" } ?? "–"),
            ]
        }
        let table = HTMLTable(
            caption:
                "The layer is the lowest part of the way that failed first. Requests are those that waited in "
                + "the queue at the end.",
            heading: ["Began", "Ended", "For", "Target", "Layer", "What failed", "Evidence", "Requests"], rows: rows)
        return section("outages", "Outages", table.html + tests)
    }

    /// What tests found in the outages, step by step.
    private var tests: String {
        report.outages.compactMap { outage in
            guard let tests = outage.tests, !tests.steps.isEmpty else { return nil }
            let steps = tests.steps.map { "<li>\(HTMLPage.escaped($0))</li>" }.joined(separator: "\n")
            return
                "<details open><summary>Tests of \(HTMLPage.escaped(outage.target)) in the outage of "
                + "\(report.stamp(outage.from))</summary>\n<ol>\n\(steps)\n</ol></details>\n"
        }.joined()
    }

    private func hours(_ mapped: Report.HourMapOfTarget) -> String {
        let number = report.mapped.firstIndex { $0.target == mapped.target } ?? 0
        let bad = mapped.map.days.flatMap { day in
            day.hours.enumerated().filter { $0.element.down > 0 }.map { hour, figures in
                [
                    HTMLTable.Cell(day.date), HTMLTable.Cell("\(hour):00"),
                    .number(DurationText.describe(.seconds(figures.down))),
                    .number(figures.downShare.map { PercentText.roundedDown(1 - $0) } ?? "–"),
                ]
            }
        }
        let table = HTMLTable(
            caption: "Hours in which \(mapped.target) was down", heading: ["Day", "Hour", "Down", "Available"],
            rows: bad)
        let earlier =
            mapped.map.earlierDays > 0 ? "<p>\(mapped.map.earlierDays) earlier days are left out.</p>\n" : ""
        let list = bad.isEmpty ? "<p>There was no hour in which it was down.</p>\n" : details("As a table", table)
        let body = earlier + ReportHourMap(mapped).html + list
        return section("hours-\(number)", "Hours of \(mapped.target)", body)
    }

    /// Without lines that were measured there is no section: few daemons measure them.
    private var lines: [String] {
        guard !report.lines.isEmpty else { return [] }
        let body = report.lines.map { series in
            "<h3>\(HTMLPage.escaped(series.interface))</h3>\n" + QualityChart(series, report).html
                + details("As a table", table(series))
        }
        return [section("lines", "Lines: round trips and loss", body.joined())]
    }

    private func table(_ series: QualitySeries) -> HTMLTable {
        let rows = ([series.whole] + series.parts.filter { $0.packets > 0 }).enumerated().map { number, part in
            cells(number == 0 ? nil : part.from, part.figures)
        }
        return HTMLTable(
            caption:
                "Packets over \(series.interface), the share of those that were lost, and percentiles of the "
                + "round trips",
            heading: ["From", "Packets", "Lost", "p10", "p50", "p90"], rows: rows)
    }

    private var probes: [String] {
        switch report.probes {
        case .absent(let why): return [section("probes", "Probes", absent(why))]
        case .recorded(let series):
            let body = series.map { series in
                "<h3>\(HTMLPage.escaped(series.name)) <span>\(HTMLPage.escaped(series.target))</span></h3>\n"
                    + (series.whole.loss == nil
                        ? "<p>No attempt proved anything: this machine had no path, or slept.</p>\n"
                        : ReportChart(series, report).html) + details("As a table", table(series))
            }
            return [section("probes", "Latency and loss of probes", body.joined())]
        }
    }

    private func table(_ series: ProbeSeries) -> HTMLTable {
        let parts = [series.whole] + series.parts.filter { $0.loss != nil || $0.inconclusive > 0 }
        let rows = parts.enumerated().map { number, part in
            cells(number == 0 ? nil : part.from, part.figures)
        }
        return HTMLTable(
            caption:
                "Attempts of \(series.name): percentiles of those that were answered, and the share of those "
                + "that failed",
            heading: ["From", "Attempts", "Lost", "p50", "p90", "p99"], rows: rows)
    }

    /// Without archives there is no section: few daemons keep them.
    private var archives: [String] {
        guard !report.archives.isEmpty else { return [] }
        let body = report.archives.map { series in
            "<h3>\(HTMLPage.escaped(series.name)) <span>\(HTMLPage.escaped(series.target))</span></h3>\n"
                + ArchiveStrip(series, report).html + details("As a table", table(series))
        }
        return [section("archives", "Archives of probes", body.joined())]
    }

    private func table(_ series: ArchiveSeries) -> HTMLTable {
        let parts = [series.whole] + series.parts.filter { $0.availability != nil || $0.paused > .zero }
        let rows = parts.enumerated().map { number, part in
            cells(number == 0 ? nil : part.from, [part.available] + part.figures)
        }
        return HTMLTable(
            caption: "What the archive of \(series.name) has: how long it worked, and the durations of its attempts",
            heading: ["From", "Available", "Attempts", "Lost", "Least", "Mean", "Most"], rows: rows)
    }

    private var metered: String {
        switch report.meteredBytes {
        case .absent(let why): return section("metered", "Bytes by metered link", absent(why))
        case .recorded(let links):
            let rows = links.map { link in
                [
                    HTMLTable.Cell(link.interface), HTMLTable.Cell(link.linkClass),
                    .number(ByteCount.describe(link.received)), .number(ByteCount.describe(link.sent)),
                ]
            }
            let table = HTMLTable(
                caption: "What metered links carried, by whole hours while reachd ran",
                heading: ["Link", "Class", "Received", "Sent"], rows: rows)
            let none = "<p>No metered link carried anything while reachd ran.</p>\n"
            return section("metered", "Bytes by metered link", links.isEmpty ? none : table.html)
        }
    }

    private var queue: String {
        switch report.queue {
        case .absent(let why): return section("queue", "Queue", absent(why))
        case .recorded(let tally):
            let rows = tally.rows.map { [HTMLTable.Cell($0.name), .number($0.text)] }
            let table = HTMLTable(caption: "What the queue did meanwhile", heading: ["Figure", "Value"], rows: rows)
            return section("queue", "Queue", table.html)
        }
    }

    private var notes: String {
        guard !report.notes.isEmpty else { return "" }
        let items = report.notes.map { "<li>\(HTMLPage.escaped($0))</li>" }.joined(separator: "\n")
        return section("notes", "Notes", "<ul>\n\(items)\n</ul>\n")
    }

    /// - Parameter begin: `nil` for all of the time.
    private func cells(_ begin: Timestamp?, _ figures: [String?]) -> [HTMLTable.Cell] {
        [HTMLTable.Cell(begin.map(report.stamp) ?? "all")] + figures.map { .number($0 ?? "–") }
    }

    private func absent(_ why: String) -> String { "<p>Not recorded: \(HTMLPage.escaped(why)).</p>\n" }

    private func details(_ title: String, _ table: HTMLTable) -> String {
        "<details><summary>\(title)</summary>\n\(table.html)</details>\n"
    }
}

/// The parts of an archive as one strip.
struct ArchiveStrip {
    private let series: ArchiveSeries
    private let report: Report

    init(_ series: ArchiveSeries, _ report: Report) { (self.series, self.report) = (series, report) }

    var html: String {
        let bad = series.parts.enumerated().filter { $0.element.fail > .zero }
        let titles = bad.map { number, part in
            (
                number,
                report.stamp(part.from) + ": " + (part.availability.map(PercentText.roundedDown) ?? part.level.words)
            )
        }
        let strip = TimeStrip(
            series.parts.map(\.level), label: "Archive of \(series.name); the table below has the same figures",
            titles: Dictionary(uniqueKeysWithValues: titles), hasGaps: false)
        return "<div class=\"timeline\">\(strip.svg)</div>\n"
            + "<p class=\"ends\"><span>\(report.stamp(report.from))</span><span>\(report.stamp(report.to))</span></p>\n"
    }
}

/// The styles of a report's own pictures; `HTMLStyles` has those of documents.
enum ReportStyles {
    static let text = """
        .facts{margin:0}.facts div{display:grid;grid-template-columns:150px minmax(0,1fr);gap:2px 14px;padding:3px 0}
        .facts dt{color:var(--muted)}.facts dd{margin:0;overflow-wrap:anywhere}
        @media(max-width:560px){.facts div{grid-template-columns:minmax(0,1fr)}}
        ol{margin:4px 0;padding-left:24px}ol li{overflow-wrap:anywhere}
        .timeline .strip{height:34px}
        .map{list-style:none;margin:0;padding:0}
        .day{display:grid;grid-template-columns:max-content 1fr 4.6em;gap:8px;align-items:center;font-size:13px;\
        color:var(--muted)}
        .day>span:first-child{min-width:6.2em;white-space:nowrap}
        .day .strip{height:15px}.day .n{text-align:right}
        .day+.day{margin-top:1px}
        .clock{display:grid;grid-template-columns:repeat(4,1fr)}
        .chart{display:grid;grid-template-columns:72px 1fr;gap:8px;margin-top:10px}
        .chart svg{width:100%;height:210px;overflow:visible}
        .axis{position:relative;color:var(--muted);font-size:12px;line-height:1}
        .axis span{position:absolute;right:0;transform:translateY(-50%)}
        .axis span:nth-child(2){top:18%}.axis span:nth-child(3){top:36%}.axis span:nth-child(4){top:54%}
        .axis span:nth-child(5){top:71%}.axis span:nth-child(6){top:84%}.axis span:nth-child(7){top:100%}
        .inset{margin-left:80px}
        .key{display:flex;flex-wrap:wrap;gap:2px 16px;color:var(--muted);font-size:13px;margin-left:80px}
        .key span{display:flex;align-items:center;gap:6px}
        .key i{width:10px;height:10px;background:var(--lost)}
        .swatch{width:24px;height:6px;flex:none}
        .chart path,.swatch path{vector-effect:non-scaling-stroke;stroke-linecap:round}
        .grid{stroke:var(--line);fill:none}
        .p50{stroke:var(--accent)}.p90{stroke:var(--c1)}.p99{stroke:var(--c3)}
        .p50,.p90,.p99{fill:none;stroke-width:2;stroke-linejoin:round}
        .p90{stroke-dasharray:7 4}.p99{stroke-dasharray:2 5}
        .lost{fill:var(--lost)}
        .chart .band{fill:var(--idle);fill-opacity:.35;stroke:var(--idle)}\
        .swatch .band{stroke:var(--idle);stroke-width:6}
        .m0,.m1,.m2{fill:none;stroke-width:3}
        .m0{stroke:var(--accent)}.m1{stroke:var(--c1)}.m2{stroke:var(--c2)}
        @media(max-width:560px){.chart svg{height:170px}.day{gap:6px}}
        @media print{.key i{print-color-adjust:exact;-webkit-print-color-adjust:exact}}

        """
}
