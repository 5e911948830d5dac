public import HTTPTypes
public import ReachCore

/// The decoded body of a response.
public enum ResponseObject: Sendable {
    /// The bytes as received.
    case bytes([UInt8])
    /// A JSON document.
    case json(JSONValue)
    /// An XML document, as a parser at its beginning.
    case xml(XMLPullParser)
    /// The result of a custom serializer.
    case custom(any Sendable)

    /// The JSON document, if it is one.
    public var json: JSONValue? {
        guard case .json(let value) = self else { return nil }
        return value
    }

    /// The bytes, if they were not decoded.
    public var bytes: [UInt8]? {
        guard case .bytes(let bytes) = self else { return nil }
        return bytes
    }

    /// The XML document, if it is one.
    public var xml: XMLPullParser? {
        guard case .xml(let parser) = self else { return nil }
        return parser
    }
}

/// The result of a serializer. As in AFNetworking there can be both an object and an error: a server that answers 422
/// can give the reason in JSON.
public struct SerializedResponse: Sendable {
    /// The object; `nil` if the body was empty, or not readable.
    public let object: ResponseObject?
    /// The error; `nil` if the response is acceptable.
    public let error: ResponseError?

    /// Creates a result with an object, an error, both, or neither.
    public init(object: ResponseObject?, error: ResponseError?) {
        self.object = object
        self.error = error
    }

    /// Returns the object, which is `nil` for an empty body, or throws the error.
    public func get() throws(ResponseError) -> ResponseObject? {
        if let error { throw error }
        return object
    }
}

/// Checks a response and decodes its body.
///
/// AFNetworking's serializer for images has no counterpart, as nothing is displayed here. ``DataResponseSerializer``
/// returns the bytes of an image, and a custom serializer can decode them to ``ResponseObject/custom(_:)``.
public protocol ResponseSerializer: Sendable {
    /// Checks and decodes a response.
    ///
    /// - Parameters:
    ///   - response: The head; `nil` if the body came without one, for example from a cache: then only the body is
    ///     checked.
    ///   - body: The whole body.
    func serialize(_ response: HTTPResponse?, body: [UInt8]) -> SerializedResponse
}

/// Checks a response and returns its body unchanged: AFHTTPResponseSerializer. There is always an object, even with an
/// error.
public struct DataResponseSerializer: ResponseSerializer {
    /// The check; by default any success of any type passes.
    public var check = ResponseCheck()

    /// Creates a serializer with the default check.
    public init() {}

    /// Returns the body, and the response's fault.
    public func serialize(_ response: HTTPResponse?, body: [UInt8]) -> SerializedResponse {
        SerializedResponse(object: .bytes(body), error: response.flatMap { check.error($0, body: body) })
    }
}
