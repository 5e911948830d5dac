internal import ReachCore

/// The valid part of a TOML 1.0 text, and all its syntax errors.
///
/// toml++ stops at the first error. To report all of them, the faulty statement is blanked and the text is parsed
/// again.
package struct TOMLDocument {
    package let table: TOMLTable
    package let errors: [ConfigurationValidationError]

    /// Limits the errors of a file of another kind, which is wrong on every line.
    static let errorLimit = 50
    /// The limit of parsed bytes in all passes; after it no further errors are searched.
    static let effortLimit = 8 << 20

    package static func parse(_ bytes: [UInt8]) -> TOMLDocument {
        var text = TOMLText(bytes)
        if let error = text.encodingError ?? text.keyLengthError { return TOMLDocument(errors: [error]) }
        var errors: [ConfigurationValidationError] = []
        while true {
            switch text.parse() {
            case .table(let table): return TOMLDocument(table: table, errors: errors)
            case .tooDeep(let line):
                errors.append(
                    ConfigurationValidationError(
                        line: line, "it is nested too deeply",
                        expected: "at most \(TOMLTree.depthLimit) tables and lists within each other"))
                return TOMLDocument(errors: errors)
            case .syntaxError(let line, let description):
                let statement = text.statement(brokenOn: line)
                // toml++ reports an unterminated value at the end of the file: report the start of the statement.
                let place = TOMLErrorText.isEndOfFile(description) ? statement.start : line
                errors.append(TOMLErrorText.error(line: place, key: statement.key, description))
                let mayContinue = errors.count < errorLimit && text.parsedBytes < effortLimit
                guard mayContinue, text.blank(statement, brokenOn: place) else { return TOMLDocument(errors: errors) }
            }
        }
    }

    private init(table: TOMLTable = TOMLTable(entries: [], line: 1), errors: [ConfigurationValidationError]) {
        self.table = table
        self.errors = errors
    }
}

/// Converts toml++'s error descriptions to the form of configuration errors: the problem, and what is expected.
enum TOMLErrorText {
    static func error(line: Int, key: String?, _ description: String) -> ConfigurationValidationError {
        let (problem, expected) = parts(of: description)
        return ConfigurationValidationError(line: line, key: key, problem, expected: expected)
    }

    /// Whether the error is at the end of the file. toml++ then reports the last line, which may be correct.
    static func isEndOfFile(_ description: String) -> Bool { description.containsUTF8("end-of-file") }

    /// Parses descriptions such as `Error while parsing key-value pair: expected '=', saw '\n'`.
    private static func parts(of description: String) -> (problem: String, expected: String) {
        let halves = split(description, at: ": ")
        let text = halves.map { String($0.after) } ?? description
        let place = halves.map { " (" + $0.before.dropScalars { $0 != " " }.dropFirst() + ")" } ?? ""
        if text.hasUTF8Prefix("expected "), let (expected, saw) = split(text, at: ", saw ") {
            return ("there is \(saw)\(place)", String(expected.dropFirst("expected ".count)))
        }
        if text == "could not determine value type" {
            return ("it is not a value", "a text in quotes, a number, true, false, or a [list]")
        }
        let isTwice = text.hasUTF8Prefix("cannot redefine")
        return (text + place, isTwice ? "each key and each table once" : "TOML 1.0")
    }

    private static func split(_ text: String, at separator: String) -> (before: Substring, after: Substring)? {
        text.utf8Range(of: separator).map { (text[..<$0.lowerBound], text[$0.upperBound...]) }
    }
}
