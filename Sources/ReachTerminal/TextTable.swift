/// A table for people. A cell may have several lines; colours do not count for its width.
package struct TextTable {
    package struct Cell {
        package var lines: [(text: String, colour: TerminalStyle.Colour?)]

        package init(_ text: String, _ colour: TerminalStyle.Colour? = nil) { lines = [(text, colour)] }

        package init(_ lines: [(text: String, colour: TerminalStyle.Colour?)]) { self.lines = lines }

        package var width: Int { lines.map(\.text.count).max() ?? 0 }
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

    /// Formats the rows, without the columns that are empty below the heading. In a table that is too wide, the last cells
    /// move below their rows.
    ///
    /// - Parameter rows: The rows, with the heading first; all have the same number of cells.
    package func layOut(_ rows: [[Cell]]) -> String {
        let all = rows.first?.indices ?? 0..<0
        let used = all.filter { column in rows.dropFirst().contains { $0[column].width > 0 } }
        let rows = rows.map { row in used.map { row[$0] } }
        let columns = used.count
        let widths = (0..<columns).map { column in rows.map { $0[column].width }.max() ?? 0 }
        let total = widths.reduce(0, +) + Self.gap * max(0, columns - 1)
        let isTooWide = width.map { total > $0 } ?? false
        return rows.enumerated().map { number, row in
            guard isTooWide, let last = row.last else { return line(row, widths) }
            return line(row.dropLast(), widths) + (number == 0 ? "" : below(last))
        }.joined()
    }

    private func line(_ row: some Collection<Cell>, _ widths: [Int]) -> String {
        let height = row.map(\.lines.count).max() ?? 0
        return (0..<height).map { number in
            var line = ""
            var missing = 0
            for (cell, width) in zip(row, widths) {
                if number < cell.lines.count, !cell.lines[number].text.isEmpty {
                    let (text, colour) = cell.lines[number]
                    line += String(repeating: " ", count: missing) + (colour.map { style.paint(text, $0) } ?? text)
                    missing = width - text.count + Self.gap
                } else {
                    missing += width + Self.gap
                }
            }
            return line + "\n"
        }.joined()
    }

    private func below(_ cell: Cell) -> String {
        let shown = cell.lines.filter { !$0.text.isEmpty }
        return shown.map { text, colour in
            String(repeating: " ", count: Self.indent) + (colour.map { style.paint(text, $0) } ?? text) + "\n"
        }.joined()
    }
}
