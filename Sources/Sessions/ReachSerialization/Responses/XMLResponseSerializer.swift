public import HTTPTypes

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
