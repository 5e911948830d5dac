internal import ReachCore
package import ReachRecords

/// A row of cells, each a part of a time, as a picture that stretches to any width: a report's period, a day of its map
/// of hours, the days of a probe, the window of a fleet.
///
/// A cell is high and pale while up; the part that is filled from below grows with the time down. Unknown is a band in
/// the middle, and what nobody observed is a line at the bottom. So no colour is needed.
package struct TimeStrip {
    private let cells: [TimeShare.Level]
    private let label: String
    private let titles: [Int: String]
    private let hasGaps: Bool

    /// - Parameters:
    ///   - label: What the picture shows, for those who do not see it. It may come from outside.
    ///   - titles: What is shown where the pointer rests on a cell, by the number of the cell.
    ///   - hasGaps: Whether there is room between two cells; otherwise equal ones make one shape.
    package init(_ cells: [TimeShare.Level], label: String, titles: [Int: String] = [:], hasGaps: Bool = true) {
        (self.cells, self.label, self.titles, self.hasGaps) = (cells, label, titles, hasGaps)
    }

    private static let width = 10
    private static let height = 100

    package var svg: String {
        "<svg class=\"strip\" viewBox=\"0 0 \(max(1, cells.count) * Self.width) \(Self.height)\" "
            + "preserveAspectRatio=\"none\" role=\"img\" aria-label=\"\(HTMLPage.escaped(label))\">"
            + shapes + hints + "</svg>"
    }

    /// The parts of a cell: the name of the style, the top and the height.
    private static func parts(of level: TimeShare.Level) -> [(style: String, top: Int, height: Int)] {
        func filled(_ part: Int) -> [(style: String, top: Int, height: Int)] {
            [("up", 0, height - part - 4), ("down", height - part, part)]
        }
        switch level {
        case .none: return []
        case .notObserved: return [("absent", 92, 8)]
        case .unknown: return [("unknown", 38, 24)]
        case .up: return [("up", 0, height)]
        case .briefly: return filled(24)
        case .partly: return filled(44)
        case .mostly: return filled(66)
        case .down: return [("down", 0, height)]
        }
    }

    /// One path for each style, since a page has thousands of cells.
    private var shapes: String {
        var paths: [(style: String, outline: String)] = [("up", ""), ("down", ""), ("unknown", ""), ("absent", "")]
        var start = 0
        for index in cells.indices where hasGaps || index + 1 == cells.count || cells[index + 1] != cells[index] {
            let width = (index + 1 - start) * Self.width - (hasGaps ? cells.count > 24 ? 2 : 1 : 0)
            for part in Self.parts(of: cells[index]) {
                guard let path = paths.firstIndex(where: { $0.style == part.style }) else { continue }
                paths[path].outline += "M\(start * Self.width) \(part.top)h\(width)v\(part.height)h-\(width)z"
            }
            start = index + 1
        }
        return paths.filter { !$0.outline.isEmpty }.map { "<path class=\"\($0.style)\" d=\"\($0.outline)\"/>" }.joined()
    }

    /// The whole height of a cell reacts to the pointer.
    private var hints: String {
        guard !titles.isEmpty else { return "" }
        let cells = titles.sorted { $0.key < $1.key }.map { index, title in
            "<path d=\"M\(index * Self.width) 0h\(Self.width)v\(Self.height)h-\(Self.width)z\"><title>"
                + "\(HTMLPage.escaped(title))</title></path>"
        }
        return "<g class=\"hint\">\(cells.joined())</g>"
    }

    /// What the shapes mean, as a list.
    ///
    /// - Parameter levels: Those that may occur on the page.
    package static func legend(
        _ levels: [TimeShare.Level] = [.up, .briefly, .partly, .mostly, .down, .unknown, .notObserved]
    ) -> String {
        let items = levels.map { level in
            "<li>\(TimeStrip([level], label: "").sample)\(level.words)</li>"
        }
        return "<ul class=\"legend\" aria-label=\"What the shapes mean\">" + items.joined() + "</ul>\n"
    }

    /// The first cell, where words beside it say the same.
    private var sample: String {
        "<svg class=\"sample\" viewBox=\"0 0 8 \(Self.height)\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
            + shapes + "</svg>"
    }
}
