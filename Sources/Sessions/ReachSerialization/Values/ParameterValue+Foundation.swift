public import FoundationEssentials

extension Data: ParameterConvertible {
    /// The bytes.
    public func parameterValue() -> ParameterValue? { .data(Array(self)) }
}

extension Date: ParameterConvertible {
    /// The time in UTC, as RFC 3339 writes it: `2026-11-22T09:31:35Z`, with milliseconds if it has some.
    public func parameterValue() -> ParameterValue? {
        let milliseconds = (timeIntervalSinceReferenceDate * 1000).rounded()
        let hasFraction = milliseconds.truncatingRemainder(dividingBy: 1000) != 0
        return .string(formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: hasFraction)))
    }
}

extension URL: ParameterConvertible {
    /// The complete URL.
    public func parameterValue() -> ParameterValue? { .string(absoluteString) }
}

extension Decimal: ParameterConvertible {
    /// The number; beyond the digits of a `Double` it is rounded, unless it is an integer of 64 bits.
    public func parameterValue() -> ParameterValue? {
        let text = description
        return Int64(text).map(ParameterValue.integer) ?? UInt64(text).map(ParameterValue.unsigned)
            ?? Double(text).map(ParameterValue.double)
    }
}
