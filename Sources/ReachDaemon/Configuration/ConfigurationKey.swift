/// One key of a table that is read into a `Root`.
package struct ConfigurationKey<Root>: Sendable {
    let name: String
    /// What the value has to be, for the mistake that says it is not.
    let expected: String
    /// Puts the value in its place, or says what is wrong with it.
    let read: @Sendable (TOMLNode, inout Root) throws(ConfigurationMistake) -> Void

    init<Value>(_ name: String, _ place: any WritableKeyPath<Root, Value> & Sendable, _ kind: ConfigurationKind<Value>)
    {
        self.name = name
        expected = kind.expected
        read = { node, root throws(ConfigurationMistake) in root[keyPath: place] = try kind.read(node) }
    }
}

/// One table of the configuration, or one kind of tables.
package struct ConfigurationTable: Sendable {
    /// `nil` for the keys above all tables.
    let name: String?
    /// The keys it may have; empty where the user chooses them.
    let keys: [String]
    let isList: Bool
    let read: @Sendable (TOMLNode, inout ConfigurationReader) -> Void

    /// Such as `hold.up`.
    package var keyNames: [String] {
        guard let name else { return keys }
        return keys.isEmpty ? [name + ".NAME"] : keys.map { name + "." + $0 }
    }

    /// How its header is written.
    package var header: String { name.map { isList ? "[[\($0)]]" : "[\($0)]" } ?? "the top, before all tables" }

    /// A table of known keys.
    static func keys(_ name: String?, _ keys: [ConfigurationKey<Configuration>]) -> ConfigurationTable {
        ConfigurationTable(name: name, keys: keys.map(\.name), isList: false) { node, reader in
            guard case .table(let table) = node.value else {
                return reader.report(node, name, "it is no table", expected: "[\(name ?? "")]")
            }
            var configuration = reader.configuration
            reader.readKeys(of: table, path: name, keys, into: &configuration)
            reader.configuration = configuration
        }
    }

    /// A table whose keys are names that the user chooses.
    static func names<Value>(
        _ name: String, _ kind: ConfigurationKind<Value>,
        add: @escaping @Sendable (inout Configuration, String, Value) -> Void
    ) -> ConfigurationTable {
        ConfigurationTable(name: name, keys: [], isList: false) { node, reader in
            guard case .table(let table) = node.value else {
                return reader.report(node, name, "it is no table", expected: "[\(name)]")
            }
            for entry in table.entries {
                let path = name + "." + entry.key
                if let problem = TargetName.problem(of: entry.key) {
                    reader.report(entry, path, problem, expected: TargetName.expected)
                } else if let value = reader.read(entry, path, kind) {
                    add(&reader.configuration, entry.key, value)
                }
            }
        }
    }

    typealias Contradiction = (key: String, problem: String, expected: String)

    /// A list of tables, in which the order matters.
    ///
    /// - Parameters:
    ///   - required: Keys that each has to have.
    ///   - choices: Keys of which each has to have one, or it would say nothing; empty where there are none.
    ///   - contradiction: What no key of one of them can tell alone, and the key that is at fault.
    static func list<Element: Sendable>(
        _ name: String, _ empty: Element, requiring required: [String], andOneOf choices: [String] = [],
        _ keys: [ConfigurationKey<Element>],
        contradiction: @escaping @Sendable (Element, Configuration) -> Contradiction? = { _, _ in nil },
        add: @escaping @Sendable (inout Configuration, Element) -> Void
    ) -> ConfigurationTable {
        ConfigurationTable(name: name, keys: keys.map(\.name), isList: true) { node, reader in
            guard case .tables(let tables) = node.value else {
                return reader.report(node, name, "it is no list of tables", expected: "[[\(name)]]")
            }
            for table in tables {
                var element = empty
                let before = reader.mistakes.count
                reader.readKeys(of: table, path: name, keys, into: &element)
                let missing = required.filter { table[$0] == nil }
                for key in missing {
                    reader.report(
                        line: table.line, name, "\(key) is missing", expected: "\(key) = VALUE below [[\(name)]]")
                }
                if let (key, problem, expected) = contradiction(element, reader.configuration) {
                    let line = table.entries.first { $0.key == key }?.line ?? table.line
                    reader.report(line: line, name + "." + key, problem, expected: expected)
                }
                guard reader.mistakes.count == before else { continue }
                guard choices.isEmpty || choices.contains(where: { table[$0] != nil }) else {
                    let expected = choices.joined(separator: " or ") + " = VALUE below [[\(name)]]"
                    reader.report(line: table.line, name, "it says nothing of what it fits", expected: expected)
                    continue
                }
                add(&reader.configuration, element)
            }
        }
    }
}
