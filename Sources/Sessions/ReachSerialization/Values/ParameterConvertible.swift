/// A type whose values are parameters in a form of their own, and not that of their `encode(to:)`.
///
/// Conform a type to it where what it encodes for JSON is not what a query or a form shall have.
public protocol ParameterConvertible {
    /// The value as a parameter; `nil` leaves it out.
    func parameterValue() throws -> ParameterValue?
}

extension ParameterValue: ParameterConvertible {
    /// This value.
    public func parameterValue() -> ParameterValue? { self }
}

extension Bool: ParameterConvertible {
    /// True or false.
    public func parameterValue() -> ParameterValue? { .bool(self) }
}

extension String: ParameterConvertible {
    /// The text.
    public func parameterValue() -> ParameterValue? { .string(self) }
}

extension Double: ParameterConvertible {
    /// The number.
    public func parameterValue() -> ParameterValue? { .double(self) }
}

extension Float: ParameterConvertible {
    /// The number with the digits that this type shows: 0.1 and not 0.10000000149.
    public func parameterValue() -> ParameterValue? { .double(Double(description) ?? Double(self)) }
}

extension Int128: ParameterConvertible {
    /// The number.
    ///
    /// - Throws: A ``RequestSerializationError`` for one beyond 64 bits.
    public func parameterValue() throws -> ParameterValue? { try parameter64 }
}

extension UInt128: ParameterConvertible {
    /// The number.
    ///
    /// - Throws: A ``RequestSerializationError`` for one beyond 64 bits.
    public func parameterValue() throws -> ParameterValue? { try parameter64 }
}

extension BinaryInteger {
    fileprivate var parameter: ParameterValue? { ParameterValue(self) }

    fileprivate var parameter64: ParameterValue {
        get throws {
            guard let parameter else {
                throw RequestSerializationError.unsupportedValue(
                    place: "", kind: "a number beyond 64 bits", format: "a request")
            }
            return parameter
        }
    }
}

extension Int: ParameterConvertible {
    /// The number.
    public func parameterValue() -> ParameterValue? { parameter }
}

extension Int8: ParameterConvertible {
    /// The number.
    public func parameterValue() -> ParameterValue? { parameter }
}

extension Int16: ParameterConvertible {
    /// The number.
    public func parameterValue() -> ParameterValue? { parameter }
}

extension Int32: ParameterConvertible {
    /// The number.
    public func parameterValue() -> ParameterValue? { parameter }
}

extension Int64: ParameterConvertible {
    /// The number.
    public func parameterValue() -> ParameterValue? { parameter }
}

extension UInt: ParameterConvertible {
    /// The number.
    public func parameterValue() -> ParameterValue? { parameter }
}

extension UInt8: ParameterConvertible {
    /// The number.
    public func parameterValue() -> ParameterValue? { parameter }
}

extension UInt16: ParameterConvertible {
    /// The number.
    public func parameterValue() -> ParameterValue? { parameter }
}

extension UInt32: ParameterConvertible {
    /// The number.
    public func parameterValue() -> ParameterValue? { parameter }
}

extension UInt64: ParameterConvertible {
    /// The number.
    public func parameterValue() -> ParameterValue? { parameter }
}

/// A collection whose elements are converted one by one, in the form of dates that was asked for.
protocol ParameterElements {
    func parameterValue(dates: ParameterValue.Dates) throws -> ParameterValue
}

extension Set: ParameterConvertible, ParameterElements {
    /// A set of its elements, which queries and forms write under the same key, sorted.
    public func parameterValue() throws -> ParameterValue? { try parameterValue(dates: .text) }

    func parameterValue(dates: ParameterValue.Dates) throws -> ParameterValue {
        var elements: Set<ParameterValue> = []
        for element in self {
            if let value = try ParameterValue(of: element, dates: dates, at: "") { elements.insert(value) }
        }
        return .set(elements)
    }
}
