public import ReachCore

/// Reads JSON: AFJSONResponseSerializer. UTF-8, or what a byte order mark or the zeros of UTF-16 and UTF-32 say.
///
/// The reader is stricter than Apple's: a key that stands twice in an object, a whole number that 64 bits cannot hold,
/// and nesting beyond 64 levels are errors.
public struct JSONResponseSerializer: ResponseSerializer {
    /// Successes of type application/json, text/json or text/javascript, unless set.
    public var check = ResponseCheck(
        acceptableContentTypes: ["application/json", "text/json", "text/javascript"])
    /// Leaves out members of objects, and elements of arrays, that are null, at all levels.
    public var removesNulls = false
    /// Also takes documents that are neither an object nor an array.
    public var allowsFragments = false

    /// As it is by default.
    public init() {}

    /// The document, and what is wrong with it or the response.
    public func serialize(_ response: HTTPResponse?, body: [UInt8]) -> SerializedResponse {
        check.serialize(response, body: body, format: "JSON") { body, _ throws(ResponseDecodingError) in
            let value: JSONValue
            do throws(JSONError) {
                value = try JSONReader.read(UTF8Transcoder.utf8(body))
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
    /// Without members and elements that are null, at all levels. A document that is null stays so.
    public var withoutNulls: JSONValue {
        switch self {
        case .array(let elements): .array(elements.filter { $0 != .null }.map(\.withoutNulls))
        case .object(let members): .object(members.filter { $0.value != .null }.mapValues(\.withoutNulls))
        default: self
        }
    }
}
