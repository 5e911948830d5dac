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
