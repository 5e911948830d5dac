internal import FoundationEssentials

extension ParameterValue {
    /// Encodes a value: a structure as a dictionary, an array as an array.
    ///
    /// Members that are nil are left out; elements of arrays that are nil are null. Types that are
    /// ``ParameterConvertible``, such as `Date`, `Data` and `URL`, have their own form at every level.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - dates: The form of dates in it, at every level.
    /// - Throws: The value's own error, or an `EncodingError`.
    public init(encoding value: some Encodable, dates: Dates = .text) throws {
        self = try Self(of: value, dates: dates) ?? .null
    }

    /// Converts a value of any type: what ``init(encoding:dates:)`` encodes, and dictionaries with text as keys and
    /// arrays, in which values of different types may be.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - dates: The form of dates in it, at every level.
    /// - Returns: `nil` for an optional that is nil.
    /// - Throws: A ``RequestSerializationError`` that names the place of a value which cannot be encoded; the error of
    ///   a value's own `encode(to:)`.
    public init?(of value: Any, dates: Dates = .text) throws { try self.init(of: value, dates: dates, at: "") }

    /// - Parameter place: Where the value is, for errors.
    package init?(of value: Any, dates: Dates = .text, at place: String) throws {
        guard let value = try Self.converted(value, dates, at: place) else { return nil }
        self = value
    }

    private static func converted(_ value: Any, _ dates: Dates, at place: String) throws -> ParameterValue? {
        if let date = value as? Date { return try dates.value(of: date) }
        if let values = value as? any ParameterElements { return try values.parameterValue(dates: dates) }
        if let value = value as? any ParameterConvertible { return try value.parameterValue() }
        if let value = value as? any OptionalValue {
            return try value.wrapped.flatMap { try converted($0, dates, at: place) }
        }
        if let members = value as? [String: Any] {
            var dictionary: [String: ParameterValue] = [:]
            for (name, member) in members {
                dictionary[name] = try converted(member, dates, at: place.isEmpty ? name : "\(place)[\(name)]")
            }
            return .dictionary(dictionary)
        }
        if let elements = value as? [Any] {
            return .array(try elements.map { try converted($0, dates, at: place + "[]") ?? .null })
        }
        guard let value = value as? any Encodable else {
            throw RequestSerializationError.unsupportedValue(
                place: place, kind: "a \(type(of: value))", format: "a request")
        }
        return try ParameterEncoder.encode(value, at: [], dates: dates)
    }
}

/// Any optional, whatever it wraps.
protocol OptionalValue {
    var wrapped: Any? { get }
}

extension Optional: OptionalValue {
    var wrapped: Any? { self }
}

extension ParameterValue: Encodable {
    /// Encodes the value without a wrapper; a set as an array.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let flag): try container.encode(flag)
        case .integer(let number): try container.encode(number)
        case .unsigned(let number): try container.encode(number)
        case .double(let number): try container.encode(number)
        // JSON's encoder writes a Decimal as a number, with all its digits.
        case .decimal(let text): if let number = Decimal(string: text) { try container.encode(number) }
        case .string(let text): try container.encode(text)
        case .data(let bytes): try container.encode(bytes)
        case .array(let elements): try container.encode(elements)
        case .set(let elements): try container.encode(elements)
        case .dictionary(let members): try container.encode(members)
        }
    }
}
