/// A JSON document. Integers are exact; the order of keys is not kept.
public enum JSONValue: Hashable, Sendable {
    /// The word `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number without a fraction and an exponent.
    case integer(Int64)
    /// Any other number.
    case double(Double)
    /// Text.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object: values by their names.
    case object([String: JSONValue])

    /// A member of an object; `nil` if it is missing or null, or if this is not an object.
    public subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self, let value = members[name], value != .null else { return nil }
        return value
    }

    /// The document as text in UTF-8: compact, with sorted names. A number that is not finite becomes `null`.
    package var encoded: [UInt8] {
        var writer = JSONWriter()
        writer.value(self)
        return writer.bytes
    }

    /// The text, if this is a string.
    public var string: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// The truth value, if this is one.
    public var bool: Bool? {
        guard case .bool(let flag) = self else { return nil }
        return flag
    }

    /// The number, if this is one without a fraction and an exponent.
    public var integer: Int64? {
        guard case .integer(let number) = self else { return nil }
        return number
    }

    /// The elements, if this is an array.
    public var array: [JSONValue]? {
        guard case .array(let elements) = self else { return nil }
        return elements
    }

    /// The members, if this is an object.
    public var object: [String: JSONValue]? {
        guard case .object(let members) = self else { return nil }
        return members
    }
}

extension JSONWriter {
    /// Writes a document, with the members of objects sorted by name.
    package mutating func value(_ json: JSONValue) {
        switch json {
        case .null: value(nil)
        case .bool(let flag): value(flag)
        case .integer(let number): value(number)
        case .double(let number): value(number)
        case .string(let text): value(text)
        case .array(let elements): array { for element in elements { $0.value(element) } }
        case .object(let members):
            object {
                for (name, member) in members.sorted(by: { $0.key < $1.key }) {
                    $0.key(named: name)
                    $0.value(member)
                }
            }
        }
    }
}
