/// What a request came to.
public struct RequestResponse: Sendable {
    /// Status and headers, and the URL that answered, redirects followed.
    public let head: HTTPResponse
    /// The body's bytes; empty where they went into a file.
    public let body: [UInt8]
    /// What the session's response serializer made of the body; `nil` for an empty one, and for a download.
    public let object: ResponseObject?
    /// Where a download was put.
    public let path: String?

    init(head: HTTPResponse, body: [UInt8] = [], object: ResponseObject? = nil, path: String? = nil) {
        self.head = head
        self.body = body
        self.object = object
        self.path = path
    }

    /// 200, 404, ...
    public var statusCode: Int { head.statusCode }

    /// The body as text, where it is UTF-8.
    public var text: String? { String(validating: body, as: UTF8.self) }
}
