package import ReachTOML

/// Where a key is set.
package struct ConfigurationPlace: Hashable, Sendable {
    package let file: String
    package let line: Int
}

/// Converts TOML documents to one configuration, and collects the errors.
///
/// A key of a later document replaces that of an earlier one, a list as a whole. `[[probe]]` tables are added to
/// earlier ones. So are `[[interface]]` and `[[network]]` tables, but before the earlier ones, since the first that
/// matches decides.
struct ConfigurationReader {
    var configuration = Configuration()
    private(set) var errors: [ConfigurationValidationError] = []
    /// Where each key was set last.
    private(set) var places: [String: ConfigurationPlace] = [:]
    private var file = ""

    static func read(_ documents: [(file: String, document: TOMLDocument)]) -> ConfigurationReader {
        var reader = ConfigurationReader()
        // A probe's template may be in any file, also a later one.
        for (file, document) in documents {
            reader.file = file
            reader.readTables(of: document.table) { $0 == Configuration.templates }
        }
        for (file, document) in documents {
            reader.file = file
            document.errors.forEach { reader.append($0) }
            let (interfaces, networks) = (reader.configuration.interfaces, reader.configuration.networks)
            (reader.configuration.interfaces, reader.configuration.networks) = ([], [])
            reader.readTop(of: document.table)
            reader.readTables(of: document.table) { $0 != Configuration.templates }
            reader.configuration.interfaces += interfaces
            reader.configuration.networks += networks
        }
        let isValid = reader.errors.isEmpty
        reader.configuration.fitDefaults { reader.places[$0] != nil }
        for (key, problem, expected) in isValid ? reader.configuration.contradictions : [] {
            let place = reader.places[key]
            reader.file = place?.file ?? documents.first?.file ?? ""
            reader.report(line: place?.line ?? 1, key, problem, expected: expected)
        }
        return reader
    }

    private mutating func append(_ error: ConfigurationValidationError) {
        var error = error
        error.file = file
        errors.append(error)
    }

    private mutating func readTop(of root: TOMLTable) {
        let top = Configuration.tables.first { $0.name == nil }
        top?.read(TOMLNode(value: .table(root), line: 1), &self)
    }

    private mutating func readTables(of root: TOMLTable, where isWanted: (String) -> Bool) {
        for entry in root.entries where isWanted(entry.key) {
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
                places[name] = ConfigurationPlace(file: file, line: entry.line)
                do throws(ConfigurationValidationError) {
                    try key.read(entry.node, &root)
                } catch {
                    append(error.named(name))
                }
            } else if path != nil || !Configuration.tables.contains(where: { $0.name == entry.key }) {
                let hint = KeyHint.text(for: entry.key, in: path, known: keys.map(\.name), isTable: entry.isTable)
                report(entry, name, hint.problem, expected: hint.expected)
            }
        }
    }

    mutating func read<Value>(
        _ entry: TOMLTable.Entry, _ path: String, _ kind: ConfigurationKind<Value>
    ) -> Value? {
        do throws(ConfigurationValidationError) {
            return try kind.read(entry.node)
        } catch {
            append(error.named(path))
            return nil
        }
    }

    mutating func report(_ entry: TOMLTable.Entry, _ key: String, _ problem: String, expected: String?) {
        report(line: entry.line, key, problem, expected: expected)
    }

    mutating func report(_ node: TOMLNode, _ key: String?, _ problem: String, expected: String) {
        append(ConfigurationValidationError(line: node.line, key: key, problem, expected: expected))
    }

    mutating func report(line: Int, _ key: String, _ problem: String, expected: String?) {
        append(ConfigurationValidationError(line: line, key: key, problem, expected: expected))
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

/// A configuration, and where its keys are set.
package struct ReadConfiguration: Hashable, Sendable {
    package let configuration: Configuration
    /// By key, such as `hold.up`. Keys of `[[probe]]` and `[[interface]]` tables stand for the last of them.
    package let places: [String: ConfigurationPlace]
    /// The files that were read, in this order.
    package let files: [String]

    /// Reads a configuration from the texts of files, of which a later one has precedence.
    package init(_ files: [(path: String, text: [UInt8])]) throws(ConfigurationError) {
        let reader = ConfigurationReader.read(files.map { ($0.path, TOMLDocument.parse($0.text)) })
        guard reader.errors.isEmpty else {
            throw ConfigurationError(file: files.first?.path ?? "", errors: reader.errors)
        }
        configuration = reader.configuration
        places = reader.places
        self.files = files.map(\.path)
    }
}

extension Configuration {
    /// Reads a configuration from the text of a file.
    ///
    /// - Parameter file: The file's name, for error messages.
    package static func parse(_ text: [UInt8], file: String) throws(ConfigurationError) -> Configuration {
        try ReadConfiguration([(file, text)]).configuration
    }
}
