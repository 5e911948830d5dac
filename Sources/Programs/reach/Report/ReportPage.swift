internal import ReachCore
internal import ReachPage
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
            "<p>From <b>\(report.stamp(report.from))</b> to <b>\(report.stamp(report.to))</b>, local time: \(zone).</p>\n"
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
                "The layer is the lowest part of the way that failed first. Requests are those that waited in the queue "
                + "at the end.",
            heading: ["Began", "Ended", "For", "Target", "Layer", "What failed", "Evidence", "Requests"], rows: rows)
        return section("outages", "Outages", table.html + tests)
    }

    /// What tests found in the outages, step by step.
    private var tests: String {
        report.outages.compactMap { outage in
            guard let tests = outage.tests, !tests.steps.isEmpty else { return nil }
            let steps = tests.steps.map { "<li>\(HTMLPage.escaped($0))</li>" }.joined(separator: "\n")
            return
                "<details><summary>Tests of \(HTMLPage.escaped(outage.target)) in the outage of \(report.stamp(outage.from))"
                + "</summary>\n<ol>\n\(steps)\n</ol></details>\n"
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
            [
                HTMLTable.Cell(number == 0 ? "all" : report.stamp(part.from)), .number("\(part.packets)"),
                .number(part.loss.map(PercentText.roundedUp) ?? "–"),
                .number(part.trips.map { DurationText.milliseconds($0.low) } ?? "–"),
                .number(part.trips.map { DurationText.milliseconds($0.median) } ?? "–"),
                .number(part.trips.map { DurationText.milliseconds($0.high) } ?? "–"),
            ]
        }
        return HTMLTable(
            caption:
                "Packets over \(series.interface), the share of those that were lost, and percentiles of the round trips",
            heading: ["From", "Packets", "Lost", "p10", "p50", "p90"], rows: rows)
    }

    private var probes: [String] {
        switch report.probes {
        case .absent(let why): return [section("probes", "Probes", absent(why))]
        case .recorded(let series):
            let body = series.map { series in
                "<h3>\(HTMLPage.escaped(series.name)) <span>\(HTMLPage.escaped(series.target))</span></h3>\n"
                    + ReportChart(series, report).html + details("As a table", table(series))
            }
            return [section("probes", "Latency and loss of probes", body.joined())]
        }
    }

    private func table(_ series: ProbeSeries) -> HTMLTable {
        let parts = [series.whole] + series.parts.filter { $0.loss != nil || $0.inconclusive > 0 }
        let rows = parts.enumerated().map { number, part in
            [
                HTMLTable.Cell(number == 0 ? "all" : report.stamp(part.from)), .number("\(part.ok + part.failed)"),
                .number(part.loss.map(PercentText.roundedUp) ?? "–"),
                .number(part.median.map(DurationText.milliseconds) ?? "–"),
                .number(part.percentile90.map(DurationText.milliseconds) ?? "–"),
                .number(part.percentile99.map(DurationText.milliseconds) ?? "–"),
            ]
        }
        return HTMLTable(
            caption:
                "Attempts of \(series.name): percentiles of those that were answered, and the share of those that failed",
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
            [
                HTMLTable.Cell(number == 0 ? "all" : report.stamp(part.from)),
                .number(part.availability.map(PercentText.roundedDown) ?? "–"),
                .number("\(part.answered + part.failed)"),
                .number(part.loss.map(PercentText.roundedUp) ?? "–"),
                .number(part.least.map(DurationText.milliseconds) ?? "–"),
                .number(part.mean.map(DurationText.milliseconds) ?? "–"),
                .number(part.most.map(DurationText.milliseconds) ?? "–"),
            ]
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

    private func absent(_ why: String) -> String { "<p>Not recorded: \(HTMLPage.escaped(why)).</p>\n" }

    private func details(_ title: String, _ table: HTMLTable) -> String {
        "<details><summary>\(title)</summary>\n\(table.html)</details>\n"
    }
}
