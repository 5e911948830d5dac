/// Searches texts by bytes and scalars. `make lint` finds the searches of the standard library that are used instead.
///
/// Structure must never be searched by characters: a quotation mark and a combining mark behind it are one character, which is
/// no quotation mark, and so are a carriage return and a newline. Whoever reads the text next, a shell, a server or a
/// spreadsheet, reads bytes, and finds a mark where none was escaped. Besides, `hasPrefix` and the like build some twenty
/// generic types when they are first used, which costs a short-lived program 0.2 ms and half a megabyte.
extension StringProtocol {
    /// The first occurrence of `pattern`, compared byte by byte; nothing for an empty one.
    package func utf8Range(of pattern: String) -> Range<Index>? {
        let needle = pattern.utf8
        guard let first = needle.first else { return nil }
        var rest = utf8[...]
        while let start = rest.firstIndex(of: first) {
            if rest[start...].starts(with: needle) { return start..<utf8.index(start, offsetBy: needle.count) }
            rest = rest[utf8.index(after: start)...]
        }
        return nil
    }

    /// Whether `pattern` occurs in the text; an empty one does not.
    package func containsUTF8(_ pattern: String) -> Bool { utf8Range(of: pattern) != nil }

    package func hasUTF8Prefix(_ prefix: some StringProtocol) -> Bool { utf8.starts(with: prefix.utf8) }

    package func hasUTF8Suffix(_ suffix: some StringProtocol) -> Bool {
        utf8.reversed().starts(with: suffix.utf8.reversed())
    }
}

extension StringProtocol where SubSequence == Substring {
    /// What follows `prefix`, if the text begins with it.
    package func after(_ prefix: String) -> Substring? {
        guard hasUTF8Prefix(prefix) else { return nil }
        return self[utf8.index(startIndex, offsetBy: prefix.utf8.count)...]
    }

    /// What precedes `suffix`, if the text ends with it.
    package func before(_ suffix: String) -> Substring? {
        guard hasUTF8Suffix(suffix) else { return nil }
        return self[..<utf8.index(endIndex, offsetBy: -suffix.utf8.count)]
    }

    /// What is between two marks of ASCII; nothing if the text does not begin and end with them.
    package func between(_ first: Unicode.Scalar, _ last: Unicode.Scalar) -> Substring? {
        after(String(first))?.before(String(last))
    }

    /// The two sides of the first `separator`, or nothing if there is none.
    package func cut(at separator: Unicode.Scalar) -> (before: Substring, after: Substring)? {
        guard let place = unicodeScalars.firstIndex(of: separator) else { return nil }
        return (self[..<place], self[unicodeScalars.index(after: place)...])
    }

    package func split(
        scalar separator: Unicode.Scalar, maxSplits: Int = .max, omittingEmptySubsequences: Bool = true
    ) -> [Substring] {
        splitScalars(maxSplits: maxSplits, omittingEmptySubsequences: omittingEmptySubsequences) { $0 == separator }
    }

    package func splitScalars(
        maxSplits: Int = .max, omittingEmptySubsequences: Bool = true,
        whereSeparator isSeparator: (Unicode.Scalar) -> Bool
    ) -> [Substring] {
        self[...].unicodeScalars.split(
            maxSplits: maxSplits, omittingEmptySubsequences: omittingEmptySubsequences, whereSeparator: isSeparator
        ).map { Substring($0) }
    }

    package func prefixScalars(while isIncluded: (Unicode.Scalar) -> Bool) -> Substring {
        Substring(self[...].unicodeScalars.prefix(while: isIncluded))
    }

    package func dropScalars(while isDropped: (Unicode.Scalar) -> Bool) -> Substring {
        Substring(self[...].unicodeScalars.drop(while: isDropped))
    }

    package func filterScalars(_ isIncluded: (Unicode.Scalar) -> Bool) -> String {
        String(String.UnicodeScalarView(self[...].unicodeScalars.filter(isIncluded)))
    }

    /// The lines, as text files have them: they end with a newline, and a carriage return before it is dropped.
    package var textLines: [Substring] {
        split(scalar: "\n", omittingEmptySubsequences: false).map { $0.before("\r") ?? $0 }
    }

    /// The text between white space of ASCII.
    package var textWords: [Substring] { splitScalars(whereSeparator: \.isBlank) }
}

extension Unicode.Scalar {
    /// Whether it is white space of ASCII, as `isspace` of C has it.
    package var isBlank: Bool { self == " " || ("\u{9}"..."\u{d}").contains(self) }

    /// Whether it is one of the ten digits of ASCII.
    package var isDigit: Bool { ("0"..."9").contains(self) }

    /// Whether it is a letter of ASCII.
    package var isLetter: Bool { ("a"..."z").contains(self) || ("A"..."Z").contains(self) }

    /// What a digit of base 16 stands for.
    package var hexDigit: UInt8? {
        switch self {
        case "0"..."9": UInt8(value - 48)
        case "a"..."f": UInt8(value - 87)
        case "A"..."F": UInt8(value - 55)
        default: nil
        }
    }
}
