internal import ReachCore

/// Where a key is set.
package struct ConfigurationPlace: Hashable, Sendable {
    package let file: String
    package let line: Int
}

/// Reads the tables of TOML documents into one value, and collects the errors. A key of a later document replaces that
/// of an earlier one, a list as a whole.
package struct ConfigurationReader<Root: Sendable> {
    package var root: Root
    package private(set) var errors: [ConfigurationValidationError] = []
    /// Where each key was set last.
    package private(set) var places: [String: ConfigurationPlace] = [:]
    private let tables: [ConfigurationTable<Root>]
    private var file = ""

    package init(_ root: Root, _ tables: [ConfigurationTable<Root>]) {
        self.root = root
        self.tables = tables
    }

    /// Reads the tables whose names are wanted; `nil` stands for the keys before all tables.
    package mutating func read(
        _ document: TOMLDocument, file: String, where isWanted: (String?) -> Bool = { _ in true }
    ) {
        self.file = file
        if isWanted(nil), let top = tables.first(where: { $0.name == nil }) {
            document.errors.forEach { append($0) }
            top.read(TOMLNode(value: .table(document.table), line: 1), &self)
        }
        for entry in document.table.entries where isWanted(entry.key) {
            tables.first { $0.name == entry.key }?.read(entry.node, &self)
        }
    }

    /// Reports what keys say against each other: each of them is right by itself.
    ///
    /// - Parameter file: The file to name where no file sets the key.
    package mutating func report(
        _ contradictions: [(key: String, problem: String, expected: String?)], file first: String
    ) {
        for (key, problem, expected) in contradictions {
            let place = places[key]
            file = place?.file ?? first
            report(line: place?.line ?? 1, key, problem, expected: expected)
        }
    }

    /// Notes where a key, or a table of names, is set.
    mutating func note(_ key: String, line: Int) { places[key] = ConfigurationPlace(file: file, line: line) }

    private mutating func append(_ error: ConfigurationValidationError) {
        var error = error
        error.file = file
        errors.append(error)
    }

    /// Reads a table's known keys, and reports unknown ones.
    mutating func readKeys<Owner>(
        of table: TOMLTable, path: String?, _ keys: [ConfigurationKey<Owner>], into owner: inout Owner
    ) {
        for entry in table.entries {
            let name = path.map { $0 + "." + entry.key } ?? entry.key
            if let key = keys.first(where: { $0.name == entry.key }) {
                note(name, line: entry.line)
                do throws(ConfigurationValidationError) {
                    try key.read(entry.node, &owner)
                } catch {
                    append(error.named(name))
                }
            } else if path != nil || !tables.contains(where: { $0.name == entry.key }) {
                let hint = KeyHint.text(
                    for: entry.key, in: path, known: keys.map(\.name), isTable: entry.isTable, tables: tables)
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

/// What to say about an unknown key: the key or table that the user probably meant.
enum KeyHint {
    /// - Parameters:
    ///   - path: The table of the key; `nil` at the top of the file.
    ///   - known: The known keys of the table.
    ///   - tables: All tables of the file.
    /// - Returns: The problem, and what is expected if no word is near.
    static func text<Root>(
        for key: String, in path: String?, known: [String], isTable: Bool, tables: [ConfigurationTable<Root>]
    ) -> (problem: String, expected: String?) {
        let candidates = isTable && path == nil ? tables.filter { $0.name != nil } : []
        if let meant = NearestWord.find(key, among: candidates.compactMap(\.name)) {
            return ("unknown table; did you mean \(candidates.first { $0.name == meant }?.header ?? meant)?", nil)
        }
        if let meant = NearestWord.find(key, among: known) { return ("unknown key; did you mean '\(meant)'?", nil) }
        if let home = tables.first(where: { $0.name != path && $0.keys.contains(key) }) {
            return ("unknown key; did you mean \(key) below \(home.header)?", nil)
        }
        let words = isTable && path == nil ? candidates.map(\.header) : known
        return (isTable && path == nil ? "unknown table" : "unknown key", "one of " + words.joined(separator: ", "))
    }
}
