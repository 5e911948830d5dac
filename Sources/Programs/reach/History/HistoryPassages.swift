internal import ReachCore

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
