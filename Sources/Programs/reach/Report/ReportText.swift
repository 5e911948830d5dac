internal import ReachCore
internal import ReachRecords
internal import ReachTerminal

/// A report for people who read it on a terminal or in a mail.
struct ReportText {
    let report: Report
    let style: TerminalStyle
    /// The terminal's width in columns; `nil` without a terminal.
    let width: Int?
    /// Whether the output shows UTF-8.
    let isUnicode: Bool

    var text: String {
        ([head, particulars, availability, outages, maps] + lines + [probes] + archives + [metered, queue, notes])
            .joined(
                separator: "\n")
    }

    private var head: String {
        let period = "from \(report.stamp(report.from)) to \(report.stamp(report.to)), local time: "
        return style.paint(DisplayText.sanitized(report.title), .bold) + "\n"
            + wrapped(period + DisplayText.sanitized(report.zoneNames))
    }

    private var particulars: String {
        heading("Connection")
            + report.particulars.map { wrapped("\($0.name): \(DisplayText.sanitized($0.text))") }.joined()
    }

    private func wrapped(_ line: String) -> String {
        let words = line.split(scalar: " ").map(String.init)
        return WrappedText.lines(words, separator: " ", width: width ?? .max, indent: 2).map { $0 + "\n" }.joined()
    }

    private func heading(_ text: String) -> String { style.paint(text, .bold) + "\n" }

    private func table(_ heading: [String], _ rows: [[TextTable.Cell]]) -> String {
        TextTable(style: style, width: width).layOut([heading.map { TextTable.Cell($0, .grey) }] + rows)
    }

    private func cells(_ figures: [String?]) -> [TextTable.Cell] { figures.map { TextTable.Cell($0 ?? "") } }

    private var availability: String {
        let rows = report.targets.map { figures in
            let summary = figures.summary
            return [
                TextTable.Cell(DisplayText.sanitized(summary.target), .bold),
                TextTable.Cell(summary.uptime.map(PercentText.roundedDown) ?? "not known"),
                TextTable.Cell("\(summary.outages.count)"), TextTable.Cell(DurationText.describe(summary.down)),
                TextTable.Cell(summary.longestOutage.map(DurationText.describe) ?? ""),
                TextTable.Cell(known(summary.unknown)), TextTable.Cell(known(summary.notObserved)),
            ]
        }
        return heading("Availability")
            + table(["TARGET", "AVAILABLE", "OUTAGES", "DOWN", "LONGEST", "UNKNOWN", "NOT OBSERVED"], rows)
    }

    private func known(_ duration: Duration) -> String { duration > .zero ? DurationText.describe(duration) : "" }

    private var outages: String {
        guard !report.outages.isEmpty else { return heading("Outages") + "none\n" }
        let rows = report.outages.map { outage in
            [
                TextTable.Cell(report.stamp(outage.from) + (outage.beganBefore ? " (before)" : ""), .grey),
                TextTable.Cell(DurationText.describe(outage.duration) + (outage.isOpen ? ", not over" : "")),
                TextTable.Cell(DisplayText.sanitized(outage.target), .bold),
                TextTable.Cell(outage.cause.layer.rawValue, .red),
                TextTable.Cell(outage.waiting.map { "\($0)" } ?? ""),
                TextTable.Cell(DisplayText.sanitized(outage.evidence)),
                TextTable.Cell(DisplayText.sanitized(outage.sentenceWithTests)),
            ]
        }
        return heading("Outages")
            + table(["BEGAN", "FOR", "TARGET", "LAYER", "WAITING", "EVIDENCE", "WHAT FAILED"], rows)
    }

    private var maps: String {
        report.mapped.map { mapped in
            let days = mapped.map.days.map { day in
                day.date + "  "
                    + day.hours.map { style.paint(glyph($0.level), colour($0.level)) }.joined()
                    + (isNarrow ? "" : "  " + (day.total.downShare.map { PercentText.roundedDown(1 - $0) } ?? ""))
            }
            let earlier = mapped.map.earlierDays > 0 ? "\(mapped.map.earlierDays) earlier days are left out\n" : ""
            let hours = String(repeating: " ", count: 12) + style.paint("0     6     12    18", .grey) + "\n"
            let levels: [TimeShare.Level] = [.up, .briefly, .partly, .mostly, .down, .unknown, .notObserved]
            let legend = levels.map { style.paint(glyph($0), colour($0)) + " " + $0.words }
            return heading("Hours of \(DisplayText.sanitized(mapped.target))") + earlier + hours
                + days.map { $0 + "\n" }.joined()
                + WrappedText.lines(legend, separator: "  ", width: width ?? 80).map { $0 + "\n" }.joined()
        }.joined(separator: "\n")
    }

    /// Whether there is no room for a number behind a day.
    private var isNarrow: Bool { width.map { $0 < 46 } ?? false }

    /// The glyphs differ, so that the map needs no colours.
    private func glyph(_ level: TimeShare.Level) -> String {
        switch level {
        case .none: " "
        case .notObserved: isUnicode ? "·" : "."
        case .unknown: isUnicode ? "▒" : "?"
        case .up: isUnicode ? "█" : "#"
        case .briefly: isUnicode ? "▆" : "+"
        case .partly: isUnicode ? "▄" : "="
        case .mostly: isUnicode ? "▂" : "-"
        case .down: isUnicode ? "▁" : "_"
        }
    }

    private func colour(_ level: TimeShare.Level) -> TerminalStyle.Colour {
        switch level {
        case .none, .notObserved: .grey
        case .unknown: .yellow
        case .up: .green
        case .briefly, .partly, .mostly, .down: .red
        }
    }

    /// Nothing where no line was measured.
    private var lines: [String] {
        guard !report.lines.isEmpty else { return [] }
        let rows = report.lines.map { series in
            [TextTable.Cell(DisplayText.sanitized(series.interface), .bold)] + cells(series.whole.figures)
        }
        return [heading("Lines") + table(["LINK", "PACKETS", "LOST", "P10", "P50", "P90"], rows)]
    }

    private var probes: String {
        guard case .recorded(let series) = report.probes else { return absent("Probes", report.probes) }
        let rows = series.map { series in
            [TextTable.Cell(DisplayText.sanitized(series.name), .bold)] + cells(series.whole.figures)
                + [TextTable.Cell(DisplayText.sanitized(series.target))]
        }
        return heading("Probes") + table(["PROBE", "ATTEMPTS", "LOST", "P50", "P90", "P99", "TARGET"], rows)
    }

    /// Nothing where no probe has an archive.
    private var archives: [String] {
        guard !report.archives.isEmpty else { return [] }
        let rows = report.archives.map { series in
            [
                TextTable.Cell(DisplayText.sanitized(series.name), .bold),
                TextTable.Cell(series.whole.available ?? "not known"),
            ] + cells(series.whole.figures)
        }
        let strips = report.archives.map { series in
            "\n" + DisplayText.sanitized(series.name) + ", each sign \(part(of: series)):\n" + strip(series)
        }
        return [
            heading("Archives of probes")
                + table(["PROBE", "AVAILABLE", "ATTEMPTS", "LOST", "LEAST", "MEAN", "MOST"], rows) + strips.joined()
        ]
    }

    private func part(of series: ArchiveSeries) -> String {
        guard let first = series.parts.first else { return "" }
        return DurationText.describe(
            .nanoseconds(first.to.nanosecondsSince1970) - .nanoseconds(first.from.nanosecondsSince1970))
    }

    /// The signs of the map of hours, in lines that fit.
    private func strip(_ series: ArchiveSeries) -> String {
        let signs = series.parts.map { style.paint(glyph($0.level), colour($0.level)) }
        let room = max(16, min(width ?? 96, 96))
        return stride(from: 0, to: signs.count, by: room)
            .map { signs[$0..<min($0 + room, signs.count)].joined() + "\n" }.joined()
    }

    private var metered: String {
        let title = "Bytes by metered link"
        guard case .recorded(let links) = report.meteredBytes else { return absent(title, report.meteredBytes) }
        guard !links.isEmpty else { return heading(title) + "none\n" }
        let rows = links.map { link in
            [
                TextTable.Cell(DisplayText.sanitized(link.interface), .bold),
                TextTable.Cell(DisplayText.sanitized(link.linkClass)),
                TextTable.Cell(ByteCount.describe(link.received)), TextTable.Cell(ByteCount.describe(link.sent)),
            ]
        }
        return heading(title) + table(["LINK", "CLASS", "RECEIVED", "SENT"], rows)
    }

    private var queue: String {
        guard case .recorded(let tally) = report.queue else { return absent("Queue", report.queue) }
        let lines = tally.rows.map { "\($0.name): \($0.text)\n" }
        return heading("Queue") + lines.joined()
    }

    private func absent<Value>(_ title: String, _ record: Report.Record<Value>) -> String {
        guard case .absent(let why) = record else { return "" }
        return heading(title) + wrapped("not recorded: \(DisplayText.sanitized(why))")
    }

    private var notes: String { report.notes.map { wrapped(DisplayText.sanitized($0)) }.joined() }
}

extension QueueTally {
    /// The figures with their names, for people.
    var rows: [(name: String, text: String)] {
        let reasons = deaths.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        return [
            ("requests added", "\(queued)"), ("answered", "\(done)"),
            ("given up", "\(dead)" + (reasons.isEmpty ? "" : " (\(DisplayText.sanitized(reasons)))")),
            ("cancelled", "\(cancelled)"), ("failed attempts, tried again", "\(retries)"),
            ("attempts interrupted", "\(interrupted)"), ("waiting at the end", "\(left)"),
            ("median time until answered", medianWait.map(DurationText.describe) ?? "none was answered"),
            ("longest time until answered", longestWait.map(DurationText.describe) ?? "none was answered"),
        ]
    }
}
