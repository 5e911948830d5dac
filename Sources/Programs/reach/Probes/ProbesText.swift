internal import ReachCore
internal import ReachTerminal

/// Configured probes in a table, for people; on a terminal with a chart of the latest results below each.
struct ProbesText {
    let style: TerminalStyle
    /// The terminal's width in columns; `nil` without a terminal, where no chart is drawn.
    let width: Int?
    /// Whether the terminal shows UTF-8.
    let isUnicode: Bool
    let now: Timestamp

    private static let indent = "    "
    /// The columns before a chart.
    static let indentCount = indent.count
    /// The greatest width; a wider chart would be no easier to read.
    private static let widest = 120

    func describe(_ reports: [ProbeReport]) -> String {
        guard !reports.isEmpty else { return "no probes are configured\n" }
        // Both columns only where a probe fills them.
        let hasGroups = reports.contains { $0.group != nil }
        let hasBursts = reports.contains { $0.last?.burst != nil }
        let heading =
            ["PROBE"] + (hasGroups ? ["GROUP"] : []) + ["STATE", "FOR", "UPTIME", "P50", "P90", "P99"]
            + (hasBursts ? ["LOST"] : []) + ["LAST"]
        let table = TextTable(style: style, width: width)
        let rows = reports.map { row($0, hasGroup: hasGroups, hasBurst: hasBursts) }
        // One table, so that its columns are aligned; it is then split into lines.
        let lines = table.layOut([heading.map { TextTable.Cell($0, .grey) }] + rows).split(
            scalar: "\n", omittingEmptySubsequences: false)
        guard let width, lines.count >= reports.count + 1 else { return lines.joined(separator: "\n") }
        var output = [String(lines[0])]
        var rest = lines.dropFirst()
        for report in reports {
            guard let line = rest.popFirst() else { break }
            output.append(String(line))
            // The table moves its last cell below the row where it is too wide.
            while let next = rest.first, next.hasUTF8Prefix(Self.indent) {
                output.append(String(next))
                rest = rest.dropFirst()
            }
            if !report.beats.isEmpty { output.append(Self.indent + chart(report, width)) }
        }
        return output.joined(separator: "\n") + "\n"
    }

    private func row(_ report: ProbeReport, hasGroup: Bool, hasBurst: Bool) -> [TextTable.Cell] {
        let latency = report.latency
        var cells = [TextTable.Cell(DisplayText.sanitized(report.name), .bold)]
        if hasGroup { cells.append(TextTable.Cell(DisplayText.sanitized(report.group ?? ""))) }
        cells += [
            state(report),
            TextTable.Cell(DurationText.describe(age(of: report))),
            TextTable.Cell(report.uptime.availability.map(Self.percent) ?? ""),
            TextTable.Cell(latency.map { DurationText.milliseconds($0.median) } ?? ""),
            TextTable.Cell(latency.map { DurationText.milliseconds($0.percentile90) } ?? ""),
            TextTable.Cell(latency.map { DurationText.milliseconds($0.percentile99) } ?? ""),
        ]
        if hasBurst { cells.append(TextTable.Cell(report.last?.burst?.lossShare.map(Self.percent) ?? "")) }
        return cells + [TextTable.Cell(last(report))]
    }

    private func age(of report: ProbeReport) -> Duration {
        max(.zero, .nanoseconds(now.nanosecondsSince1970) - .nanoseconds(report.since.nanosecondsSince1970))
    }

    private func state(_ report: ProbeReport) -> TextTable.Cell {
        if let pause = report.pause {
            return TextTable.Cell("\(report.state.rawValue), paused: \(pause.rawValue)", .yellow)
        }
        switch report.state {
        case .up: return TextTable.Cell("up", .green)
        case .down: return TextTable.Cell("down", .red)
        case .unknown: return TextTable.Cell("unknown", .yellow)
        }
    }

    private func last(_ report: ProbeReport) -> String {
        guard let last = report.last else { return "" }
        guard last.outcome != .ok else { return DurationText.milliseconds(last.duration) }
        return DisplayText.sanitized(last.detail.isEmpty ? last.outcome.reason ?? "" : last.detail)
    }

    /// A percentage with two decimals, which matter near 100: 99.95 %.
    static func percent(_ part: Double) -> String {
        let hundredths = part >= 1 ? 10_000 : min(9999, Int((part * 10_000).rounded(.down)))
        let cents = hundredths % 100
        return "\(hundredths / 100).\(cents < 10 ? "0" : "")\(cents) %"
    }

    // MARK: - The chart

    /// One character for each of the latest results, the newest on the right; the highest block is the slowest of them.
    func chart(_ report: ProbeReport, _ width: Int) -> String {
        let room = max(1, min(width, Self.widest) - Self.indent.count)
        let beats = report.beats.suffix(room)
        let slowest = beats.filter { $0.kind == .ok }.map(\.microseconds).max() ?? 1
        var output = ""
        var run: (colour: TerminalStyle.Colour, text: String)?
        for beat in beats {
            let (character, colour) = sign(beat, slowest: slowest)
            if run?.colour == colour {
                run?.text.append(character)
            } else {
                output += run.map { style.paint($0.text, $0.colour) } ?? ""
                run = (colour, String(character))
            }
        }
        return output + (run.map { style.paint($0.text, $0.colour) } ?? "")
    }

    private func sign(_ beat: ProbeReport.Beat, slowest: UInt32) -> (Character, TerminalStyle.Colour) {
        switch beat.kind {
        case .ok: (level(beat.microseconds, slowest), .green)
        case .fail: ("!", .red)
        case .inconclusive: ("?", .yellow)
        case .paused: (isUnicode ? "┊" : "|", .grey)
        }
    }

    private func level(_ microseconds: UInt32, _ slowest: UInt32) -> Character {
        let levels: [Character] = isUnicode ? Array("▁▂▃▄▅▆▇█") : Array("_.-=*#")
        let place = Int(UInt64(microseconds) * UInt64(levels.count) / (UInt64(slowest) + 1))
        return levels[min(place, levels.count - 1)]
    }
}
