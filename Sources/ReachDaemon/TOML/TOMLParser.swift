/// Reads TOML 1.0 and keeps going after a mistake, so that all of them can be told, each with its line and key.
///
///     let document = TOMLParser.parse(bytes)
///
/// It is our own because a configuration's mistakes must name their lines: TOMLKit keeps no lines of keys, stops at the
/// first mistake, and brings 8 MB of Foundation for its dates.
package struct TOMLParser {
    /// What was understood, and all that was not.
    package struct Document {
        package let table: TOMLTable
        package let mistakes: [ConfigurationMistake]
    }

    /// Arrays and inline tables within each other, or parts of a key: no configuration comes near, and recursion has to
    /// end somewhere.
    static let depthLimit = 64
    /// A file of another kind, given by mistake, would be wrong on every line.
    static let mistakeLimit = 50

    let bytes: [UInt8]
    var position = 0
    var line = 1
    /// Arrays, inline tables and long strings that are open.
    var depth = 0
    /// The key whose value is being read, for mistakes.
    var key: String?
    private var lineStarts = [0]
    private let root = TOMLTable(.header, line: 1)
    private var current: TOMLTable
    private var header: [String] = []
    private var mistakes: [ConfigurationMistake] = []

    package static func parse(_ bytes: [UInt8]) -> Document {
        var parser = TOMLParser(bytes)
        if parser.checkEncoding() { parser.readStatements() }
        return Document(table: parser.root, mistakes: parser.mistakes)
    }

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
        current = root
        for (offset, byte) in bytes.enumerated() where byte == UInt8(ascii: "\n") { lineStarts.append(offset + 1) }
    }

    private mutating func checkEncoding() -> Bool {
        if bytes.starts(with: [0xef, 0xbb, 0xbf]) { position = 3 }
        if String(validating: bytes, as: UTF8.self) != nil { return true }
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let first = lines.firstIndex { String(validating: $0, as: UTF8.self) == nil } ?? 0
        mistakes.append(ConfigurationMistake(line: first + 1, "it is not UTF-8", expected: "text in UTF-8"))
        return false
    }

    private mutating func readStatements() {
        while position < bytes.count, mistakes.count < Self.mistakeLimit {
            let first = line
            do throws(ConfigurationMistake) {
                try readStatement()
            } catch {
                mistakes.append(error)
                resume(after: error.line ?? line, statementBeganOn: first)
            }
            key = nil
        }
    }

    private mutating func readStatement() throws(ConfigurationMistake) {
        skipSpace()
        switch peek {
        case UInt8(ascii: "["): try readHeader()
        case nil, UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "#"): break
        default: try readPair(into: current, prefix: header)
        }
        try endLine()
    }

    private mutating func readHeader() throws(ConfigurationMistake) {
        // If this fails, keys that follow are read, and belong nowhere.
        current = TOMLTable(.header, line: line)
        advance()
        let isElement = skip(UInt8(ascii: "["))
        let key = try readKey()
        self.key = key.text
        for _ in 0..<(isElement ? 2 : 1) {
            guard skip(UInt8(ascii: "]")) else {
                throw mistake("the table's name does not end", expected: isElement ? "]] behind it" : "] behind it")
            }
        }
        header = key.parts
        do throws(ConfigurationMistake) {
            current = isElement ? try root.element(key) : try root.header(key)
        } catch {
            throw error.named(key.text)
        }
    }

    /// `key = value`, in a table or between braces.
    mutating func readPair(into table: TOMLTable, prefix: [String]) throws(ConfigurationMistake) {
        let key = try readKey()
        self.key = (prefix + key.parts).joined(separator: ".")
        guard skip(UInt8(ascii: "=")) else {
            throw mistake("there is no = behind the key", expected: "KEY = VALUE, or [TABLE]")
        }
        skipSpace()
        do throws(ConfigurationMistake) {
            try table.set(key, to: readValue())
        } catch {
            throw error.named((prefix + key.parts).joined(separator: "."))
        }
    }

    private mutating func endLine() throws(ConfigurationMistake) {
        try skipSpaceAndComment()
        guard peek == nil || skipNewline() else {
            throw mistake("\(shownHere) stands behind it", expected: "the end of the line, or a # and a comment")
        }
    }

    /// Goes on behind a mistake's line. Where that was within something of several lines, its other lines are no
    /// statements, and would only bring mistakes that are none; but the line may be a statement before which the end
    /// of a list was forgotten.
    private mutating func resume(after wrong: Int, statementBeganOn first: Int) {
        let wasInside = depth > 0
        depth = 0
        line = wasInside && wrong > first ? wrong - 1 : wrong
        repeat {
            line += 1
            position = line <= lineStarts.count ? lineStarts[line - 1] : bytes.count
        } while wasInside && position < bytes.count && !looksLikeStatement
    }

    private var looksLikeStatement: Bool {
        let text = bytes[position...].prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "#") }
            .filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") && $0 != UInt8(ascii: "\r") }
        if text.first == UInt8(ascii: "[") {
            let name = text.dropFirst().drop { $0 == UInt8(ascii: "[") }.prefix { $0 != UInt8(ascii: "]") }
            return text.last == UInt8(ascii: "]") && !name.isEmpty && name.allSatisfy(Self.isOfDottedKey)
        }
        let name = text.prefix(while: Self.isOfDottedKey)
        return !name.isEmpty && text.dropFirst(name.count).first == UInt8(ascii: "=")
    }

    private static func isOfDottedKey(_ byte: UInt8) -> Bool { isOfBareKey(byte) || byte == UInt8(ascii: ".") }
}
