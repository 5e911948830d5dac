internal import Foundation
public import HTTPTypes
public import ReachSerialization

/// Encodes parameters as a property list in the body: AFPropertyListRequestSerializer. Methods that encode parameters
/// in the URL still do so.
///
/// The serializer rejects null, sets, integers beyond `Int64` and decimal numbers, which property lists cannot hold.
/// Without parameters there is no body. Parameters have no dates; ``PropertyListValue`` can encode them.
public struct PropertyListRequestSerializer: RequestSerializer {
    /// The serializer that encodes parameters in the URL, and holds the headers.
    public var base: FormRequestSerializer
    /// The format of the list.
    public var format: PropertyListFormat

    /// Creates a serializer.
    ///
    /// - Parameters:
    ///   - format: XML or binary.
    ///   - headers: Headers for requests that do not set their own.
    public init(format: PropertyListFormat = .xml, headers: HTTPFields = [:]) {
        self.format = format
        base = FormRequestSerializer(headers: headers)
    }

    /// Adds headers, and encodes the parameters in the query or the body.
    public func serialize(
        _ request: WebRequest, parameters: ParameterValue?
    ) throws(RequestSerializationError) -> WebRequest {
        try base.serialize(request, parameters: parameters, as: "application/x-plist", bytes)
    }

    private func bytes(of parameters: ParameterValue) throws(RequestSerializationError) -> [UInt8] {
        let list = try Self.list(of: parameters, at: "")
        do {
            return try list.bytes(format)
        } catch {
            // Foundation's encoders refuse a list that is a single value.
            throw .unsupportedValue(place: "", kind: parameters.kind, format: "a property list at the top")
        }
    }

    /// The serializer of forms.
    public var form: FormRequestSerializer { base }

    private static func list(
        of value: ParameterValue, at place: String
    ) throws(RequestSerializationError) -> PropertyListValue {
        switch value {
        case .bool(let flag): return .bool(flag)
        case .integer(let number): return .integer(number)
        case .double(let number): return .real(number)
        case .string(let text):
            try check(text, at: place)
            return .string(text)
        case .data(let bytes): return .data(Data(bytes))
        case .array(let elements):
            var array: [PropertyListValue] = []
            for element in elements { array.append(try list(of: element, at: place + "[]")) }
            return .array(array)
        case .dictionary(let members):
            var dictionary: [String: PropertyListValue] = [:]
            for (name, member) in members {
                try check(name, at: place)
                dictionary[name] = try list(of: member, at: place.isEmpty ? name : "\(place)[\(name)]")
            }
            return .dictionary(dictionary)
        case .null, .set, .unsigned, .decimal:
            throw .unsupportedValue(place: place, kind: value.kind, format: "a property list")
        }
    }

    /// Rejects characters that XML cannot represent, even escaped (XML 1.0, section 2.2).
    private static func check(_ text: String, at place: String) throws(RequestSerializationError) {
        guard text.unicodeScalars.allSatisfy(XMLCharacters.isAllowed) else {
            throw .unsupportedValue(place: place, kind: "text with control characters", format: "a property list")
        }
    }
}
