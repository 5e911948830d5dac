/// A table of a configuration, or a list of tables of the same kind, read into a `Root`.
package struct ConfigurationTable<Root: Sendable>: Sendable {
    /// `nil` for the keys before all tables.
    package let name: String?
    /// The known keys; empty if the user chooses them.
    package let keys: [String]
    let isList: Bool
    let read: @Sendable (TOMLNode, inout ConfigurationReader<Root>) -> Void
    let write: @Sendable (inout ConfigurationWriter<Root>) -> Void

    /// Such as `hold.up`.
    package var keyNames: [String] {
        guard let name else { return keys }
        return keys.isEmpty ? [name + ".NAME"] : keys.map { name + "." + $0 }
    }

    /// The header as it is written in the file.
    package var header: String { name.map { isList ? "[[\($0)]]" : "[\($0)]" } ?? "the top, before all tables" }

    /// A table with known keys.
    package static func keys(_ name: String?, _ keys: [ConfigurationKey<Root>]) -> ConfigurationTable {
        ConfigurationTable(name: name, keys: keys.map(\.name), isList: false) { node, reader in
            guard case .table(let table) = node.value else {
                return reader.report(node, name, "it is not a table", expected: "[\(name ?? "")]")
            }
            var root = reader.root
            reader.readKeys(of: table, path: name, keys, into: &root)
            reader.root = root
        } write: { writer in
            writer.begin(name)
            for key in keys { writer.write(key, of: writer.root, in: name) }
        }
    }

    /// A table whose keys are names that the user chooses.
    ///
    /// - Parameter names: What such a name is.
    package static func names<Value>(
        _ name: String, _ names: ConfigurationNames, _ kind: ConfigurationKind<Value>,
        all: @escaping @Sendable (Root) -> [(String, Value)],
        add: @escaping @Sendable (inout Root, String, Value) -> Void
    ) -> ConfigurationTable {
        ConfigurationTable(name: name, keys: [], isList: false) { node, reader in
            guard case .table(let table) = node.value else {
                return reader.report(node, name, "it is not a table", expected: "[\(name)]")
            }
            reader.note(name, line: node.line)
            for entry in table.entries {
                let path = name + "." + entry.key
                if let problem = names.problem(entry.key) {
                    reader.report(entry, path, problem, expected: names.expected)
                } else if let value = reader.read(entry, path, kind) {
                    add(&reader.root, entry.key, value)
                }
            }
        } write: { writer in
            writer.begin(name)
            for (key, value) in all(writer.root) { writer.write(key, kind.write(value)) }
        }
    }

    package typealias Contradiction = (key: String, problem: String, expected: String)

    /// A list of tables, in which the order matters.
    ///
    /// - Parameters:
    ///   - start: An element before the keys of its table are read, of which it may use one; by default `empty`.
    ///   - required: Keys that every table must have.
    ///   - choices: Keys of which every table must have at least one; empty for no such rule.
    ///   - lacking: The problem of a table without any of them.
    ///   - shared: Keys that belong to another table, where they are described, and that this one has, too.
    ///   - namesOf: The names of an element, where two must not have the same.
    ///   - contradiction: Returns a contradiction between keys of a table, and the key to report. It gets the name that
    ///     a table before this one has, too.
    package static func list<Element: Sendable>(
        _ name: String, _ empty: Element,
        from start: (@Sendable (TOMLTable, Root) throws(ConfigurationValidationError) -> Element)? = nil,
        requiring required: [String], andOneOf choices: [String] = [],
        lacking: String = "it sets nothing for what it matches", _ own: [ConfigurationKey<Element>],
        and shared: [ConfigurationKey<Element>] = [],
        named namesOf: @escaping @Sendable (Element) -> [String] = { _ in [] },
        contradiction: @escaping @Sendable (Element, _ takenName: String?) -> Contradiction? = { _, _ in nil },
        in place: any WritableKeyPath<Root, [Element]> & Sendable
    ) -> ConfigurationTable {
        let keys = own + shared
        return ConfigurationTable(name: name, keys: own.map(\.name), isList: true) { node, reader in
            guard case .tables(let tables) = node.value else {
                return reader.report(node, name, "it is not a list of tables", expected: "[[\(name)]]")
            }
            // Those of the files before this one.
            var names = Set(reader.root[keyPath: place].flatMap(namesOf))
            for table in tables {
                var element = empty
                let before = reader.errors.count
                do throws(ConfigurationValidationError) {
                    if let start { element = try start(table, reader.root) }
                } catch {
                    reader.report(
                        line: error.line ?? table.line, error.key ?? name, error.problem, expected: error.expected)
                }
                reader.readKeys(of: table, path: name, keys, into: &element)
                let missing = required.filter { table[$0] == nil }
                for key in missing {
                    reader.report(
                        line: table.line, name, "\(key) is missing", expected: "\(key) = VALUE below [[\(name)]]")
                }
                let elementNames = namesOf(element)
                if let (key, problem, expected) = contradiction(element, elementNames.first(where: names.contains)) {
                    let line = table.entries.first { $0.key == key }?.line ?? table.line
                    reader.report(line: line, name + "." + key, problem, expected: expected)
                }
                guard reader.errors.count == before else { continue }
                guard choices.isEmpty || choices.contains(where: { table[$0] != nil }) else {
                    let expected = choices.joined(separator: " or ") + " = VALUE below [[\(name)]]"
                    reader.report(line: table.line, name, lacking, expected: expected)
                    continue
                }
                names.formUnion(elementNames)
                reader.root[keyPath: place].append(element)
            }
        } write: { writer in
            for element in writer.root[keyPath: place] {
                writer.beginElement(of: name)
                for key in keys { writer.write(key, of: element, default: empty) }
            }
        }
    }
}

/// The names that a user may choose as the keys of a table.
package struct ConfigurationNames: Sendable {
    /// What a name is, for the error about another.
    let expected: String
    /// What is wrong with a name; `nil` for a right one.
    let problem: @Sendable (String) -> String?

    package init(_ expected: String, problem: @escaping @Sendable (String) -> String?) {
        self.expected = expected
        self.problem = problem
    }
}

/// One key of a table, read into a property of `Root`.
package struct ConfigurationKey<Root>: Sendable {
    package let name: String
    /// The kind of value, for the error about a wrong one.
    let expected: String
    /// Stores the value, or throws what is wrong with it.
    let read: @Sendable (TOMLNode, inout Root) throws(ConfigurationValidationError) -> Void
    /// The value as TOML; `nil` for one that is not set.
    let write: @Sendable (Root) -> String?

    package init<Value>(
        _ name: String, _ place: any WritableKeyPath<Root, Value> & Sendable, _ kind: ConfigurationKind<Value>
    ) {
        self.name = name
        expected = kind.expected
        read = { node, root throws(ConfigurationValidationError) in root[keyPath: place] = try kind.read(node) }
        write = { kind.write($0[keyPath: place]) }
    }
}
