/// The columns that text takes on a terminal.
package enum DisplayWidth {
    /// Ranges of Unicode's wide characters (East_Asian_Width W and F) and of emoji, which terminals show in two
    /// columns.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115f, 0x231a...0x231b, 0x23e9...0x23ec, 0x23f0...0x23f0, 0x23f3...0x23f3, 0x25fd...0x25fe,
        0x2614...0x2615, 0x2648...0x2653, 0x267f...0x267f, 0x2693...0x2693, 0x26a1...0x26a1, 0x26aa...0x26ab,
        0x26bd...0x26be, 0x26c4...0x26c5, 0x26ce...0x26ce, 0x26d4...0x26d4, 0x26ea...0x26ea, 0x26f2...0x26f3,
        0x26f5...0x26f5, 0x26fa...0x26fa, 0x26fd...0x26fd, 0x2705...0x2705, 0x270a...0x270b, 0x2728...0x2728,
        0x274c...0x274c, 0x274e...0x274e, 0x2753...0x2755, 0x2757...0x2757, 0x2795...0x2797, 0x27b0...0x27b0,
        0x27bf...0x27bf, 0x2b1b...0x2b1c, 0x2b50...0x2b50, 0x2b55...0x2b55, 0x2e80...0x303e, 0x3041...0x33ff,
        0x3400...0x4dbf, 0x4e00...0x9fff, 0xa000...0xa4cf, 0xa960...0xa97f, 0xac00...0xd7a3, 0xf900...0xfaff,
        0xfe10...0xfe19, 0xfe30...0xfe6f, 0xff00...0xff60, 0xffe0...0xffe6, 0x16fe0...0x18cff, 0x1aff0...0x1b2ff,
        0x1f004...0x1f004, 0x1f0cf...0x1f0cf, 0x1f18e...0x1f18e, 0x1f191...0x1f19a, 0x1f1e6...0x1f202,
        0x1f210...0x1f23b, 0x1f240...0x1f248, 0x1f250...0x1f251, 0x1f260...0x1f265, 0x1f300...0x1f64f,
        0x1f680...0x1f6ff, 0x1f7e0...0x1f7eb, 0x1f90c...0x1f9ff, 0x1fa70...0x1faff, 0x20000...0x3fffd,
    ]

    /// The columns of one character: what combines with another takes none.
    package static func of(_ character: Character) -> Int {
        if character.isASCII { return 1 }
        return character.unicodeScalars.map { of($0) }.max() ?? 0
    }

    package static func of(_ text: String) -> Int {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
        return text.reduce(0) { $0 + of($1) }
    }

    private static func of(_ scalar: Unicode.Scalar) -> Int {
        if scalar.value < 0x300 { return 1 }
        let category = scalar.properties.generalCategory
        if category == .nonspacingMark || category == .enclosingMark || category == .format { return 0 }
        guard scalar.value >= 0x1100 else { return 1 }
        return wide.contains { $0.contains(scalar.value) } ? 2 : 1
    }

    /// The text cut to at most this many columns, with a mark where something is missing: between two words, unless
    /// that leaves less than half of the columns, as in an address of a page.
    ///
    /// - Parameter mark: One column wide.
    package static func cut(_ text: String, to width: Int, mark: String) -> String {
        guard of(text) > width else { return text }
        var (result, used) = ("", 0)
        var words: String?
        for character in text {
            let columns = of(character)
            if character == " ", used > 0, result.last != " ", used * 2 >= width { words = result }
            guard used + columns <= width - 1 else { break }
            result.append(character)
            used += columns
        }
        return width > 0 ? (words ?? result) + mark : ""
    }

    /// The text in exactly this many columns, with spaces on its right.
    package static func fit(_ text: String, to width: Int, mark: String) -> String {
        let text = cut(text, to: width, mark: mark)
        return text + String(repeating: " ", count: max(0, width - of(text)))
    }
}
