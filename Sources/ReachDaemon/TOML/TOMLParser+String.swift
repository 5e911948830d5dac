/// The four kinds of strings.
extension TOMLParser {
    mutating func readString() throws(ConfigurationMistake) -> String {
        if stands("\"\"\"") { return try readLong(quote: UInt8(ascii: "\""), hasEscapes: true) }
        if stands("'''") { return try readLong(quote: UInt8(ascii: "'"), hasEscapes: false) }
        return peek == UInt8(ascii: "'") ? try readLiteralString() : try readBasicString()
    }

    mutating func readBasicString() throws(ConfigurationMistake) -> String {
        try readShort(quote: UInt8(ascii: "\""), hasEscapes: true)
    }

    mutating func readLiteralString() throws(ConfigurationMistake) -> String {
        try readShort(quote: UInt8(ascii: "'"), hasEscapes: false)
    }

    private mutating func readShort(quote: UInt8, hasEscapes: Bool) throws(ConfigurationMistake) -> String {
        advance()
        var text: [UInt8] = []
        while let byte = peek, byte != UInt8(ascii: "\n"), byte != UInt8(ascii: "\r") {
            if skip(quote) { return String(decoding: text, as: UTF8.self) }
            try readCharacter(into: &text, hasEscapes: hasEscapes)
        }
        throw mistake("the text does not end on its line", expected: "a closing quote")
    }

    private mutating func readLong(quote: UInt8, hasEscapes: Bool) throws(ConfigurationMistake) -> String {
        let firstLine = line
        depth += 1
        advance(3)
        _ = skipNewline()
        var text: [UInt8] = []
        while let byte = peek {
            if byte == quote, peek(1) == quote, peek(2) == quote {
                // Up to two quotes may stand before the closing three.
                let run = bytes[position...].prefix(5).prefix { $0 == quote }.count
                text += repeatElement(quote, count: run - 3)
                advance(run)
                depth -= 1
                return String(decoding: text, as: UTF8.self)
            }
            if skipNewline() {
                text.append(UInt8(ascii: "\n"))
            } else if !(hasEscapes && skipLineContinuation()) {
                try readCharacter(into: &text, hasEscapes: hasEscapes)
            }
        }
        throw mistake("the text does not end", expected: "three closing quotes", line: firstLine)
    }

    /// A backslash at the end of a line takes with it all space up to the next text.
    private mutating func skipLineContinuation() -> Bool {
        guard peek == UInt8(ascii: "\\") else { return false }
        let (before, lineBefore) = (position, line)
        advance()
        skipSpace()
        guard skipNewline() else {
            (position, line) = (before, lineBefore)
            return false
        }
        repeat { skipSpace() } while skipNewline()
        return true
    }

    private mutating func readCharacter(into text: inout [UInt8], hasEscapes: Bool) throws(ConfigurationMistake) {
        guard let byte = peek else { return }
        if hasEscapes, byte == UInt8(ascii: "\\") { return try readEscape(into: &text) }
        guard !Self.isControl(byte) else {
            throw mistake("there is a control character in the text", expected: "an escape such as \\n or \\u001b")
        }
        text.append(byte)
        advance()
    }

    private mutating func readEscape(into text: inout [UInt8]) throws(ConfigurationMistake) {
        let letter = peek(1)
        switch letter {
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "n"): text.append(0x0a)
        case UInt8(ascii: "f"): text.append(0x0c)
        case UInt8(ascii: "r"): text.append(0x0d)
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): text.append(letter ?? 0)
        case UInt8(ascii: "u"): return try readScalar(digits: 4, into: &text)
        case UInt8(ascii: "U"): return try readScalar(digits: 8, into: &text)
        default:
            throw mistake(
                "there is no such escape", expected: "\\b \\t \\n \\f \\r \\\" \\\\ \\uXXXX or \\UXXXXXXXX")
        }
        advance(2)
    }

    private mutating func readScalar(digits: Int, into text: inout [UInt8]) throws(ConfigurationMistake) {
        let hex = bytes[(position + 2)...].prefix(digits)
        guard hex.count == digits, hex.allSatisfy(Self.isHexDigit),
            let number = UInt32(String(decoding: hex, as: UTF8.self), radix: 16), let scalar = Unicode.Scalar(number)
        else { throw mistake("the escape names no character", expected: "\\uXXXX or \\UXXXXXXXX") }
        text += Array(String(Character(scalar)).utf8)
        advance(2 + digits)
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        switch byte | 0x20 {
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte >= UInt8(ascii: "A")
        default: (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        }
    }
}
