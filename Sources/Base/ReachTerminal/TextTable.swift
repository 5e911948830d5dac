internal import ReachCore

/// A table for people. A cell may have several lines; colours do not count for its width.
package struct TextTable {
    package struct Cell {
        package var lines: [(text: String, colour: TerminalStyle.Colour?)]

        package init(_ text: String, _ colour: TerminalStyle.Colour? = nil) { lines = [(text, colour)] }

        package init(_ lines: [(text: String, colour: TerminalStyle.Colour?)]) { self.lines = lines }

        package var width: Int { lines.map { DisplayWidth.of($0.text) }.max() ?? 0 }
    }

    private static let gap = 2
    private static let indent = 4

    package let style: TerminalStyle
    /// The terminal's width in columns; `nil` without a terminal, where the length of lines is unlimited.
    package let width: Int?

    package init(style: TerminalStyle, width: Int?) {
        self.style = style
        self.width = width
    }

    /// Formats the rows, without the columns that are empty below the heading. In a table that is too wide, the last
    /// columns move below their rows, each cell with its heading as a label, broken only between words.
    ///
    /// - Parameter rows: The rows, with the heading first; all have the same number of cells.
    package func layOut(_ rows: [[Cell]]) -> String {
        let all = rows.first?.indices ?? 0..<0
        let used = all.filter { column in rows.dropFirst().contains { $0[column].width > 0 } }
        let rows = rows.map { row in used.map { row[$0] } }
        let widths = used.indices.map { column in rows.map { $0[column].width }.max() ?? 0 }
        let kept = columnsThatFit(widths)
        guard let heading = rows.first else { return "" }
        return rows.enumerated().map { number, row in
            let below = number == 0 ? "" : below(zip(heading, row).dropFirst(kept))
            return line(row.prefix(kept), widths) + below
        }.joined()
    }

    private func columnsThatFit(_ widths: [Int]) -> Int {
        guard let width else { return widths.count }
        var kept = widths.count
        while kept > 1, widths.prefix(kept).reduce(0, +) + Self.gap * (kept - 1) > width { kept -= 1 }
        return kept
    }

    private func line(_ row: some Collection<Cell>, _ widths: [Int]) -> String {
        let height = row.map { $0.lines.count }.max() ?? 0
        return (0..<height).map { number in
            var line = ""
            var missing = 0
            for (cell, width) in zip(row, widths) {
                if number < cell.lines.count, !cell.lines[number].text.isEmpty {
                    let (text, colour) = cell.lines[number]
                    line += String(repeating: " ", count: missing) + (colour.map { style.paint(text, $0) } ?? text)
                    missing = width - DisplayWidth.of(text) + Self.gap
                } else {
                    missing += width + Self.gap
                }
            }
            return line + "\n"
        }.joined()
    }

    private func below(_ cells: some Sequence<(Cell, Cell)>) -> String {
        let room = max(1, (width ?? .max) - Self.indent)
        let parts = cells.flatMap { heading, cell in
            cell.lines.filter { !$0.text.isEmpty }.enumerated().flatMap { number, line in
                // Once for all lines of the cell.
                let label = number > 0 ? nil : heading.lines.map(\.text).joined(separator: " ").lowercased() + ":"
                return Self.parts(label, line.text, room: room).map { part in
                    line.colour.map { style.paint(part, $0) } ?? part
                }
            }
        }
        let lines = WrappedText.lines(parts, separator: " ", width: room)
        return lines.map { String(repeating: " ", count: Self.indent) + $0 + "\n" }.joined()
    }

    /// A labelled text as one part, or as its words if that is wider than a line.
    private static func parts(_ label: String?, _ text: String, room: Int) -> [String] {
        let labelled = label.map { $0 + " " + text } ?? text
        return DisplayWidth.of(labelled) <= room ? [labelled] : labelled.split(scalar: " ").map(String.init)
    }
}
