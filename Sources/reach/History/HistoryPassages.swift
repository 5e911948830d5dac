internal import ReachCore

/// What a target was reached through, as a line to stand below its timeline: each name where another way begins.
enum HistoryPassages {
    /// - Parameter width: Of the timeline, in cells.
    /// - Returns: The line without trailing spaces; empty if there is nothing to tell.
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
            // A space stands between two names.
            guard let label = label(passage, room: max(next - 1, start + 1) - start), start < width else { continue }
            line += String(repeating: " ", count: start - column) + label
            column = start + label.count
        }
        return line
    }

    /// Those that differ from the one before: an outage in between makes the way no other.
    private static func beginnings(_ passages: [HistoryTimeline.Passage]) -> [HistoryTimeline.Passage] {
        zip(passages, [nil] + passages.map(Optional.some)).filter { passage, before in
            passage.interface != before?.interface || passage.linkClass != before?.linkClass
        }.map(\.0)
    }

    /// As much as there is room for, and at least a mark that it is another way.
    private static func label(_ passage: HistoryTimeline.Passage, room: Int) -> String? {
        let name = passage.interface.map(DisplayText.sanitized)
        let linkClass = passage.linkClass.map { "(\(DisplayText.sanitized($0)))" }
        let whole = [name, linkClass].compactMap { $0 }.joined(separator: " ")
        return [whole, name ?? whole, "'"].first { $0.count <= room }
    }
}
