/// The bytes of a file, as lines numbered from 1. Statements with an error can be blanked.
struct TOMLText {
    /// The first line and the key of a statement that toml++ could not read.
    struct Statement {
        let start: Int
        let key: String?
    }

    private var bytes: [UInt8]
    /// The offset of each line's start, and of the end of the last.
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

    /// The error if the text is not UTF-8, which toml++ does not always detect.
    var encodingError: ConfigurationValidationError? {
        guard String(validating: bytes, as: UTF8.self) == nil else { return nil }
        let first = (1...lineCount).first { String(validating: line($0), as: UTF8.self) == nil }
        return ConfigurationValidationError(line: first ?? 1, "it is not UTF-8", expected: "text in UTF-8")
    }

    var keyLengthError: ConfigurationValidationError? {
        TOMLKeyLength.lineOfExcess(in: bytes).map { line in
            ConfigurationValidationError(line: line, "the key is too long", expected: "a known key")
        }
    }

    mutating func parse() -> TOMLTree { parse(lines: lineCount) }

    private mutating func parse(lines: Int) -> TOMLTree {
        parsedBytes += starts[lines]
        return TOMLTree.parse(bytes[..<starts[lines]])
    }

    // MARK: - Errors

    /// The statement that contains the error that toml++ reports at `line`.
    mutating func statement(brokenOn line: Int) -> Statement {
        let start = start(ofStatementBrokenOn: min(max(line, 1), lineCount))
        let words = TOMLStatementLine(self.line(start))
        let key = words.isHeader ? nil : headerKey(above: start)
        let name = words.key.map { name in key.map { "\($0).\(name)" } ?? name }
        return Statement(start: start, key: name)
    }

    /// Searches the statement's first line: the text before the statement parses, a text that ends within it does not.
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
        if case .syntaxError = parse(lines: lines) { return false }
        return true
    }

    private func headerKey(above line: Int) -> String? {
        for number in (1..<line).reversed() {
            let words = TOMLStatementLine(self.line(number))
            if words.isHeader, words.looksLikeStatement { return words.key }
        }
        return nil
    }

    /// Blanks the statement with all its lines.
    ///
    /// - Parameter line: The line of the error; the statement's first line if the statement is unterminated.
    /// - Returns: Whether anything was blanked.
    mutating func blank(_ statement: Statement, brokenOn line: Int) -> Bool {
        let end = end(of: statement, brokenOn: line)
        var isChanged = false
        for offset in starts[statement.start - 1]..<starts[end - 1] where !Self.isBlank(bytes[offset]) {
            bytes[offset] = UInt8(ascii: " ")
            isChanged = true
        }
        return isChanged
    }

    /// The first line after the statement. Further lines of a value are not statements, and parsing them would report
    /// false errors. But a line that looks like a statement ends an unterminated value.
    private func end(of statement: Statement, brokenOn line: Int) -> Int {
        let first = TOMLStatementLine(self.line(statement.start))
        let mayContinue = line > statement.start || first.mayContinue
        var end = max(statement.start + 1, line)
        while end <= lineCount {
            let next = TOMLStatementLine(self.line(end))
            let isPart = first.isHeader ? !next.isHeader : mayContinue
            guard isPart, first.isHeader || !next.looksLikeStatement else { break }
            end += 1
        }
        return end
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\n")
    }
}
