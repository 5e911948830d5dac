public import HTTPTypes
public import ReachCore

/// Decodes JSON: AFJSONResponseSerializer. The encoding is UTF-8, or what a byte order mark or the zeros of UTF-16 and
/// UTF-32 indicate.
///
/// As with NSJSONSerialization the last of equal keys in an object counts, and an integer beyond 64 bits becomes a
/// double, and nesting beyond 512 levels is an error.
public struct JSONResponseSerializer: ResponseSerializer {
    /// The check; by default successes of type application/json, text/json or text/javascript pass.
    public var check = ResponseCheck(
        acceptableContentTypes: ["application/json", "text/json", "text/javascript"])
    /// Whether to remove null members of objects and null elements of arrays, at all levels.
    public var removesNulls = false
    /// Whether to accept documents that are neither an object nor an array.
    public var allowsFragments = false

    /// Foundation's.
    private static let depthLimit = 512

    /// Creates a serializer with the default check.
    public init() {}

    /// Returns the document, and its fault or the response's.
    public func serialize(_ response: HTTPResponse?, body: [UInt8]) -> SerializedResponse {
        check.serialize(response, body: body, format: "JSON") { body, _ throws(ResponseDecodingError) in
            let value: JSONValue
            do throws(JSONError) {
                value = try JSONReader.read(
                    UTF8Transcoder.utf8(body), .asFoundation, limits: JSONReader.Limits(depth: Self.depthLimit))
            } catch {
                throw ResponseDecodingError(description: error.description)
            }
            if !allowsFragments {
                switch value {
                case .object, .array: break
                default: throw ResponseDecodingError(description: "neither an object nor an array")
                }
            }
            return .json(removesNulls ? value.withoutNulls : value)
        }
    }
}

extension JSONValue {
    /// The value without null members and elements, at all levels. A null document stays null.
    public var withoutNulls: JSONValue {
        switch self {
        case .array(let elements): .array(elements.filter { $0 != .null }.map(\.withoutNulls))
        case .object(let members): .object(members.filter { $0.value != .null }.mapValues(\.withoutNulls))
        default: self
        }
    }
}
