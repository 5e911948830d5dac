/// A JSON document that somebody else wrote. Numbers without a fraction are exact; the order of keys is not kept.
public enum JSONValue: Hashable, Sendable {
    /// The word `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number without a fraction or an exponent.
    case integer(Int64)
    /// Any other number.
    case double(Double)
    /// Text.
    case string(String)
    /// Values in an order.
    case array([JSONValue])
    /// Values by their names.
    case object([String: JSONValue])

    /// A member of an object; `nil` for a missing one, for null, and for what is no object.
    public subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self, let value = members[name], value != .null else { return nil }
        return value
    }

    /// The text, if it is one.
    public var string: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// The truth, if it is one.
    public var bool: Bool? {
        guard case .bool(let flag) = self else { return nil }
        return flag
    }

    /// The number, if it is one without a fraction.
    public var integer: Int64? {
        guard case .integer(let number) = self else { return nil }
        return number
    }

    /// The elements, if it is an array.
    public var array: [JSONValue]? {
        guard case .array(let elements) = self else { return nil }
        return elements
    }

    /// The members, if it is an object.
    public var object: [String: JSONValue]? {
        guard case .object(let members) = self else { return nil }
        return members
    }
}

extension JSONWriter {
    /// Writes a document; the members of objects in the order of their names.
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
