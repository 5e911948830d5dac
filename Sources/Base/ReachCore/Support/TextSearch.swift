/// Searches texts by bytes and scalars. `make lint` finds the searches of the standard library that are used instead.
///
/// Structure must never be searched by characters: a quotation mark and a combining mark behind it are one character,
/// which is no quotation mark, and so are a carriage return and a newline. Whoever reads the text next, a shell, a
/// server or a spreadsheet, reads bytes, and finds a mark where none was escaped. Besides, `hasPrefix` and the like
/// build some twenty generic types when they are first used, which costs a short-lived program 0.2 ms and half a
/// megabyte.
///
/// The searches are inlined down to those of ``Swift/Substring``: generic code of another module is not specialised,
/// and needs fifty times as many instructions.
extension StringProtocol where SubSequence == Substring {
    /// The first occurrence of `pattern`, compared byte by byte; nothing for an empty one.
    @inlinable
    package func utf8Range(of pattern: String) -> Range<String.Index>? { self[...].range(ofBytesIn: pattern) }

    /// Whether `pattern` occurs in the text; an empty one does not.
    @inlinable
    package func containsUTF8(_ pattern: String) -> Bool { utf8Range(of: pattern) != nil }

    @inlinable
    package func hasUTF8Prefix<Text: StringProtocol>(_ prefix: Text) -> Bool where Text.SubSequence == Substring {
        self[...].hasBytes(of: prefix[...], atEnd: false)
    }

    @inlinable
    package func hasUTF8Suffix<Text: StringProtocol>(_ suffix: Text) -> Bool where Text.SubSequence == Substring {
        self[...].hasBytes(of: suffix[...], atEnd: true)
    }
}

extension Substring {
    @usableFromInline
    package func range(ofBytesIn pattern: String) -> Range<Index>? {
        let offset = withBytes { text in
            pattern[...].withBytes { pattern -> Int? in
                guard let first = pattern.first, pattern.count <= text.count else { return nil }
                return (0...(text.count - pattern.count)).first { place in
                    text[place] == first && text[place..<(place + pattern.count)].elementsEqual(pattern)
                }
            }
        }
        guard let offset else { return nil }
        let start = utf8.index(startIndex, offsetBy: offset)
        return start..<utf8.index(start, offsetBy: pattern.utf8.count)
    }

    @usableFromInline
    package func hasBytes(of other: Substring, atEnd: Bool) -> Bool {
        withBytes { text in
            other.withBytes { other in
                other.count <= text.count
                    && (atEnd ? text.suffix(other.count) : text.prefix(other.count)).elementsEqual(other)
            }
        }
    }

    private func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        utf8.withContiguousStorageIfAvailable(body) ?? Array(utf8).withUnsafeBufferPointer(body)
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

extension UInt8 {
    /// Whether the byte is a letter or a digit of ASCII, which names of many kinds consist of. What else may be in a
    /// name is a matter of its kind.
    // Other modules ask it for each byte.
    @inlinable package var isLetterOrDigit: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }

    /// Whether the byte may be in a label of a host's name: also "_", which names of services have.
    var isOfHostName: Bool { isLetterOrDigit || self == UInt8(ascii: "-") || self == UInt8(ascii: "_") }
}

extension StringProtocol where SubSequence == Substring {
    /// The text without the spaces and tabs around it, which HTTP calls optional white space (RFC 9110, 5.6.3).
    package var trimmed: Substring {
        let isBlank: (Unicode.Scalar) -> Bool = { $0 == " " || $0 == "\t" }
        let front = dropScalars(while: isBlank)
        return front.unicodeScalars.lastIndex { !isBlank($0) }.map { front[...$0] } ?? ""
    }
}
