/// Gives a parser for an XML document: AFXMLParserResponseSerializer.
///
/// Whether the document is well-formed shows when it is read, not before: its errors come from the parser. There is no
/// tree of it, as AFNetworking has one on macOS alone.
public struct XMLResponseSerializer: ResponseSerializer {
    /// Successes of type application/xml or text/xml, unless set.
    public var check = ResponseCheck(acceptableContentTypes: ["application/xml", "text/xml"])
    /// What a document may cost.
    public var limits = XMLLimits()

    /// As it is by default.
    public init() {}

    /// A parser, and what is wrong with the response.
    public func serialize(_ response: HTTPResponse?, body: [UInt8]) -> SerializedResponse {
        check.serialize(response, body: body, format: "XML") { body, characterSet throws(ResponseDecodingError) in
            .xml(XMLPullParser(body, characterSet: characterSet, limits: limits))
        }
    }
}
