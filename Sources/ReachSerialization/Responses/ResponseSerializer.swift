public import ReachCore

/// What became of a response's body.
public enum ResponseObject: Sendable {
    /// As they came.
    case bytes([UInt8])
    /// A JSON document.
    case json(JSONValue)
    /// A property list.
    case propertyList(PropertyListValue)
    /// An XML document, ready to be read from its beginning.
    case xml(XMLPullParser)
    /// What a serializer of one's own made.
    case custom(any Sendable)

    /// The JSON document, if it is one.
    public var json: JSONValue? {
        guard case .json(let value) = self else { return nil }
        return value
    }

    /// The property list, if it is one.
    public var propertyList: PropertyListValue? {
        guard case .propertyList(let value) = self else { return nil }
        return value
    }

    /// The bytes, if nothing was made of them.
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

/// What a serializer found. As in AFNetworking there can be both: a server that answers 422 can say why in JSON.
public struct SerializedResponse: Sendable {
    /// `nil` where there was nothing, or nothing that could be read.
    public let object: ResponseObject?
    /// `nil` where the response is what was asked for.
    public let error: ResponseError?

    /// An object, an error, both, or nothing.
    public init(object: ResponseObject?, error: ResponseError?) {
        self.object = object
        self.error = error
    }

    /// The object, which is `nil` for an empty body.
    public func get() throws(ResponseError) -> ResponseObject? {
        if let error { throw error }
        return object
    }
}

/// Checks a response and makes something of its body.
///
/// Of AFNetworking's serializers the one for images is missing: nothing here is shown. Their bytes come from
/// ``DataResponseSerializer``, and a serializer of one's own can make ``ResponseObject/custom(_:)`` of them.
public protocol ResponseSerializer: Sendable {
    /// - Parameters:
    ///   - response: `nil` where no head came with the body, as from a cache: then only the body is looked at.
    ///   - body: The whole of it.
    func serialize(_ response: HTTPResponse?, body: [UInt8]) -> SerializedResponse
}
