/// The bytes of a file, as lines that count from 1, of which those with a mistake are blanked.
struct TOMLText {
    /// The lines of something that toml++ could not read, and its key.
    struct Statement {
        let start: Int
        let key: String?
    }

    private var bytes: [UInt8]
    /// Where each line begins, and the end of the last.
    private let starts: [Int]
    private(set) var parsedBytes = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        var starts = [0]
        for (offset, byte) in bytes.enumerated() where byte == UInt8(ascii: "\n") { starts.append(offset + 1) }
        self.starts = starts + [bytes.count]
    }

    private var lineCount: Int { starts.count - 1 }

    private func line(_ number: Int) -> ArraySlice<UInt8> { bytes[starts[number - 1]..<starts[number]] }

    /// toml++ takes some of what is no UTF-8.
    var encodingMistake: ConfigurationMistake? {
        guard String(validating: bytes, as: UTF8.self) == nil else { return nil }
        let first = (1...lineCount).first { String(validating: line($0), as: UTF8.self) == nil }
        return ConfigurationMistake(line: first ?? 1, "it is not UTF-8", expected: "text in UTF-8")
    }

    var keyLengthMistake: ConfigurationMistake? {
        TOMLKeyLength.lineOfExcess(in: bytes).map { line in
            ConfigurationMistake(line: line, "the key is too long", expected: "a known key")
        }
    }

    mutating func parse() -> TOMLTree { parse(lines: lineCount) }

    private mutating func parse(lines: Int) -> TOMLTree {
        parsedBytes += starts[lines]
        return TOMLTree.parse(bytes[..<starts[lines]])
    }

    // MARK: Around a mistake

    /// The statement that toml++ could not read, having come to `line`.
    mutating func statement(brokenOn line: Int) -> Statement {
        let start = start(ofStatementBrokenOn: min(max(line, 1), lineCount))
        let words = TOMLStatementLine(self.line(start))
        let key = words.isHeader ? nil : headerKey(above: start)
        let name = words.key.map { name in key.map { "\($0).\(name)" } ?? name }
        return Statement(start: start, key: name)
    }

    /// What stands before a statement can be read alone; what ends within it cannot.
    private mutating func start(ofStatementBrokenOn line: Int) -> Int {
        var (bad, good, step) = (line, line - 1, 1)
        while good > 0, !isWhole(lines: good), parsedBytes < TOMLDocument.effortLimit {
            (bad, good, step) = (good, max(0, good - step), step * 2)
        }
        while bad - good > 1, parsedBytes < TOMLDocument.effortLimit {
            let middle = (bad + good) / 2
            if isWhole(lines: middle) { good = middle } else { bad = middle }
        }
        return bad
    }

    private mutating func isWhole(lines: Int) -> Bool {
        if case .mistake = parse(lines: lines) { return false }
        return true
    }

    private func headerKey(above line: Int) -> String? {
        for number in (1..<line).reversed() {
            let words = TOMLStatementLine(self.line(number))
            if words.isHeader, words.looksLikeStatement { return words.key }
        }
        return nil
    }

    /// Takes the statement out, and what belongs to it.
    ///
    /// - Parameter line: Where the mistake is; the statement's first line where that has no end.
    /// - Returns: Whether there was anything to take out.
    mutating func blank(_ statement: Statement, brokenOn line: Int) -> Bool {
        let end = end(of: statement, brokenOn: line)
        var isChanged = false
        for offset in starts[statement.start - 1]..<starts[end - 1] where !Self.isBlank(bytes[offset]) {
            bytes[offset] = UInt8(ascii: " ")
            isChanged = true
        }
        return isChanged
    }

    /// The first line that does not belong to the statement. What stands on further lines of a value is no statement,
    /// and would only bring mistakes that are none; but a line that looks like one follows a value without an end.
    private func end(of statement: Statement, brokenOn line: Int) -> Int {
        let first = TOMLStatementLine(self.line(statement.start))
        let mayGoOn = line > statement.start || first.mayGoOn
        var end = max(statement.start + 1, line)
        while end <= lineCount {
            let next = TOMLStatementLine(self.line(end))
            let isPart = first.isHeader ? !next.isHeader : mayGoOn
            guard isPart, first.isHeader || !next.looksLikeStatement else { break }
            end += 1
        }
        return end
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\n")
    }
}
