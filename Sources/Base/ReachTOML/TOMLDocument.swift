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
