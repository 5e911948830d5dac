internal import ReachCore

/// Writes a configuration as TOML that reads back the same. Each key is written, with the place where it is set or the
/// comment `default`.
package struct ConfigurationWriter {
    let configuration: Configuration
    private let places: [String: ConfigurationPlace]
    private var lines: [String] = []

    package static func text(of read: ReadConfiguration) -> String {
        var writer = ConfigurationWriter(configuration: read.configuration, places: read.places)
        for table in Configuration.tables { table.write(&writer) }
        return writer.lines.joined(separator: "\n") + "\n"
    }

    private init(configuration: Configuration, places: [String: ConfigurationPlace]) {
        self.configuration = configuration
        self.places = places
    }

    mutating func begin(_ table: String?) {
        if let table { lines += ["", "[\(table)]"] }
    }

    mutating func beginElement(of list: String) { lines += ["", "[[\(list)]]"] }

    /// A key of a table of which there is one.
    mutating func write<Root>(_ key: ConfigurationKey<Root>, of root: Root, in table: String?) {
        let place = places[table.map { "\($0).\(key.name)" } ?? key.name]
        let comment = place.map { DisplayText.sanitized("\($0.file):\($0.line)") } ?? "default"
        guard let value = key.write(root) else { return lines.append("# \(key.name): not set") }
        lines.append("\(key.name) = \(value)  # \(comment)")
    }

    /// A key of a table of which there are several. Keys that are not set are left out: most apply to some kinds only.
    mutating func write<Root>(_ key: ConfigurationKey<Root>, of root: Root, default empty: Root) {
        guard let value = key.write(root) else { return }
        lines.append("\(key.name) = \(value)" + (value == key.write(empty) ? "  # default" : ""))
    }

    /// A key that the user chose.
    mutating func write(_ name: String, _ value: String?) {
        guard let value else { return }
        lines.append("\(TOMLLiteral.key(name)) = \(value)")
    }
}
