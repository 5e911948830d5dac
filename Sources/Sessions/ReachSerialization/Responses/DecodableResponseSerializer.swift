public import FoundationEssentials
public import HTTPTypes
internal import ReachCore

/// Decodes JSON into a type: Alamofire's DecodableResponseSerializer. The object is a ``ResponseObject/custom(_:)``.
///
/// An empty body has no object and no error, as with ``JSONResponseSerializer``.
public struct DecodableResponseSerializer<Value: Decodable & Sendable>: ResponseSerializer {
    /// The check; by default successes of type application/json, text/json or text/javascript pass, and those of
    /// another type that ends with `+json` (RFC 6839).
    public var check = ResponseCheck.json
    /// The decoder. It must not be changed while requests use it.
    public var decoder: JSONDecoder

    /// Creates a serializer.
    ///
    /// - Parameters:
    ///   - type: The type of the values.
    ///   - decoder: A decoder with one's own settings.
    public init(_ type: Value.Type = Value.self, decoder: JSONDecoder = JSONDecoder()) { self.decoder = decoder }

    /// Returns the value, and its fault or the response's. A fault names the place in the document.
    public func serialize(_ response: HTTPResponse?, body: [UInt8]) -> SerializedResponse {
        check.acceptingSuffix(of: response).serialize(response, body: body, format: "\(Value.self)") { body in
            .custom(try decoder.decode(Value.self, from: Data(body)))
        }
    }
}

extension ResponseCheck {
    package static var json: ResponseCheck {
        ResponseCheck(acceptableContentTypes: ["application/json", "text/json", "text/javascript"])
    }

    /// Checks a response, and decodes its body from JSON.
    ///
    /// - Returns: The value; `nil` for an empty body.
    /// - Throws: The fault of the response, or that of the body, which names the place in the document.
    package func decode<Value: Decodable>(
        _ type: Value.Type, by decoder: JSONDecoder, _ response: HTTPResponse?, body: [UInt8]
    ) throws(ResponseError) -> Value? {
        let check = acceptingSuffix(of: response)
        if let response, let error = check.error(response, body: body) { throw error }
        guard !body.isEmpty, body != [0x20] else { return nil }
        do {
            return try decoder.decode(type, from: Data(body))
        } catch {
            throw ResponseError(
                .undecodable(format: "\(type)", reason: DecodingFault.sentence(error)), response: response, body: body,
                cause: error)
        }
    }

    /// This check, which accepts the response's type too if that is JSON by its suffix.
    fileprivate func acceptingSuffix(of response: HTTPResponse?) -> ResponseCheck {
        guard let type = response?.mediaType, type.hasUTF8Suffix("+json") else { return self }
        var check = self
        check.acceptableContentTypes?.insert(type)
        return check
    }
}

/// Sentences for what decoding throws.
enum DecodingFault {
    /// The reason, with the place in the document where there is one: `users[3].name: expected a String, found null`.
    static func sentence(_ error: any Error) -> String { DisplayText.sanitized(text(of: error)) }

    private static func text(of error: any Error) -> String {
        switch error as? DecodingError {
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            at(context.codingPath, context.debugDescription)
        case .keyNotFound(let key, let context):
            at(context.codingPath + [key], "there is no such key")
        case .dataCorrupted(let context):
            at(
                context.codingPath,
                context.underlyingError.map { "\(context.debugDescription) (\($0))" }
                    ?? context.debugDescription)
        case nil: "\(error)"
        @unknown default: "\(error)"
        }
    }

    private static func at(_ path: [any CodingKey], _ what: String) -> String {
        var place = ""
        for key in path {
            if let index = key.intValue {
                place += "[\(index)]"
            } else {
                place += (place.isEmpty ? "" : ".") + key.stringValue
            }
        }
        let what = what.before(".").map(String.init) ?? what
        return place.isEmpty ? what : "\(place): \(what)"
    }
}
