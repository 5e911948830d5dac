internal import ReachCore
internal import ReachRecords
internal import ReachTerminal

/// A history for people: a summary of each target, and its changes.
struct HistoryText {
    let style: TerminalStyle
    /// The terminal's width in columns; `nil` without a terminal, where no timeline is drawn.
    let width: Int?
    /// Whether the terminal shows UTF-8.
    let isUnicode: Bool
    /// Formats a time in the local time zone.
    let stamp: (Timestamp) -> String

    private static let indent = "    "
    /// The greatest width; a wider bar would be no easier to read.
    private static let widest = 200
    /// The most outages in their table, so that those of today are in sight.
    private static let mostOutages = 20

    /// A summary of each target, and its timeline.
    func overview(_ targets: [(timeline: HistoryTimeline, summary: HistorySummary)]) -> String {
        guard let first = targets.first?.timeline else { return "nothing is known of that time\n" }
        let blocks = targets.map { timeline, summary in
            wrapped(heading(summary)) + (width.map { drawing(timeline, $0) } ?? "")
        }
        guard let width else { return blocks.joined() }
        return blocks.joined() + axis(first, width) + "\n" + legend + "\n"
    }

    /// Such as `internet  up 99.2 %, 2 outages of 12 min 5 s, longest 11 min, 1 flap; not observed 2 h`.
    func heading(_ summary: HistorySummary) -> String {
        var parts: [String] = []
        if let uptime = summary.uptime { parts.append("up \(PercentText.roundedDown(uptime))") }
        if let longest = summary.longestOutage {
            let count = summary.outages.count
            let all = DurationText.describe(summary.down)
            parts.append(
                count == 1
                    ? "1 outage of \(all)"
                    : "\(count) outages of \(all) in all, the longest \(DurationText.describe(longest))")
        }
        if summary.flaps > 0 { parts.append("\(summary.flaps) of them under a minute") }
        if summary.isDown { parts.append(style.paint("down now", .red)) }
        if summary.unknown > .zero { parts.append("unknown for \(DurationText.describe(summary.unknown))") }
        if summary.notObserved > .zero {
            parts.append("not observed for \(DurationText.describe(summary.notObserved))")
        }
        return style.paint(DisplayText.sanitized(summary.target), .bold) + "  " + parts.joined(separator: ", ")
    }

    /// A summary broken behind commas, so that no number loses its unit; without a terminal as it is.
    private func wrapped(_ summary: String) -> String {
        guard let width else { return summary + "\n" }
        let parts = summary.split(scalar: ",").map { String($0.trimmed) }
        let listed = parts.dropLast().map { $0 + "," } + parts.suffix(1)
        let lines = WrappedText.lines(listed, separator: " ", width: width, indent: Self.indent.count)
        return lines.map { $0 + "\n" }.joined()
    }

    /// The newest outages, one in a row, and what failed in each.
    func outages(_ summaries: [HistorySummary]) -> String {
        let all = summaries.flatMap { summary in summary.outages.map { (summary.target, $0) } }
            .sorted { ($0.1.from, $0.0) < ($1.1.from, $1.0) }
        guard !all.isEmpty else { return "" }
        let heading = ["OUTAGE", "TARGET", "FOR", "LAYER", "WHAT FAILED"].map { TextTable.Cell($0, .grey) }
        let rows = all.suffix(Self.mostOutages).map { target, outage in
            [
                TextTable.Cell(stamp(outage.from), .grey), TextTable.Cell(DisplayText.sanitized(target), .bold),
                TextTable.Cell(DurationText.describe(outage.duration)),
                TextTable.Cell(outage.cause.layer.rawValue, .red),
                TextTable.Cell(DisplayText.sanitized(outage.cause.sentence)),
            ]
        }
        let earlier = all.count - rows.count
        let note = earlier > 0 ? "\(earlier) earlier outages are in the table of changes\n" : ""
        return TextTable(style: style, width: width).layOut([heading] + rows) + note + "\n"
    }

    /// The changes, one in a row.
    func changes(_ rows: [HistoryRow]) -> String {
        guard !rows.isEmpty else { return "" }
        let heading = ["TIME", "TARGET", "STATUS", "FOR", "THROUGH", "CAUSE"].map { TextTable.Cell($0, .grey) }
        return TextTable(style: style, width: width).layOut([heading] + rows.map(row))
    }

    private func row(_ row: HistoryRow) -> [TextTable.Cell] {
        let time = TextTable.Cell(stamp(row.time), .grey)
        let lasted = TextTable.Cell(row.lasted.map(DurationText.describe) ?? "")
        func plain(_ target: String, _ text: String) -> [TextTable.Cell] {
            let cells = [TextTable.Cell(DisplayText.sanitized(target)), TextTable.Cell(text, .grey)]
            return [time] + cells + ["", "", ""].map { TextTable.Cell($0) }
        }
        switch row.content {
        case .started(nil): return plain("", "reachd started")
        case .started(let lastSeen?): return plain("", "reachd started; last seen \(stamp(lastSeen))")
        case .stopped: return plain("", "reachd stopped")
        case .unwatched(let target): return plain(target, "no longer watched")
        case .dropped(let count): return plain("", "\(count) records lost")
        // No row: see HistoryRow.
        case .quality, .evidence: return plain("", "")
        case .state(let state):
            let proof = state.connectivity.flatMap { $0 == "full" ? nil : $0 }
            let network = state.network.flatMap { NetworkRule.isIdentifier($0) ? nil : "in \($0)" }
            let through = [state.interface, state.linkClass.map { "(\($0))" }, network].compactMap { $0 }
                .joined(separator: " ")
            let broken = state.rootCause.map { [$0, state.rootInterface].compactMap { $0 }.joined(separator: " ") }
            let word = state.reason?.word
            let reason = word == state.rootCause ? nil : word
            let why = [broken, reason].compactMap { $0 }.joined(separator: ", ")
            let line = state.quality.flatMap { $0 == LineQuality.Word.good.rawValue ? nil : "\($0) line" }
            let along = row.tookAlong.isEmpty ? nil : "took along " + Self.listed(row.tookAlong)
            let detail = [why.isEmpty ? through : why, proof, line, along].compactMap { $0 }.joined(separator: ", ")
            return [
                time, TextTable.Cell(DisplayText.sanitized(state.target), .bold),
                TextTable.Cell(state.status.words, state.status.colour), lasted,
                TextTable.Cell(DisplayText.sanitized(detail)),
                TextTable.Cell(DisplayText.sanitized(state.cause ?? ""), .grey),
            ]
        }
    }

    /// The most names of probes in a row.
    private static let mostNames = 3

    /// Such as `probe:a, probe:b, probe:c and 3 more`.
    private static func listed(_ names: [String]) -> String {
        let more = names.count - mostNames
        return names.prefix(mostNames).joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
    }

    /// The bar, and below it the interfaces of the paths.
    private func drawing(_ timeline: HistoryTimeline, _ width: Int) -> String {
        let passages = HistoryPassages.text(timeline, width: barWidth(width))
        let below = passages.isEmpty ? "" : Self.indent + style.paint(passages, .grey) + "\n"
        return bar(timeline, width) + "\n" + below
    }

    private func bar(_ timeline: HistoryTimeline, _ width: Int) -> String {
        let cells = HistoryBar(timeline, width: barWidth(width)).cells
        // One escape for a run of equal cells, not one for each.
        let runs = cells.indices.filter { $0 == 0 || cells[$0] != cells[$0 - 1] }
        let ends = runs.dropFirst() + [cells.count]
        let painted = zip(runs, ends).map { start, end in
            style.paint(String(repeating: glyph(cells[start]), count: end - start), colour(cells[start]))
        }
        return Self.indent + painted.joined()
    }

    /// The times at both ends, or only the first if there is no room.
    private func axis(_ timeline: HistoryTimeline, _ width: Int) -> String {
        let room = barWidth(width)
        let (left, right) = (stamp(timeline.from), stamp(timeline.to))
        let padding = room - left.count - right.count
        guard padding > 0 else { return Self.indent + style.paint(left, .grey) }
        return Self.indent + style.paint(left + String(repeating: " ", count: padding) + right, .grey)
    }

    private var legend: String {
        let words: [(HistoryBar.Cell, String)] = [
            (.up, "up"), (.partlyDown, "up and down"), (.down, "down"), (.unknown, "unknown"),
            (.notObserved, "not observed"),
        ]
        let parts = words.map { style.paint(glyph($0), colour($0)) + " " + $1 }
        let room = max(1, (width ?? .max) - Self.indent.count)
        return WrappedText.lines(parts, separator: "  ", width: room).map { Self.indent + $0 }.joined(separator: "\n")
    }

    private func barWidth(_ width: Int) -> Int { min(max(1, width - Self.indent.count), Self.widest) }

    /// The glyphs differ, so that the bar needs no colours.
    private func glyph(_ cell: HistoryBar.Cell) -> String {
        switch cell {
        case .up: isUnicode ? "█" : "#"
        case .partlyDown: isUnicode ? "▄" : "+"
        case .down: isUnicode ? "▁" : "_"
        case .unknown: isUnicode ? "▒" : "?"
        case .notObserved: isUnicode ? "·" : "."
        }
    }

    private func colour(_ cell: HistoryBar.Cell) -> TerminalStyle.Colour {
        switch cell {
        case .up: .green
        case .partlyDown, .down: .red
        case .unknown: .yellow
        case .notObserved: .grey
        }
    }
}

/// The interfaces of a target's paths, as a line below its timeline: each name is where its path begins.
enum HistoryPassages {
    /// - Parameter width: The width of the timeline in cells.
    /// - Returns: The line without trailing spaces; empty if there are no names.
    static func text(_ timeline: HistoryTimeline, width: Int) -> String {
        let first = timeline.from.nanosecondsSince1970
        let length = timeline.to.nanosecondsSince1970 - first
        guard length > 0 else { return "" }
        let begins = beginnings(timeline.passages)
        let cells = begins.map { passage in
            Int(Int128(passage.from.nanosecondsSince1970 - first) * Int128(width) / Int128(length))
        }
        var line = ""
        var column = 0
        for (passage, (start, next)) in zip(begins, zip(cells, cells.dropFirst() + [width + 1])) {
            let start = max(start, column)
            // Two names are separated by a space.
            guard let label = label(passage, room: max(next - 1, start + 1) - start), start < width else { continue }
            line += String(repeating: " ", count: start - column) + label
            column = start + label.count
        }
        return line
    }

    /// The passages that differ from the previous one. An outage in between is not a difference.
    private static func beginnings(_ passages: [HistoryTimeline.Passage]) -> [HistoryTimeline.Passage] {
        zip(passages, [nil] + passages.map(Optional.some)).filter { passage, before in
            passage.interface != before?.interface || passage.linkClass != before?.linkClass
        }.map(\.0)
    }

    /// The longest label that fits; at least a mark that the path is another.
    private static func label(_ passage: HistoryTimeline.Passage, room: Int) -> String? {
        let name = passage.interface.map(DisplayText.sanitized)
        let linkClass = passage.linkClass.map { "(\(DisplayText.sanitized($0)))" }
        let label = [name, linkClass].compactMap { $0 }.joined(separator: " ")
        return [label, name ?? label, "'"].first { $0.count <= room }
    }
}

/// A timeline as a row of cells.
struct HistoryBar: Hashable, Sendable {
    enum Cell: Hashable, Sendable, CaseIterable {
        case up
        /// Up for a part of the time and down for another, however short.
        case partlyDown
        case down
        case unknown
        case notObserved
    }

    let cells: [Cell]

    /// Creates a bar.
    ///
    /// - Parameter width: The number of cells, which represent equal parts of the time.
    init(_ timeline: HistoryTimeline, width: Int) {
        let first = timeline.from.nanosecondsSince1970
        let length = timeline.to.nanosecondsSince1970 - first
        let width = Int64(max(0, width))
        // Multiplied in 128 bits, because a year of nanoseconds times a width can exceed 64 bits.
        let edges = (0...width).map { first + Int64(Int128(length) * Int128($0) / Int128(max(1, width))) }
        cells = timeline.shares(between: edges).map(Self.cell)
    }

    private static func cell(_ share: TimeShare) -> Cell {
        if share.down > 0 { return share.up > 0 ? .partlyDown : .down }
        if share.up >= max(share.unknown, share.notObserved), share.up > 0 { return .up }
        return share.unknown > share.notObserved ? .unknown : .notObserved
    }
}
