/// A timeline as a row of cells.
package struct HistoryBar: Hashable, Sendable {
    package enum Cell: Hashable, Sendable, CaseIterable {
        case up
        /// Up for a part of the time and down for another, however short.
        case partlyDown
        case down
        case unknown
        case notObserved
    }

    package let cells: [Cell]

    /// Creates a bar.
    ///
    /// - Parameter width: The number of cells, which represent equal parts of the time.
    package init(_ timeline: HistoryTimeline, width: Int) {
        let first = timeline.from.nanosecondsSince1970
        let length = timeline.to.nanosecondsSince1970 - first
        let width = Int64(max(0, width))
        var cells: [Cell] = []
        var spans = timeline.spans[...]
        for number in 0..<width {
            // Multiplied in 128 bits, because a year of nanoseconds times a width can exceed 64 bits.
            let from = first + Int64(Int128(length) * Int128(number) / Int128(width))
            let to = first + Int64(Int128(length) * Int128(number + 1) / Int128(width))
            while let span = spans.first, span.to.nanosecondsSince1970 <= from { spans.removeFirst() }
            cells.append(Self.cell(spans, from: from, to: to))
        }
        self.cells = cells
    }

    private static func cell(_ spans: ArraySlice<HistoryTimeline.Span>, from: Int64, to: Int64) -> Cell {
        var shares: [HistoryTimeline.Observation: Int64] = [:]
        for span in spans {
            guard span.from.nanosecondsSince1970 < to else { break }
            let share = min(span.to.nanosecondsSince1970, to) - max(span.from.nanosecondsSince1970, from)
            shares[span.observation, default: 0] += share
        }
        let (up, unknown, missing) = (shares[.up] ?? 0, shares[.unknown] ?? 0, shares[.notObserved] ?? 0)
        if shares[.down] ?? 0 > 0 { return up > 0 ? .partlyDown : .down }
        if up >= max(unknown, missing), up > 0 { return .up }
        return unknown > missing ? .unknown : .notObserved
    }
}
