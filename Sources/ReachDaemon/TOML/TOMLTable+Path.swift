/// A key as it is written: `hold.up` has two parts.
struct TOMLKey {
    let parts: [String]
    let line: Int

    var text: String { parts.joined(separator: ".") }
}

/// TOML 1.0's rules on what may be defined where, and only once.
extension TOMLTable {
    /// The table that `[key]` begins.
    func header(_ key: TOMLKey) throws(ConfigurationMistake) -> TOMLTable {
        let parent = try walk(key)
        let name = key.parts[key.parts.count - 1]
        guard let entry = parent[name] else { return parent.addTable(name, .header, line: key.line) }
        guard case .table(let table) = entry.node.value, table.origin == .implicit else {
            throw ConfigurationMistake(
                line: key.line, "this table is there already, on line \(entry.line)",
                expected: "each table once")
        }
        table.origin = .header
        return table
    }

    /// The table that `[[key]]` begins.
    func element(_ key: TOMLKey) throws(ConfigurationMistake) -> TOMLTable {
        let parent = try walk(key)
        let name = key.parts[key.parts.count - 1]
        let table = TOMLTable(.header, line: key.line)
        switch parent[name]?.node.value {
        case .tables(let list): list.append(table)
        case nil:
            let list = TOMLTableList()
            list.append(table)
            parent.add(name, .tables(list), line: key.line)
        default:
            let line = parent[name]?.line ?? key.line
            throw ConfigurationMistake(
                line: key.line, "it is something else already, on line \(line)",
                expected: "only [[\(key.text)]] tables of this name")
        }
        return table
    }

    /// Adds `key = value`.
    func set(_ key: TOMLKey, to value: TOMLNode.Value) throws(ConfigurationMistake) {
        var table = self
        for part in key.parts.dropLast() {
            switch table[part]?.node.value {
            case nil: table = table.addTable(part, .dotted, line: key.line)
            case .table(let next) where next.origin == .dotted || next.origin == .implicit:
                next.origin = .dotted
                table = next
            default: throw Self.closed(part, in: key, since: table[part]?.line)
            }
        }
        let name = key.parts[key.parts.count - 1]
        if let first = table[name] {
            throw ConfigurationMistake(
                line: key.line, "it is set twice, first on line \(first.line)", expected: "each key once"
            )
        }
        table.add(name, value, line: key.line)
    }

    /// The table that holds the last part of a header's key.
    private func walk(_ key: TOMLKey) throws(ConfigurationMistake) -> TOMLTable {
        var table = self
        for part in key.parts.dropLast() {
            switch table[part]?.node.value {
            case nil: table = table.addTable(part, .implicit, line: key.line)
            case .table(let next) where next.origin != .inline: table = next
            case .tables(let list): table = list.tables[list.tables.count - 1]
            default: throw Self.closed(part, in: key, since: table[part]?.line)
            }
        }
        return table
    }

    private func addTable(_ name: String, _ origin: Origin, line: Int) -> TOMLTable {
        let table = TOMLTable(origin, line: line)
        add(name, .table(table), line: line)
        return table
    }

    private static func closed(_ part: String, in key: TOMLKey, since line: Int?) -> ConfigurationMistake {
        ConfigurationMistake(
            line: key.line, "nothing can be added to \"\(part)\" of line \(line ?? key.line)",
            expected: "all of a table in one place")
    }
}
