internal import ReachCore

/// A line of a file, read as if a statement began on it: enough to continue after an error.
struct TOMLStatementLine {
    let isHeader: Bool
    /// Whether this is a complete header, or the beginning of `KEY = VALUE`.
    let looksLikeStatement: Bool
    /// Whether the value may end on a later line.
    let mayContinue: Bool
    private let name: ArraySlice<UInt8>

    init(_ line: ArraySlice<UInt8>) {
        let text = Self.trimmed(line.prefix { $0 != UInt8(ascii: "#") })
        isHeader = text.first == UInt8(ascii: "[")
        if isHeader {
            name = text.drop { $0 == UInt8(ascii: "[") }.prefix { $0 != UInt8(ascii: "]") }
            looksLikeStatement = text.last == UInt8(ascii: "]") && !name.isEmpty && name.allSatisfy(Self.isKeyByte)
            mayContinue = false
        } else {
            name = Self.trimmed(text.prefix { $0 != UInt8(ascii: "=") })
            let value = Self.trimmed(text.dropFirst(text.prefix { $0 != UInt8(ascii: "=") }.count + 1))
            let hasEquals = text.contains(UInt8(ascii: "="))
            looksLikeStatement = hasEquals && !name.isEmpty && name.allSatisfy(Self.isKeyByte)
            mayContinue =
                value.starts(with: "\"\"\"".utf8) || value.starts(with: "'''".utf8)
                || (value.first == UInt8(ascii: "[") && value.last != UInt8(ascii: "]"))
        }
    }

    /// The key with its dots and without its quotes, or else the first word if that is a key.
    var key: String? {
        let word = name.prefix { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
        return Self.key(name) ?? (word.allSatisfy(Self.isKeyByte) ? Self.key(word) : nil)
    }

    private static func key(_ text: ArraySlice<UInt8>) -> String? {
        guard text.count <= 256, case .table(var table) = TOMLTree.parse(Array(text) + "=0".utf8) else { return nil }
        var parts: [String] = []
        while let entry = table.entries.first {
            parts.append(entry.key)
            guard case .table(let inner) = entry.node.value else { break }
            table = inner
        }
        return parts.isEmpty ? nil : parts.joined(separator: ".")
    }

    private static func isKeyByte(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || "_-. \t".utf8.contains(byte)
    }

    private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        func isSpace(_ byte: UInt8) -> Bool { byte <= UInt8(ascii: " ") }
        var text = text.drop(while: isSpace)
        while let last = text.last, isSpace(last) { text.removeLast() }
        return text
    }
}
