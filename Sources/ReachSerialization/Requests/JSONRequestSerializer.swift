public import HTTPTypes
internal import ReachCore

/// Encodes parameters as JSON in the body: AFJSONRequestSerializer. Methods that encode parameters in the URL still do
/// so.
///
/// The document is compact, its keys are sorted, and "/" is not escaped. The serializer rejects parameters that are
/// neither an array nor a dictionary, and those with data, a set, or a number that is not finite. Without parameters
/// there is no body.
public struct JSONRequestSerializer: RequestSerializer {
    /// The serializer that encodes parameters in the URL, and holds the headers.
    public var base: FormRequestSerializer

    /// Creates a serializer.
    ///
    /// - Parameter headers: Headers for requests that do not set their own.
    public init(headers: HTTPFields = [:]) { base = FormRequestSerializer(headers: headers) }

    /// Adds headers, and encodes the parameters in the query or the body.
    public func serialize(
        _ request: WebRequest, parameters: ParameterValue?
    ) throws(RequestSerializationError) -> WebRequest {
        try base.serialize(request, parameters: parameters, as: "application/json", Self.document)
    }

    /// The serializer of forms.
    public var form: FormRequestSerializer { base }

    /// Encodes parameters as a JSON document.
    public static func document(_ parameters: ParameterValue) throws(RequestSerializationError) -> [UInt8] {
        switch parameters {
        case .array, .dictionary: break
        default: throw .unsupportedValue(place: "", kind: parameters.kind, format: "JSON at the top")
        }
        var writer = JSONWriter()
        writer.value(try json(of: parameters, at: ""))
        return writer.bytes
    }

    private static func json(
        of value: ParameterValue, at place: String
    ) throws(RequestSerializationError) -> JSONValue {
        switch value {
        case .null: return .null
        case .bool(let flag): return .bool(flag)
        case .integer(let number): return .integer(number)
        case .double(let number) where number.isFinite: return .double(number)
        case .string(let text): return .string(text)
        case .array(let elements):
            var array: [JSONValue] = []
            for element in elements { array.append(try json(of: element, at: place + "[]")) }
            return .array(array)
        case .dictionary(let members):
            var object: [String: JSONValue] = [:]
            for (name, member) in members {
                object[name] = try json(of: member, at: place.isEmpty ? name : "\(place)[\(name)]")
            }
            return .object(object)
        case .double, .data, .set: throw .unsupportedValue(place: place, kind: value.kind, format: "JSON")
        }
    }
}

extension ParameterValue {
    /// The kind of value, for error messages.
    package var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .integer: "a whole number"
        case .double(let number): number.isFinite ? "a number" : "a number that is not finite"
        case .string: "text"
        case .data: "bytes"
        case .array: "an array"
        case .set: "a set"
        case .dictionary: "a dictionary"
        }
    }
}
