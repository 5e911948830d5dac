public import ReachCore

extension JSONValue {
    /// Reads a document, as ``JSONResponseSerializer`` does.
    ///
    /// - Throws: A ``ResponseError`` with the word `undecodable` and the position of the fault.
    public init(parsing bytes: [UInt8]) throws(ResponseError) {
        do throws(JSONError) {
            self = try JSONReader.read(UTF8Transcoder.utf8(bytes), .asFoundation)
        } catch {
            throw ResponseError(.undecodable(format: "JSON", reason: error.description), response: nil, body: bytes)
        }
    }

    /// The document as text in UTF-8: compact, with sorted names. A number that is not finite becomes `null`.
    public var bytes: [UInt8] { encoded }

    /// Converts Swift's own values: `Bool`, numbers, `String`, arrays, dictionaries with text as keys, and optionals of
    /// them, of which nil is null. Dates and URLs become text, as they do in parameters.
    ///
    /// - Returns: `nil` for anything else, at any level: data, numbers that are not finite, integers beyond `Int64`.
    public init?(_ object: Any) {
        if let optional = object as? any OptionalValue {
            guard let wrapped = optional.wrapped else { self = .null; return }
            self.init(wrapped)
        } else if let elements = object as? [Any] {
            let converted = elements.compactMap(JSONValue.init(_:))
            guard converted.count == elements.count else { return nil }
            self = .array(converted)
        } else if let members = object as? [String: Any] {
            let converted = members.compactMapValues(JSONValue.init(_:))
            guard converted.count == members.count else { return nil }
            self = .object(converted)
        } else {
            guard let value = try? (object as? any ParameterConvertible)?.parameterValue() else { return nil }
            self.init(parameter: value)
        }
    }

    private init?(parameter: ParameterValue) {
        switch parameter {
        case .null: self = .null
        case .bool(let flag): self = .bool(flag)
        case .integer(let number): self = .integer(number)
        case .double(let number) where number.isFinite: self = .double(number)
        case .string(let text): self = .string(text)
        case .array(let elements):
            let converted = elements.compactMap(JSONValue.init(parameter:))
            guard converted.count == elements.count else { return nil }
            self = .array(converted)
        case .dictionary(let members):
            let converted = members.compactMapValues(JSONValue.init(parameter:))
            guard converted.count == members.count else { return nil }
            self = .object(converted)
        case .decimal(let text):
            guard let number = Double(text), number.isFinite else { return nil }
            self = .double(number)
        case .double, .data, .set, .unsigned: return nil
        }
    }

    /// The document as Swift's own values: `Bool`, `Int64`, `Double`, `String`, `[Any]` and `[String: Any]`. Null
    /// members and elements are `Optional<Any>.none`; `nil` for a document that is null.
    ///
    /// `ReachSessionFoundation` has `foundationObject`, with the types of `JSONSerialization`.
    public var anyValue: Any? {
        switch self {
        case .null: nil
        case .bool(let flag): flag
        case .integer(let number): number
        case .double(let number): number
        case .string(let text): text
        case .array(let elements): elements.map { $0.anyValue as Any }
        case .object(let members): members.mapValues { $0.anyValue as Any }
        }
    }
}

extension JSONValue: ParameterConvertible {
    /// The document as a parameter.
    public func parameterValue() -> ParameterValue? { parameter }

    private var parameter: ParameterValue {
        switch self {
        case .null: .null
        case .bool(let flag): .bool(flag)
        case .integer(let number): .integer(number)
        case .double(let number): .double(number)
        case .string(let text): .string(text)
        case .array(let elements): .array(elements.map(\.parameter))
        case .object(let members): .dictionary(members.mapValues(\.parameter))
        }
    }
}

extension JSONValue: Codable {
    /// Decodes any document. An integer beyond `Int64` becomes a double.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let flag = try? container.decode(Bool.self) {
            self = .bool(flag)
        } else if let number = try? container.decode(Int64.self) {
            self = .integer(number)
        } else if let number = try? container.decode(Double.self) {
            self = .double(number)
        } else if let text = try? container.decode(String.self) {
            self = .string(text)
        } else if let elements = try? container.decode([JSONValue].self) {
            self = .array(elements)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    /// Encodes the document without a wrapper.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let flag): try container.encode(flag)
        case .integer(let number): try container.encode(number)
        case .double(let number): try container.encode(number)
        case .string(let text): try container.encode(text)
        case .array(let elements): try container.encode(elements)
        case .object(let members): try container.encode(members)
        }
    }
}
