/// A parameter of a request, to be encoded as a query, a form, JSON, a property list or multipart.
///
/// It can be written as a literal:
///
///     ["name": "Ann", "tags": ["a", "b"], "address": ["city": "Graz"], "nothing": nil]
///
/// Variables of any `Encodable` type become one by ``init(encoding:)``, and values of any type by ``init(of:)``.
///
/// Formats differ in the values that they can hold. Each serializer documents what it rejects: JSON has no data and no
/// sets, a property list has no null and no sets.
public enum ParameterValue: Hashable, Sendable {
    /// No value. A query then has only the key, JSON has `null`, a form's part is empty.
    case null
    /// True or false; `1` or `0` in queries and forms.
    case bool(Bool)
    /// An integer.
    case integer(Int64)
    /// An integer beyond `Int64`. ``init(_:)`` makes smaller ones ``integer(_:)``.
    case unsigned(UInt64)
    /// A number with a fraction.
    case double(Double)
    /// A number in decimal digits, such as `-12.50` or `1e400`, for one with more digits than ``double(_:)`` keeps. It
    /// is sent as it is written.
    case decimal(String)
    /// Text.
    case string(String)
    /// Binary data.
    case data([UInt8])
    /// An ordered list of values.
    case array([ParameterValue])
    /// An unordered set of values. Queries and forms write them sorted, each under the same key.
    case set(Set<ParameterValue>)
    /// Values by name.
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

    /// An integer.
    public init(integerLiteral value: Int64) { self = .integer(value) }

    /// A number with a fraction.
    public init(floatLiteral value: Double) { self = .double(value) }

    /// Text.
    public init(stringLiteral value: String) { self = .string(value) }

    /// An array; a set has to be written as `.set([...])`.
    public init(arrayLiteral elements: ParameterValue...) { self = .array(elements) }

    /// A dictionary. If a key occurs twice, its last value counts.
    public init(dictionaryLiteral elements: (String, ParameterValue)...) {
        self = .dictionary(Dictionary(elements) { _, last in last })
    }
}

extension ParameterValue {
    /// An integer.
    ///
    /// - Returns: `nil` for one beyond 64 bits.
    public init?(_ number: some BinaryInteger) {
        if let signed = Int64(exactly: number) {
            self = .integer(signed)
        } else if let unsigned = UInt64(exactly: number) {
            self = .unsigned(unsigned)
        } else {
            return nil
        }
    }
}
