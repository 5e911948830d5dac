package import ReachTOML

/// Converts a TOML document to a configuration, and collects the errors.
struct ConfigurationReader {
    var configuration = Configuration()
    private(set) var errors: [ConfigurationValidationError] = []
    /// The line of each key, for contradictions between keys.
    private var lines: [String: Int] = [:]

    static func read(_ document: TOMLDocument) -> (Configuration, [ConfigurationValidationError]) {
        var reader = ConfigurationReader()
        reader.errors = document.errors
        reader.readTables(of: document.table)
        let isValid = reader.errors.isEmpty
        for (key, problem, expected) in isValid ? reader.configuration.contradictions : [] {
            reader.report(line: reader.lines[key] ?? 1, key, problem, expected: expected)
        }
        return (reader.configuration, reader.errors)
    }

    private mutating func readTables(of root: TOMLTable) {
        let top = Configuration.tables.first { $0.name == nil }
        top?.read(TOMLNode(value: .table(root), line: 1), &self)
        for entry in root.entries {
            Configuration.tables.first { $0.name == entry.key }?.read(entry.node, &self)
        }
    }

    /// Reads a table's known keys, and reports unknown ones.
    mutating func readKeys<Root>(
        of table: TOMLTable, path: String?, _ keys: [ConfigurationKey<Root>], into root: inout Root
    ) {
        for entry in table.entries {
            let name = path.map { $0 + "." + entry.key } ?? entry.key
            if let key = keys.first(where: { $0.name == entry.key }) {
                lines[name] = entry.line
                do throws(ConfigurationValidationError) {
                    try key.read(entry.node, &root)
                } catch {
                    errors.append(error.named(name))
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
        do throws(ConfigurationValidationError) {
            return try kind.read(entry.node)
        } catch {
            errors.append(error.named(path))
            return nil
        }
    }

    mutating func report(_ entry: TOMLTable.Entry, _ key: String, _ problem: String, expected: String) {
        report(line: entry.line, key, problem, expected: expected)
    }

    mutating func report(_ node: TOMLNode, _ key: String?, _ problem: String, expected: String) {
        errors.append(ConfigurationValidationError(line: node.line, key: key, problem, expected: expected))
    }

    mutating func report(line: Int, _ key: String, _ problem: String, expected: String) {
        errors.append(ConfigurationValidationError(line: line, key: key, problem, expected: expected))
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
    /// Reads a configuration from the text of a file.
    ///
    /// - Parameter file: The file's name, for error messages.
    package static func parse(_ text: [UInt8], file: String) throws(ConfigurationError) -> Configuration {
        let (configuration, errors) = ConfigurationReader.read(TOMLDocument.parse(text))
        guard errors.isEmpty else { throw ConfigurationError(file: file, errors: errors) }
        return configuration
    }
}
