/// Spaces, comments, keys: what stands between values.
extension TOMLParser {
    var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    func peek(_ distance: Int) -> UInt8? { position + distance < bytes.count ? bytes[position + distance] : nil }

    mutating func advance(_ count: Int = 1) { position += count }

    mutating func skip(_ byte: UInt8) -> Bool {
        guard peek == byte else { return false }
        advance()
        return true
    }

    func stands(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { bytes[position...].starts(with: $0) }
    }

    mutating func skipSpace() {
        while let byte = peek, byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") { advance() }
    }

    mutating func skipNewline() -> Bool {
        if stands("\r\n") { advance() }
        guard skip(UInt8(ascii: "\n")) else { return false }
        line += 1
        return true
    }

    mutating func skipSpaceAndComment() throws(ConfigurationMistake) {
        skipSpace()
        guard peek == UInt8(ascii: "#") else { return }
        while let byte = peek, byte != UInt8(ascii: "\n"), !stands("\r\n") {
            guard !Self.isControl(byte) else {
                throw mistake("there is a control character in the comment", expected: "text")
            }
            advance()
        }
    }

    /// Between the elements of an array lines may end.
    mutating func skipLinesAndComments() throws(ConfigurationMistake) {
        repeat { try skipSpaceAndComment() } while skipNewline()
    }

    /// A key with its dots, and the space around it.
    mutating func readKey() throws(ConfigurationMistake) -> TOMLKey {
        var parts: [String] = []
        let line = line
        repeat {
            skipSpace()
            parts.append(try readKeyPart())
            skipSpace()
            guard parts.count <= Self.depthLimit else { throw mistake("the key is too long", expected: "a known key") }
        } while skip(UInt8(ascii: "."))
        return TOMLKey(parts: parts, line: line)
    }

    private mutating func readKeyPart() throws(ConfigurationMistake) -> String {
        if peek == UInt8(ascii: "\""), !stands("\"\"\"") { return try readBasicString() }
        if peek == UInt8(ascii: "'"), !stands("'''") { return try readLiteralString() }
        let part = bytes[position...].prefix(while: Self.isOfBareKey)
        guard !part.isEmpty else {
            throw mistake("\(shownHere) cannot begin a key", expected: "KEY = VALUE, or [TABLE]")
        }
        advance(part.count)
        return String(decoding: part, as: UTF8.self)
    }

    static func isOfBareKey(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    /// The control characters that TOML allows nowhere, tab and line feed being handled by the caller.
    static func isControl(_ byte: UInt8) -> Bool { (byte < 0x20 && byte != UInt8(ascii: "\t")) || byte == 0x7f }

    /// What stands here, to be quoted in a mistake.
    var shownHere: String {
        guard let byte = peek, byte != UInt8(ascii: "\n"), byte != UInt8(ascii: "\r") else {
            return "the end of the line"
        }
        let word = bytes[position...].prefix { $0 > 0x20 && $0 != UInt8(ascii: ",") }.prefix(24)
        guard !word.isEmpty else { return "a control character" }
        return "\"" + String(decoding: word, as: UTF8.self) + "\""
    }

    func mistake(_ problem: String, expected: String, line: Int? = nil) -> ConfigurationMistake {
        ConfigurationMistake(line: line ?? self.line, key: key, problem, expected: expected)
    }
}
