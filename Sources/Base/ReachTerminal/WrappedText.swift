/// Breaks text into lines between words, never within one.
package enum WrappedText {
    /// Joins parts with a separator, and begins a new line where the next part does not fit. A part that is wider than
    /// a line gets a line of its own. Escapes of colours do not count.
    ///
    /// - Parameter indent: Spaces before each line but the first.
    package static func lines(_ parts: [String], separator: String, width: Int, indent: Int = 0) -> [String] {
        var lines: [String] = []
        var (line, used) = ("", 0)
        for part in parts {
            let count = visibleCount(part)
            if line.isEmpty {
                (line, used) = (part, count)
            } else if used + separator.count + count <= width {
                line += separator + part
                used += separator.count + count
            } else {
                lines.append(line)
                (line, used) = (String(repeating: " ", count: indent) + part, indent + count)
            }
        }
        return line.isEmpty ? lines : lines + [line]
    }

    /// The columns of a text, without the escapes of ``TerminalStyle``.
    package static func visibleCount(_ text: String) -> Int {
        guard text.utf8.contains(0x1b) else { return DisplayWidth.of(text) }
        var count = 0
        var isEscape = false
        for character in text {
            if isEscape {
                isEscape = character != "m"
            } else if character == "\u{1b}" {
                isEscape = true
            } else {
                count += DisplayWidth.of(character)
            }
        }
        return count
    }
}
