/// A table of HTML. Its texts may come from outside.
package struct HTMLTable {
    package struct Cell {
        fileprivate let content: String
        fileprivate let isNumber: Bool

        package init(_ text: String, isNumber: Bool = false, isCode: Bool = false) {
            let text = HTMLPage.escaped(text)
            content = isCode && !text.isEmpty ? "<code>\(text)</code>" : text
            self.isNumber = isNumber
        }

        private init(content: String) { (self.content, isNumber) = (content, false) }

        package static func number(_ text: String) -> Cell { Cell(text, isNumber: true) }

        package static func strip(_ strip: TimeStrip) -> Cell { Cell(content: strip.svg) }
    }

    private let caption: String
    private let heading: [String]
    private let rows: [[Cell]]

    /// - Parameter rows: As many cells as the heading has; the first is the row's heading.
    package init(caption: String, heading: [String], rows: [[Cell]]) {
        (self.caption, self.heading, self.rows) = (caption, heading, rows)
    }

    package var html: String {
        let numbers = heading.indices.map { column in rows.contains { $0[column].isNumber } }
        let head = zip(heading, numbers).map {
            "<th scope=\"col\"\($1 ? " class=\"n\"" : "")>\(HTMLPage.escaped($0))</th>"
        }.joined()
        let isWide = heading.count > 6
        let body = rows.map { row in
            "<tr>" + row.enumerated().map { cell($0, $1, isWide: isWide) }.joined() + "</tr>\n"
        }.joined()
        let caption = HTMLPage.escaped(caption)
        // The caption stays in sight where the table is scrolled sideways.
        return "<p class=\"caption\" aria-hidden=\"true\">\(caption)</p>\n"
            + "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"\(caption)\">"
            + "<table\(isWide ? " class=\"many\"" : "")>\n"
            + "<caption>\(caption)</caption>\n<thead><tr>\(head)</tr></thead>\n<tbody>\n\(body)</tbody></table></div>\n"
    }

    /// - Parameter isWide: Whether each row becomes a card on a narrow screen, where the heading is out of sight.
    private func cell(_ number: Int, _ cell: Cell, isWide: Bool) -> String {
        let style =
            (cell.isNumber ? " class=\"n\"" : "")
            + (isWide ? " data-label=\"\(HTMLPage.escaped(heading[number]))\"" : "")
        return number == 0
            ? "<th scope=\"row\"\(style)>\(cell.content)</th>" : "<td\(style)>\(cell.content)</td>"
    }
}
