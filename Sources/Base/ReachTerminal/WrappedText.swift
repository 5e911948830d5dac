internal import ReachCore

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

    /// Lines for a terminal of this width. What comes after a break begins below the second column of the line, if it has
    /// one, otherwise two columns further than the line.
    package static func fitted(_ text: String, width: Int) -> String {
        text.split(scalar: "\n", omittingEmptySubsequences: false)
            .flatMap { broken(String($0), width: width) }.joined(separator: "\n")
    }

    /// A line as several that fit, broken at spaces. A word that does not fit behind its indent begins further left,
    /// and only one that is wider than the terminal does not fit.
    ///
    /// - Parameter column: Where what comes after a break begins, unless that leaves less than half of the width.
    package static func broken(_ line: String, width: Int, under column: Int? = nil) -> [String] {
        guard visibleCount(line) > width else { return [line] }
        let words = spacedWords(line, width: width)
        let indent = words.first?.spaces ?? 0
        let hanging = [column, secondColumn(words)].compactMap(\.self).first { $0 * 2 <= width } ?? indent + 2
        var lines: [String] = []
        var (line, used) = ("", 0)
        for (number, word) in words.enumerated() {
            let count = visibleCount(word.text)
            var spaces = word.spaces
            if number == 0 || used + spaces + count > width {
                if number > 0 { lines.append(line) }
                spaces = max(0, min(number == 0 ? indent : hanging, width - count))
                (line, used) = ("", 0)
            }
            line += String(repeating: " ", count: spaces) + word.text
            used += spaces + count
        }
        return lines + [line]
    }

    /// The words of a line, each with the number of spaces before it. What is in quotes is one, if it fits: a command
    /// that is broken cannot be copied.
    private static func spacedWords(_ line: String, width: Int) -> [(spaces: Int, text: String)] {
        var words: [(spaces: Int, text: String)] = []
        var spaces = 0
        for part in line.split(scalar: " ", omittingEmptySubsequences: false) {
            if !part.isEmpty {
                words.append((spaces, String(part)))
                spaces = 0
            }
            spaces += 1
        }
        for first in words.indices.reversed() {
            guard let mark = words[first].text.unicodeScalars.first, "`'\"".unicodeScalars.contains(mark),
                !words[first].text.unicodeScalars.dropFirst().contains(mark),
                let last = words[(first + 1)...].firstIndex(where: { $0.text.unicodeScalars.contains(mark) })
            else { continue }
            let quoted = words[(first + 1)...last].reduce(words[first].text) {
                $0 + String(repeating: " ", count: $1.spaces) + $1.text
            }
            guard visibleCount(quoted) <= width else { continue }
            words.replaceSubrange(first...last, with: [(words[first].spaces, quoted)])
        }
        return words
    }

    /// Where the text behind the first gap of two spaces or more begins.
    private static func secondColumn(_ words: [(spaces: Int, text: String)]) -> Int? {
        guard let gap = words.dropFirst().firstIndex(where: { $0.spaces > 1 }) else { return nil }
        return words[..<gap].reduce(words[gap].spaces) { $0 + $1.spaces + visibleCount($1.text) }
    }

    /// The columns of a text, without the escapes of terminals, such as those of ``TerminalStyle``.
    package static func visibleCount(_ text: String) -> Int {
        guard text.utf8.contains(0x1b) else { return DisplayWidth.of(text) }
        var count = 0
        var isEscape = false
        for character in text {
            if isEscape {
                isEscape = !character.isLetter
            } else if character == "\u{1b}" {
                isEscape = true
            } else {
                count += DisplayWidth.of(character)
            }
        }
        return count
    }
}
