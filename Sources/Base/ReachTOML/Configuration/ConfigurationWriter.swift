internal import ReachCore

/// Writes a configuration as TOML that reads back the same. Each key is written, with the place where it is set or the
/// comment `default`.
package struct ConfigurationWriter<Root: Sendable> {
    let root: Root
    private let places: [String: ConfigurationPlace]
    private var lines: [String] = []

    /// The text of all tables.
    package static func text(
        of root: Root, _ tables: [ConfigurationTable<Root>], places: [String: ConfigurationPlace]
    ) -> String {
        var writer = ConfigurationWriter(root: root, places: places)
        for table in tables { table.write(&writer) }
        return writer.lines.joined(separator: "\n") + "\n"
    }

    private init(root: Root, places: [String: ConfigurationPlace]) {
        self.root = root
        self.places = places
    }

    mutating func begin(_ table: String?) {
        if let table { lines += ["", "[\(table)]"] }
    }

    mutating func beginElement(of list: String) { lines += ["", "[[\(list)]]"] }

    /// A key of a table of which there is one.
    mutating func write<Owner>(_ key: ConfigurationKey<Owner>, of owner: Owner, in table: String?) {
        let place = places[table.map { "\($0).\(key.name)" } ?? key.name]
        let comment = place.map { DisplayText.sanitized("\($0.file):\($0.line)") } ?? "default"
        guard let value = key.write(owner) else { return lines.append("# \(key.name): not set") }
        lines.append("\(key.name) = \(value)  # \(comment)")
    }

    /// A key of a table of which there are several. Keys that are not set are left out: most apply to some kinds only.
    mutating func write<Owner>(_ key: ConfigurationKey<Owner>, of owner: Owner, default empty: Owner) {
        guard let value = key.write(owner) else { return }
        lines.append("\(key.name) = \(value)" + (value == key.write(empty) ? "  # default" : ""))
    }

    /// A key that the user chose.
    mutating func write(_ name: String, _ value: String?) {
        guard let value else { return }
        lines.append("\(TOMLLiteral.key(name)) = \(value)")
    }
}
