/// Values: arrays, inline tables, and single words.
extension TOMLParser {
    mutating func readValue() throws(ConfigurationMistake) -> TOMLNode.Value {
        switch peek {
        case UInt8(ascii: "\""), UInt8(ascii: "'"): return .string(try readString())
        case UInt8(ascii: "["): return .array(try readArray())
        case UInt8(ascii: "{"): return .table(try readInlineTable())
        default: return try readWord()
        }
    }

    private mutating func readArray() throws(ConfigurationMistake) -> [TOMLNode] {
        let firstLine = line
        try open()
        var elements: [TOMLNode] = []
        try skipLinesAndComments()
        while !skip(UInt8(ascii: "]")) {
            guard peek != nil else { throw mistake("the list does not end", expected: "a closing ]", line: firstLine) }
            let line = line
            elements.append(TOMLNode(value: try readValue(), line: line))
            try skipLinesAndComments()
            guard skip(UInt8(ascii: ",")) || peek == UInt8(ascii: "]") || peek == nil else {
                throw mistake("\(shownHere) stands in the list", expected: "a comma, or a closing ]")
            }
            try skipLinesAndComments()
        }
        depth -= 1
        return elements
    }

    private mutating func readInlineTable() throws(ConfigurationMistake) -> TOMLTable {
        let table = TOMLTable(.header, line: line)
        let outerKey = key
        try open()
        skipSpace()
        while !skip(UInt8(ascii: "}")) {
            if !table.entries.isEmpty {
                guard skip(UInt8(ascii: ",")) else {
                    throw mistake("\(shownHere) stands between braces", expected: "a comma, or a closing } on the line")
                }
            }
            try readPair(into: table, prefix: outerKey.map { [$0] } ?? [])
            key = outerKey
            skipSpace()
        }
        table.origin = .inline
        depth -= 1
        return table
    }

    private mutating func open() throws(ConfigurationMistake) {
        depth += 1
        guard depth <= Self.depthLimit else {
            throw mistake("lists are nested too deeply", expected: "at most \(Self.depthLimit) within each other")
        }
        advance()
    }

    /// Everything without a delimiter: truth values, numbers, dates.
    private mutating func readWord() throws(ConfigurationMistake) -> TOMLNode.Value {
        let word = bytes[position...].prefix(while: Self.isOfWord)
        guard !word.isEmpty else {
            throw mistake("\(shownHere) is no value", expected: "a text in quotes, a number, true, false, or a [list]")
        }
        let text = String(decoding: word, as: UTF8.self)
        guard let value = TOMLWord.read(text) else {
            throw mistake("\(text) is no value", expected: "a text in quotes, a number, true, false, or a [list]")
        }
        advance(word.count)
        if case .moment = value { skipTimeBehindSpace() }
        return value
    }

    /// The T between a date and a time may be a space.
    private mutating func skipTimeBehindSpace() {
        guard peek == UInt8(ascii: " "), let digit = peek(1), (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit),
            peek(3) == UInt8(ascii: ":")
        else { return }
        advance()
        advance(bytes[position...].prefix(while: Self.isOfWord).count)
    }

    private static func isOfWord(_ byte: UInt8) -> Bool {
        isOfBareKey(byte) || byte == UInt8(ascii: "+") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: ":")
    }
}
