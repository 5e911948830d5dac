/// One name and one value, to which nested parameters come down in queries, forms and multipart bodies.
///
/// The names are AFNetworking's: `a[b]` for a member of a dictionary, `a[]` for an element of an array, `a` again for
/// an element of a set. Dictionaries go by their sorted keys and sets by their sorted elements, so that equal
/// parameters are equal bytes, and what reads arrays of dictionaries back finds their members side by side. What is
/// empty leaves no pair.
public struct ParameterPair: Hashable, Sendable {
    /// The name, with its brackets, not escaped.
    public let name: String
    /// Never an array, a set or a dictionary.
    public let value: ParameterValue

    /// Takes parameters apart.
    ///
    /// - Parameter parameters: Values by their names.
    /// - Returns: The pairs in the order in which they are sent.
    public static func pairs(of parameters: [String: ParameterValue]) -> [ParameterPair] {
        var pairs: [ParameterPair] = []
        append(parameters, under: nil, to: &pairs)
        return pairs
    }

    private static func append(
        _ members: [String: ParameterValue], under name: String?, to pairs: inout [ParameterPair]
    ) {
        // AFNetworking compares decomposed letters, so that it has é beside e; here it comes after z. ASCII goes alike.
        for (key, member) in members.sorted(by: { $0.key < $1.key }) {
            append(member, named: name.map { "\($0)[\(key)]" } ?? key, to: &pairs)
        }
    }

    private static func append(_ value: ParameterValue, named name: String, to pairs: inout [ParameterPair]) {
        switch value {
        case .dictionary(let members): append(members, under: name, to: &pairs)
        case .array(let elements): for element in elements { append(element, named: name + "[]", to: &pairs) }
        case .set(let elements):
            let texts = elements.map { (value: $0, text: sortingText($0)) }
            for element in texts.sorted(by: { $0.text < $1.text }) { append(element.value, named: name, to: &pairs) }
        case .null, .bool, .integer, .double, .string, .data: pairs.append(ParameterPair(name: name, value: value))
        }
    }

    /// Sets are sorted by what their elements read as: 10 before 9, as in AFNetworking.
    private static func sortingText(_ value: ParameterValue) -> String {
        switch value {
        case .array, .set, .dictionary:
            var pairs: [ParameterPair] = []
            append(value, named: "", to: &pairs)
            return QueryString.text(of: pairs)
        default: return String(decoding: value.plainBytes, as: UTF8.self)
        }
    }
}

extension ParameterValue {
    /// What a single value is as bytes, not escaped; nothing for null and for what holds other values.
    ///
    /// Numbers read as Objective-C's do: booleans are 1 and 0, whole doubles have no fraction. Other doubles have the
    /// fewest digits that read back as the same number, where Objective-C cuts to 16 digits and makes 98.09999999999999
    /// of 98.1.
    var plainBytes: [UInt8] {
        switch self {
        case .null, .array, .set, .dictionary: return []
        case .bool(let flag): return [UInt8(ascii: flag ? "1" : "0")]
        case .integer(let number): return Array(number.description.utf8)
        case .double(let number):
            let text = number.description
            return Array(text.hasSuffix(".0") ? text.utf8.dropLast(2) : text.utf8[...])
        case .string(let text): return Array(text.utf8)
        case .data(let bytes): return bytes
        }
    }
}
