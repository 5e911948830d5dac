internal import ReachCore

/// Parameters as JSON in the body: AFJSONRequestSerializer. Methods that have them in the URL still do.
///
/// The document is compact, its keys are sorted, and "/" is not escaped. It is refused if it is neither an array nor a
/// dictionary, or if it holds bytes, a set, or a number that is not finite. Without parameters there is no body.
public struct JSONRequestSerializer: RequestSerializer {
    /// Writes what goes into the URL, and holds the headers.
    public var base: FormRequestSerializer

    /// - Parameter headers: Set in requests that do not have them.
    public init(headers: HTTPHeaders = HTTPHeaders()) { base = FormRequestSerializer(headers: headers) }

    /// Adds headers, and parameters to the query or as the body.
    public func serialize(
        _ request: HTTPRequest, parameters: ParameterValue?
    ) throws(RequestSerializationError) -> HTTPRequest {
        if base.encodesInURL(request.method) { return try base.serialize(request, parameters: parameters) }
        var request = request
        request.headers.complete(from: base.headers)
        guard let parameters else { return request }
        request.setContentType(unlessSet: "application/json")
        request.body = .bytes(try Self.document(parameters))
        return request
    }

    /// Parameters as a JSON document.
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
    /// What it is, for errors.
    var kind: String {
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
