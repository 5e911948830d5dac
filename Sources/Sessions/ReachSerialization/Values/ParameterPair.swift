internal import ReachCore

/// A name and a value: nested parameters are flattened to pairs for queries, forms and multipart bodies.
///
/// The names are AFNetworking's: `a[b]` for a member of a dictionary, `a[]` for an element of an array, and `a` again
/// for an element of a set. Dictionaries are ordered by key and sets by element, so that equal parameters give equal
/// bytes, and parsers of arrays of dictionaries find members of one dictionary next to each other. Empty containers
/// give no pair.
public struct ParameterPair: Hashable, Sendable {
    /// The name, with its brackets, not escaped.
    public let name: String
    /// The value, which is never an array, a set or a dictionary.
    public let value: ParameterValue

    /// Flattens parameters.
    ///
    /// - Parameter parameters: Values by name.
    /// - Returns: The pairs in the order in which they are sent.
    public static func pairs(of parameters: [String: ParameterValue]) -> [ParameterPair] {
        pairs(of: parameters, QueryStyle())
    }

    static func pairs(of parameters: [String: ParameterValue], _ style: QueryStyle) -> [ParameterPair] {
        var pairs: [ParameterPair] = []
        append(parameters, under: nil, style, to: &pairs)
        return pairs
    }

    private static func append(
        _ members: [String: ParameterValue], under name: String?, _ style: QueryStyle, to pairs: inout [ParameterPair]
    ) {
        // AFNetworking compares decomposed letters, and places é next to e; here é comes after z. ASCII is ordered the
        // same.
        for (key, member) in members.sorted(by: { $0.key < $1.key }) {
            append(member, named: style.name(of: key, under: name), style, to: &pairs)
        }
    }

    private static func append(
        _ value: ParameterValue, named name: String, _ style: QueryStyle, to pairs: inout [ParameterPair]
    ) {
        switch value {
        case .dictionary(let members): append(members, under: name, style, to: &pairs)
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                append(element, named: style.name(ofElement: index, of: name), style, to: &pairs)
            }
        case .set(let elements):
            let texts = elements.map { (value: $0, text: sortingText($0)) }
            for element in texts.sorted(by: { $0.text < $1.text }) {
                append(element.value, named: name, style, to: &pairs)
            }
        case .null, .bool, .integer, .unsigned, .double, .decimal, .string, .data:
            pairs.append(ParameterPair(name: name, value: value))
        }
    }

    /// The text by which an element of a set is sorted: 10 before 9, as in AFNetworking.
    private static func sortingText(_ value: ParameterValue) -> String {
        switch value {
        case .array, .set, .dictionary:
            var pairs: [ParameterPair] = []
            append(value, named: "", QueryStyle(), to: &pairs)
            return QueryString.text(of: pairs)
        default: return String(decoding: value.plainBytes, as: UTF8.self)
        }
    }
}

extension [ParameterPair] {
    /// Names and values as bytes of a text encoding.
    ///
    /// - Throws: An error that names the pair which the encoding cannot hold.
    func encoded(in encoding: TextEncoding) throws(RequestSerializationError) -> [EncodedPair] {
        var pairs: [EncodedPair] = []
        pairs.reserveCapacity(count)
        for pair in self {
            guard let name = encoding.encode(pair.name), let value = pair.value.plainBytes(in: encoding) else {
                throw .unsupportedValue(place: pair.name, kind: "text with other characters", format: encoding.name)
            }
            pairs.append(EncodedPair(name: name, value: pair.value == .null ? nil : value))
        }
        return pairs
    }
}

/// A name and a value in bytes of a text encoding, not escaped.
struct EncodedPair {
    let name: [UInt8]
    /// `nil` for null.
    let value: [UInt8]?
}

extension ParameterValue {
    /// The bytes of a single value in a text encoding, not escaped; data is as it is.
    ///
    /// - Returns: `nil` for text that the encoding cannot hold.
    func plainBytes(in encoding: TextEncoding) -> [UInt8]? {
        if case .data(let bytes) = self { return bytes }
        // All but texts are ASCII.
        return encoding == .utf8 ? plainBytes : encoding.encode(String(decoding: plainBytes, as: UTF8.self))
    }

    /// The bytes of a single value, not escaped; empty for null and for containers.
    ///
    /// Numbers are written as in Objective-C: booleans as 1 and 0, doubles with an integral value without a fraction.
    /// Other doubles are written with the fewest digits that read back as the same number. Objective-C cuts them to 16
    /// digits, and writes 98.1 as 98.09999999999999.
    var plainBytes: [UInt8] {
        switch self {
        case .null, .array, .set, .dictionary: return []
        case .bool(let flag): return [UInt8(ascii: flag ? "1" : "0")]
        case .integer(let number): return Array(number.description.utf8)
        case .unsigned(let number): return Array(number.description.utf8)
        case .double(let number):
            let text = number.description
            return Array(text.hasUTF8Suffix(".0") ? text.utf8.dropLast(2) : text.utf8[...])
        case .string(let text), .decimal(let text): return Array(text.utf8)
        case .data(let bytes): return bytes
        }
    }
}
