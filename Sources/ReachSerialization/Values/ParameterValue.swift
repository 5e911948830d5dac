/// What a caller wants to send, before it is written as a query, a form, JSON, a property list or multipart.
///
/// It can be written as a literal:
///
///     ["name": "Ann", "tags": ["a", "b"], "address": ["city": "Graz"], "nothing": nil]
///
/// Which of these a format can hold differs, and each serializer says what it refuses: JSON has no data and no sets, a
/// property list has no null and no sets.
public enum ParameterValue: Hashable, Sendable {
    /// Nothing. A query then has the bare key, JSON has `null`, a form's part is empty.
    case null
    /// True or false; `1` or `0` in queries and forms.
    case bool(Bool)
    /// A whole number.
    case integer(Int64)
    /// A number with a fraction.
    case double(Double)
    /// Text.
    case string(String)
    /// Bytes as they are.
    case data([UInt8])
    /// Values in an order.
    case array([ParameterValue])
    /// Values without an order. Queries and forms write them sorted, each under the same key.
    case set(Set<ParameterValue>)
    /// Values by their names.
    case dictionary([String: ParameterValue])
}

extension ParameterValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByStringInterpolation,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// `nil` is null.
    public init(nilLiteral: ()) { self = .null }

    /// `true` and `false`.
    public init(booleanLiteral value: Bool) { self = .bool(value) }

    /// A whole number.
    public init(integerLiteral value: Int64) { self = .integer(value) }

    /// A number with a fraction.
    public init(floatLiteral value: Double) { self = .double(value) }

    /// Text.
    public init(stringLiteral value: String) { self = .string(value) }

    /// An array; a set has to be written as `.set([...])`.
    public init(arrayLiteral elements: ParameterValue...) { self = .array(elements) }

    /// A dictionary. Of a key that stands there twice the last value counts.
    public init(dictionaryLiteral elements: (String, ParameterValue)...) {
        self = .dictionary(Dictionary(elements) { _, last in last })
    }
}
