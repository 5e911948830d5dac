internal import FoundationEssentials

/// Encodes `Encodable` values as parameters.
struct ParameterEncoder: Encoder {
    private let node: ParameterNode
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    private init(_ node: ParameterNode, _ codingPath: [any CodingKey]) {
        self.node = node
        self.codingPath = codingPath
    }

    /// - Parameter dates: The form of dates, at every level.
    /// - Returns: `nil` for an optional that is nil.
    static func encode(
        _ value: any Encodable, at path: [any CodingKey], dates: ParameterValue.Dates
    ) throws -> ParameterValue? {
        if let date = value as? Date { return try dates.value(of: date) }
        if let values = value as? any ParameterElements { return try values.parameterValue(dates: dates) }
        if let value = value as? any ParameterConvertible { return try value.parameterValue() }
        if let value = value as? any OptionalValue, value.wrapped == nil { return nil }
        let node = ParameterNode(dates)
        try value.encode(to: ParameterEncoder(node, path))
        return node.value
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(KeyedParameters<Key>(node: node, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        UnkeyedParameters(node: node, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        SingleParameter(node: node, codingPath: codingPath)
    }

    fileprivate static func nested(_ node: ParameterNode, _ path: [any CodingKey]) -> ParameterEncoder {
        ParameterEncoder(node, path)
    }
}

/// A value that is being encoded, by one encoder after another. The container that was asked for first counts.
private final class ParameterNode {
    let dates: ParameterValue.Dates
    private var single: ParameterValue?
    private var elements: [ParameterNode]?
    private var members: [String: ParameterNode]?

    init(_ dates: ParameterValue.Dates) { self.dates = dates }

    /// The value; an empty dictionary if nothing was encoded, as of a structure without members.
    var value: ParameterValue {
        if let single { return single }
        if let elements { return .array(elements.map(\.value)) }
        return .dictionary((members ?? [:]).mapValues(\.value))
    }

    /// The number of elements.
    var count: Int { elements?.count ?? 0 }

    func set(_ value: ParameterValue) { single = value }

    func beginArray() { if elements == nil { elements = [] } }

    func beginDictionary() { if members == nil { members = [:] } }

    func append() -> ParameterNode {
        let node = ParameterNode(dates)
        elements?.append(node)
        return node
    }

    func member(_ name: String) -> ParameterNode {
        if let node = members?[name] { return node }
        let node = ParameterNode(dates)
        members?[name] = node
        return node
    }
}

private struct KeyedParameters<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: ParameterNode
    let codingPath: [any CodingKey]

    init(node: ParameterNode, codingPath: [any CodingKey]) {
        self.node = node
        self.codingPath = codingPath
        node.beginDictionary()
    }

    func encodeNil(forKey key: Key) { node.member(key.stringValue).set(.null) }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        guard let value = try ParameterEncoder.encode(value, at: codingPath + [key], dates: node.dates) else { return }
        node.member(key.stringValue).set(value)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        ParameterEncoder.nested(node.member(key.stringValue), codingPath + [key]).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        ParameterEncoder.nested(node.member(key.stringValue), codingPath + [key]).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { ParameterEncoder.nested(node.member("super"), codingPath) }

    func superEncoder(forKey key: Key) -> any Encoder {
        ParameterEncoder.nested(node.member(key.stringValue), codingPath + [key])
    }
}

private struct UnkeyedParameters: UnkeyedEncodingContainer {
    let node: ParameterNode
    let codingPath: [any CodingKey]
    var count: Int { node.count }

    init(node: ParameterNode, codingPath: [any CodingKey]) {
        self.node = node
        self.codingPath = codingPath
        node.beginArray()
    }

    func encodeNil() { node.append().set(.null) }

    func encode<Value: Encodable>(_ value: Value) throws {
        node.append().set(try ParameterEncoder.encode(value, at: codingPath, dates: node.dates) ?? .null)
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        ParameterEncoder.nested(node.append(), codingPath).container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        ParameterEncoder.nested(node.append(), codingPath).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { ParameterEncoder.nested(node.append(), codingPath) }
}

private struct SingleParameter: SingleValueEncodingContainer {
    let node: ParameterNode
    let codingPath: [any CodingKey]

    func encodeNil() { node.set(.null) }

    func encode<Value: Encodable>(_ value: Value) throws {
        node.set(try ParameterEncoder.encode(value, at: codingPath, dates: node.dates) ?? .null)
    }
}
