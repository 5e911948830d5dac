internal import ReachCore
internal import ReachRecords

/// A report as CSV (RFC 4180): a row for each figure, whose kind is in the first column.
struct ReportTable {
    private let report: Report

    init(_ report: Report) { self.report = report }

    private static let columns = [
        "kind", "target", "begin", "end", "seconds", "available", "up_s", "down_s", "unknown_s", "not_observed_s",
        "outages", "layer", "evidence", "failed", "open", "waiting", "attempts", "lost", "p50_ms", "p90_ms", "p99_ms",
        "figure", "value", "gateway", "tests",
    ]

    var text: String {
        var output = Self.line(Self.columns)
        for (name, text) in report.particulars {
            output += row("connection", period, ["figure": name, "value": Self.safe(text)])
        }
        for figures in report.targets { output += row("availability", Self.cells(figures)) }
        for outage in report.outages { output += row("outage", cells(outage)) }
        for mapped in report.mapped {
            for day in mapped.map.days {
                for (hour, figures) in day.hours.enumerated() where !figures.isEmpty {
                    let begin = "\(day.date)T\(hour < 10 ? "0" : "")\(hour):00"
                    output += row("hour", ["target": Self.safe(mapped.target), "begin": begin], Self.cells(figures))
                }
            }
        }
        for series in report.probes.value ?? [] {
            for part in series.parts where part.loss != nil || part.inconclusive > 0 {
                output += row("probe", ["target": Self.safe(series.name)], cells(part))
            }
        }
        for series in report.archives {
            for part in series.parts where part.availability != nil || part.paused > .zero {
                output += row("archive", ["target": Self.safe(series.name)], cells(part))
            }
        }
        for series in report.lines {
            for part in series.parts where part.packets > 0 {
                output += row("line", ["target": Self.safe(series.interface)], cells(part))
            }
        }
        for link in report.meteredBytes.value ?? [] {
            for (name, bytes) in [("received_bytes", link.received), ("sent_bytes", link.sent)] {
                output += row(
                    "metered", period, ["target": Self.safe(link.interface), "figure": name, "value": "\(bytes)"])
            }
        }
        if let tally = report.queue.value {
            for (name, value) in tally.figures {
                output += row("queue", period, ["figure": Self.safe(name), "value": value])
            }
        }
        for (name, why) in absent {
            output += row("not-recorded", ["figure": name, "value": Self.safe(why)])
        }
        return output
    }

    // MARK: - Rows

    private var period: [String: String] { ["begin": time(report.from), "end": time(report.to)] }

    private static func cells(_ figures: Report.TargetFigures) -> [String: String] {
        let summary = figures.summary
        return [
            "target": safe(summary.target), "available": summary.uptime.map { number($0, 6) } ?? "",
            "up_s": seconds(summary.up), "down_s": seconds(summary.down), "unknown_s": seconds(summary.unknown),
            "not_observed_s": seconds(summary.notObserved), "outages": "\(summary.outages.count)",
        ]
    }

    private func cells(_ outage: RecordedOutage) -> [String: String] {
        [
            "target": Self.safe(outage.target), "begin": time(outage.from),
            "end": outage.isOpen ? "" : time(outage.to), "seconds": Self.seconds(outage.duration),
            "layer": outage.cause.layer.rawValue, "evidence": Self.safe(outage.evidence),
            "failed": Self.safe(outage.sentence), "open": outage.isOpen ? "yes" : "no",
            "waiting": outage.waiting.map { "\($0)" } ?? "", "gateway": Self.safe(outage.gateway ?? ""),
            "tests": Self.safe(outage.tests?.text ?? ""),
        ]
    }

    private static func cells(_ hour: TimeShare) -> [String: String] {
        [
            "up_s": number(hour.up, 1), "down_s": number(hour.down, 1), "unknown_s": number(hour.unknown, 1),
            "not_observed_s": number(hour.notObserved, 1),
        ]
    }

    private func cells(_ part: ProbeSeries.Part) -> [String: String] {
        [
            "begin": time(part.from), "end": time(part.to), "attempts": "\(part.ok + part.failed)",
            "lost": "\(part.failed)", "p50_ms": Self.milliseconds(part.median),
            "p90_ms": Self.milliseconds(part.percentile90), "p99_ms": Self.milliseconds(part.percentile99),
        ]
    }

    private func cells(_ part: ArchiveSeries.Part) -> [String: String] {
        [
            "begin": time(part.from), "end": time(part.to),
            "available": part.availability.map { Self.number($0, 6) } ?? "", "up_s": Self.seconds(part.ok),
            "down_s": Self.seconds(part.fail), "unknown_s": Self.seconds(part.paused + part.inconclusive),
            "attempts": "\(part.answered + part.failed)", "lost": "\(part.failed)",
        ]
    }

    private func cells(_ part: QualitySeries.Part) -> [String: String] {
        [
            "begin": time(part.from), "end": time(part.to), "attempts": "\(part.packets)", "lost": "\(part.lost)",
            "p50_ms": Self.milliseconds(part.trips?.median), "p90_ms": Self.milliseconds(part.trips?.high),
        ]
    }

    private var absent: [(String, String)] {
        var list: [(String, String)] = []
        if case .absent(let why) = report.probes { list.append(("probes", why)) }
        if case .absent(let why) = report.queue { list.append(("queue", why)) }
        if case .absent(let why) = report.meteredBytes { list.append(("metered_bytes", why)) }
        return list
    }

    // MARK: - Cells

    private func row(_ kind: String, _ cells: [String: String]...) -> String {
        let all = cells.reduce(into: ["kind": kind]) { $0.merge($1) { $1 } }
        return Self.line(Self.columns.map { all[$0] ?? "" })
    }

    private func time(_ time: Timestamp) -> String { report.zone.text(time) }

    private static func seconds(_ duration: Duration) -> String { number(Double(duration.nanoseconds) / 1e9, 1) }

    private static func milliseconds(_ duration: Duration?) -> String {
        duration.map { number(Double($0.nanoseconds) / 1e6, 3) } ?? ""
    }

    static func number(_ value: Double, _ digits: Int) -> String {
        let factor = (0..<digits).reduce(Int64(1)) { factor, _ in factor * 10 }
        let scaled = Int64((value * Double(factor)).rounded())
        let fraction = String(scaled.magnitude % factor.magnitude)
        let zeros = String(repeating: "0", count: digits - fraction.count)
        return "\(scaled < 0 ? "-" : "")\(scaled.magnitude / factor.magnitude).\(zeros)\(fraction)"
    }

    /// A text from outside. A spreadsheet would take one that begins with one of these characters for a formula, in
    /// some languages also their wide forms; behind an apostrophe it is a text.
    static func safe(_ text: String) -> String {
        let text = DisplayText.sanitized(text)
        guard let first = text.unicodeScalars.first(where: { !$0.properties.isWhitespace }),
            "=+-@\u{ff1d}\u{ff0b}\u{ff0d}\u{ff20}".unicodeScalars.contains(first)
                || text.unicodeScalars.first == "'"
        else { return text }
        return "'" + text
    }

    static func line(_ cells: [String]) -> String {
        cells.map { cell in
            guard cell.utf8.contains(where: { [0x2c, 0x22, 0x0a, 0x0d].contains($0) }) else { return cell }
            return "\"" + cell.split(scalar: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
        }.joined(separator: ",") + "\r\n"
    }
}

extension QueueTally {
    /// The figures with their names, for programs.
    var figures: [(String, String)] {
        [
            ("queued", "\(queued)"), ("done", "\(done)"), ("dead", "\(dead)"), ("cancelled", "\(cancelled)"),
            ("retries", "\(retries)"), ("interrupted", "\(interrupted)"), ("left", "\(left)"),
        ] + deaths.sorted { $0.key < $1.key }.map { ("dead " + $0.key, "\($0.value)") }
            + [("median_wait_s", medianWait), ("longest_wait_s", longestWait)].compactMap { name, wait in
                wait.map { (name, ReportTable.number(Double($0.nanoseconds) / 1e9, 1)) }
            }
    }
}
