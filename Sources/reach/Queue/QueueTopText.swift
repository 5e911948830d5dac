internal import ReachControl
internal import ReachCore
internal import ReachQueue
internal import ReachTerminal

/// The lines of the screen.
struct QueueTopText {
    let words: QueueText
    let bar: QueueProgressText

    /// - Returns: At most `height` lines of at most `width` columns.
    func lines(
        _ items: [RequestReport], _ count: Int, width: Int, height: Int, at now: Timestamp
    ) -> [String] {
        let plain = QueueText(style: .plain, width: nil, stamp: words.stamp)
        let style = words.style
        var lines = [style.paint(String("queue: \(words.count(count))".prefix(width)), .bold)]
        guard !items.isEmpty else { return lines }
        let table = plain.table(items, at: now).split(separator: "\n")
        lines.append(style.paint(String(table[0].prefix(width)), .grey))
        for (row, item) in zip(table.dropFirst(), items) {
            let text = String(row.prefix(width))
            lines.append(QueueText.colour(of: item.state).map { style.paint(text, $0) } ?? text)
            if let progress = item.running {
                lines.append(String(("    " + bar.line(progress, rate: nil, width: width - 4)).prefix(width)))
            }
        }
        return Array(lines.prefix(max(1, height)))
    }
}
