public import HTTPTypes

/// The response to a request.
public struct RequestResponse: Sendable {
    /// The URL that answered, after redirects.
    public let url: WebAddress
    /// The status and the header fields.
    public let head: HTTPResponse
    /// The body's bytes; empty where they went into a file.
    public let body: [UInt8]
    /// The body decoded by the session's response serializer; `nil` for an empty one, and for a download.
    public let object: ResponseObject?
    /// The path of a downloaded file.
    public let path: String?

    init(_ response: WebResponse, body: [UInt8] = [], object: ResponseObject? = nil, path: String? = nil) {
        url = response.url
        head = response.head
        self.body = body
        self.object = object
        self.path = path
    }

    /// The status, such as 200 or 404.
    public var statusCode: Int { head.status.code }

    /// The body as text, where it is UTF-8.
    public var text: String? { String(validating: body, as: UTF8.self) }
}
