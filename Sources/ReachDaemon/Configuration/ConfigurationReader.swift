/// Turns a TOML document into a configuration, and collects what is wrong with it.
struct ConfigurationReader {
    var configuration = Configuration()
    private(set) var mistakes: [ConfigurationMistake] = []
    /// Where each key was set, for contradictions between keys.
    private var lines: [String: Int] = [:]

    static func read(_ document: TOMLDocument) -> (Configuration, [ConfigurationMistake]) {
        var reader = ConfigurationReader()
        reader.mistakes = document.mistakes
        reader.readTables(of: document.table)
        let before = reader.mistakes.isEmpty
        for (key, problem, expected) in before ? reader.configuration.contradictions : [] {
            reader.report(line: reader.lines[key] ?? 1, key, problem, expected: expected)
        }
        return (reader.configuration, reader.mistakes)
    }

    private mutating func readTables(of root: TOMLTable) {
        let top = Configuration.tables.first { $0.name == nil }
        top?.read(TOMLNode(value: .table(root), line: 1), &self)
        for entry in root.entries {
            Configuration.tables.first { $0.name == entry.key }?.read(entry.node, &self)
        }
    }

    /// Reads a table's known keys; others are mistakes.
    mutating func readKeys<Root>(
        of table: TOMLTable, path: String?, _ keys: [ConfigurationKey<Root>], into root: inout Root
    ) {
        for entry in table.entries {
            let name = path.map { $0 + "." + entry.key } ?? entry.key
            if let key = keys.first(where: { $0.name == entry.key }) {
                lines[name] = entry.line
                do throws(ConfigurationMistake) {
                    try key.read(entry.node, &root)
                } catch {
                    mistakes.append(error.named(name))
                }
            } else if path != nil || !Configuration.tables.contains(where: { $0.name == entry.key }) {
                let hint = KeyHint.text(for: entry.key, in: path, known: keys.map(\.name), isTable: entry.isTable)
                report(entry, name, "there is no such key", expected: hint)
            }
        }
    }

    mutating func read<Value>(
        _ entry: TOMLTable.Entry, _ path: String, _ kind: ConfigurationKind<Value>
    ) -> Value? {
        do throws(ConfigurationMistake) {
            return try kind.read(entry.node)
        } catch {
            mistakes.append(error.named(path))
            return nil
        }
    }

    mutating func report(_ entry: TOMLTable.Entry, _ key: String, _ problem: String, expected: String) {
        report(line: entry.line, key, problem, expected: expected)
    }

    mutating func report(_ node: TOMLNode, _ key: String?, _ problem: String, expected: String) {
        mistakes.append(ConfigurationMistake(line: node.line, key: key, problem, expected: expected))
    }

    mutating func report(line: Int, _ key: String, _ problem: String, expected: String) {
        mistakes.append(ConfigurationMistake(line: line, key: key, problem, expected: expected))
    }
}

extension TOMLTable.Entry {
    fileprivate var isTable: Bool {
        switch node.value {
        case .table, .tables: true
        default: false
        }
    }
}

extension Configuration {
    /// Reads the text of a file.
    ///
    /// - Parameter file: Its name, for mistakes.
    package static func parse(_ text: [UInt8], file: String) throws(ConfigurationError) -> Configuration {
        let (configuration, mistakes) = ConfigurationReader.read(TOMLDocument.parse(text))
        guard mistakes.isEmpty else { throw ConfigurationError(file: file, mistakes: mistakes) }
        return configuration
    }
}
