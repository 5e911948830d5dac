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

/// Tries several serializers in order, and returns the first object: AFCompoundResponseSerializer.
///
/// If none returns an object, the bytes are the object, and the error is that of its own check, not of the serializers.
public struct CompoundResponseSerializer: ResponseSerializer {
    /// The serializers in the order in which they are tried.
    public var serializers: [any ResponseSerializer]
    /// The check that applies if none of them returns an object.
    public var check = ResponseCheck()

    /// Creates a compound serializer.
    ///
    /// - Parameter serializers: The serializers in the order in which they are tried.
    public init(_ serializers: [any ResponseSerializer]) { self.serializers = serializers }

    /// Returns the first object of a serializer, with its error.
    public func serialize(_ response: HTTPResponse?, body: [UInt8]) -> SerializedResponse {
        for serializer in serializers {
            let result = serializer.serialize(response, body: body)
            if result.object != nil { return result }
        }
        var plain = DataResponseSerializer()
        plain.check = check
        return plain.serialize(response, body: body)
    }
}

/// Returns a parser for an XML document: AFXMLParserResponseSerializer.
///
/// The document is parsed only when it is read: the parser reports whether it is well-formed. There is no document
/// tree, which AFNetworking offers on macOS only.
public struct XMLResponseSerializer: ResponseSerializer {
    /// The check; by default successes of type application/xml or text/xml pass.
    public var check = ResponseCheck(acceptableContentTypes: ["application/xml", "text/xml"])
    /// The limits on a document.
    public var limits = XMLLimits()

    /// Creates a serializer with the default check and limits.
    public init() {}

    /// Returns a parser, and the response's fault.
    public func serialize(_ response: HTTPResponse?, body: [UInt8]) -> SerializedResponse {
        check.serialize(response, body: body, format: "XML") { body, characterSet throws(ResponseDecodingError) in
            .xml(XMLPullParser(body, characterSet: characterSet, limits: limits))
        }
    }
}
