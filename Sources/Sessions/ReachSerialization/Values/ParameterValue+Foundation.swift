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

extension ParameterValue {
    /// The form of dates within a value: Alamofire's `URLEncodedFormEncoder.DateEncoding`.
    public enum Dates: Sendable {
        /// Text as RFC 3339 writes it.
        case text
        /// Seconds since 1970, with a fraction if there is one.
        case secondsSince1970
        /// Milliseconds since 1970, whole ones.
        case millisecondsSince1970
        /// A form of one's own; `nil` leaves the date out.
        case custom(@Sendable (Date) throws -> ParameterValue?)

        func value(of date: Date) throws -> ParameterValue? {
            switch self {
            case .text: date.parameterValue()
            case .secondsSince1970: Self.number(date.timeIntervalSince1970)
            case .millisecondsSince1970: Self.number((date.timeIntervalSince1970 * 1000).rounded())
            case .custom(let form): try form(date)
            }
        }

        private static func number(_ number: Double) -> ParameterValue {
            Int64(exactly: number).map(ParameterValue.integer) ?? .double(number)
        }
    }
}

extension URL: ParameterConvertible {
    /// The complete URL.
    public func parameterValue() -> ParameterValue? { .string(absoluteString) }
}

extension Decimal: ParameterConvertible {
    /// The number with all its digits.
    public func parameterValue() -> ParameterValue? {
        let text = description
        if let whole = Int64(text) { return .integer(whole) }
        if let whole = UInt64(text) { return .unsigned(whole) }
        // What is not a number.
        guard isFinite else { return .double(.nan) }
        return Double(text).flatMap { $0.description == text ? .double($0) : nil } ?? .decimal(text)
    }
}
