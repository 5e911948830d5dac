/// A kind of value: how it is read and written, and how error messages describe it.
package struct ConfigurationKind<Value>: Sendable {
    package let expected: String
    /// The value as TOML; `nil` for one that is not set.
    package let write: @Sendable (Value) -> String?
    private let convert: @Sendable (TOMLNode) throws(ConfigurationValidationError) -> Value

    /// - Parameters:
    ///   - write: The value as TOML; `nil` for one that is not set.
    ///   - convert: Converts the value, or returns the problem as text.
    package init(
        _ expected: String, write: @escaping @Sendable (Value) -> String?,
        _ convert: @escaping @Sendable (TOMLNode.Value) -> Reading<Value>
    ) {
        self.expected = expected
        self.write = write
        self.convert = { node throws(ConfigurationValidationError) in
            switch convert(node.value) {
            case .value(let value): return value
            case .wrong(let problem): throw ConfigurationValidationError(line: node.line, problem, expected: expected)
            case .otherType:
                throw ConfigurationValidationError(line: node.line, "it is \(node.value.typeName)", expected: expected)
            }
        }
    }

    init(
        _ expected: String, write: @escaping @Sendable (Value) -> String?,
        nested: @escaping @Sendable (TOMLNode) throws(ConfigurationValidationError) -> Value
    ) {
        self.expected = expected
        self.write = write
        convert = nested
    }

    package func read(_ node: TOMLNode) throws(ConfigurationValidationError) -> Value { try convert(node) }

    /// A value of `kind` for a property that is `nil` without the key.
    package static func optional<Wrapped>(_ kind: ConfigurationKind<Wrapped>) -> Self where Value == Wrapped? {
        Self(kind.expected, write: { $0.flatMap(kind.write) }) { node throws(ConfigurationValidationError) in
            try kind.read(node)
        }
    }

    /// One value, or a list of values of which one is enough.
    package static func oneOf<Element>(_ kind: ConfigurationKind<Element>, upTo most: Int) -> Self
    where Value == [Element] {
        let list = ConfigurationKind<[Element]>.list(of: kind, 1...most)
        return Self(
            "\(kind.expected), or a list of them",
            write: { values in
                let texts = values.compactMap(kind.write)
                return texts.count > 1 ? TOMLLiteral.list(texts) : texts.first
            }
        ) { node throws(ConfigurationValidationError) in
            if case .array = node.value { return try list.read(node) }
            return [try kind.read(node)]
        }
    }

    /// Values of which each counts once, also where it is written twice.
    package static func set<Element: Hashable & Sendable>(
        of kind: ConfigurationKind<Element>, upTo most: Int
    ) -> Self where Value == Set<Element> {
        let list = ConfigurationKind<[Element]>.list(of: kind, 0...most)
        return Self(
            list.expected, write: { TOMLLiteral.list($0.compactMap(kind.write).sorted()) }
        ) { node throws(ConfigurationValidationError) in Set(try list.read(node)) }
    }

    /// - Parameter identity: What no two elements may share, as people know it; `nil` where they may be equal.
    package static func list<Element>(
        of kind: ConfigurationKind<Element>, _ count: ClosedRange<Int>,
        distinctBy identity: (@Sendable (Element) -> String)? = nil
    ) -> Self where Value == [Element] {
        let expected = "a list of \(count.lowerBound) to \(count.upperBound), each \(kind.expected)"
        return Self(expected, write: { TOMLLiteral.list($0.compactMap(kind.write)) }) {
            node throws(ConfigurationValidationError) in
            guard case .array(let nodes) = node.value else {
                throw ConfigurationValidationError(line: node.line, "it is \(node.value.typeName)", expected: expected)
            }
            guard count.contains(nodes.count) else {
                let problem = "the list has \(nodes.count) elements"
                throw ConfigurationValidationError(line: node.line, problem, expected: expected)
            }
            var elements: [Element] = []
            var known: Set<String> = []
            for node in nodes {
                let element = try kind.read(node)
                if let name = identity?(element), !known.insert(name).inserted {
                    throw ConfigurationValidationError(
                        line: node.line, "\(name) is listed twice", expected: "each once")
                }
                elements.append(element)
            }
            return elements
        }
    }
}

/// The result of reading one value.
package enum Reading<Value> {
    case value(Value)
    /// The value is invalid, for this reason.
    case wrong(String)
    case otherType

    /// - Parameter problem: The problem if `value` is `nil`.
    package init(_ value: Value?, else problem: @autoclosure () -> String) {
        self = value.map { .value($0) } ?? .wrong(problem())
    }
}

extension TOMLNode.Value {
    /// The type with its article, such as `a text`.
    var typeName: String {
        switch self {
        case .string: "a text"
        case .integer: "a whole number"
        case .float: "a number with a fraction"
        case .boolean: "true or false"
        case .moment: "a date"
        case .array: "a list"
        case .table, .tables: "a table"
        }
    }
}
