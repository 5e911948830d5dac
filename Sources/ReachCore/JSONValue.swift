/// A JSON document that somebody else wrote. Numbers without a fraction are exact; the order of keys is not kept.
package enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case double(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// A member of an object; `nil` for a missing one, for null, and for what is no object.
    package subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self, let value = members[name], value != .null else { return nil }
        return value
    }

    package var string: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    package var bool: Bool? {
        guard case .bool(let flag) = self else { return nil }
        return flag
    }

    package var integer: Int64? {
        guard case .integer(let number) = self else { return nil }
        return number
    }

    package var array: [JSONValue]? {
        guard case .array(let elements) = self else { return nil }
        return elements
    }

    package var object: [String: JSONValue]? {
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
