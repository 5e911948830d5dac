/// A text in TOML 1.0 as far as it has no mistakes, and all its mistakes of syntax.
///
/// toml++ stops at the first mistake. Somebody who puts a file right wants all of them: so the statement with the mistake
/// is blanked, and the rest is read once more.
package struct TOMLDocument {
    package let table: TOMLTable
    package let mistakes: [ConfigurationMistake]

    /// A file of another kind, given by mistake, would be wrong on every line.
    static let mistakeLimit = 50
    /// Bytes that are parsed in all until the reader is content with the mistakes that it has.
    static let effortLimit = 8 << 20

    package static func parse(_ bytes: [UInt8]) -> TOMLDocument {
        var text = TOMLText(bytes)
        if let mistake = text.encodingMistake ?? text.keyLengthMistake { return TOMLDocument(mistakes: [mistake]) }
        var mistakes: [ConfigurationMistake] = []
        while true {
            switch text.parse() {
            case .table(let table): return TOMLDocument(table: table, mistakes: mistakes)
            case .tooDeep(let line):
                mistakes.append(
                    ConfigurationMistake(
                        line: line, "it is nested too deeply",
                        expected: "at most \(TOMLTree.depthLimit) tables and lists within each other"))
                return TOMLDocument(mistakes: mistakes)
            case .mistake(let line, let description):
                let statement = text.statement(brokenOn: line)
                // For what has no end toml++ names the end of the file, where nothing is wrong.
                let place = TOMLMistakeText.isEndOfFile(description) ? statement.start : line
                mistakes.append(TOMLMistakeText.mistake(line: place, key: statement.key, description))
                let goesOn = mistakes.count < mistakeLimit && text.parsedBytes < effortLimit
                guard goesOn, text.blank(statement, brokenOn: place) else { return TOMLDocument(mistakes: mistakes) }
            }
        }
    }

    private init(table: TOMLTable = TOMLTable(entries: [], line: 1), mistakes: [ConfigurationMistake]) {
        self.table = table
        self.mistakes = mistakes
    }
}
