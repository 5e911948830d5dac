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
    /// The use of the session's cache; `nil` for a response that came from the server as it is.
    public internal(set) var cacheUse: CacheUse?
    /// Times, addresses and bytes of the attempts in this run; `nil` where a program made the response.
    public internal(set) var metrics: TaskMetrics?
    /// The time in which the session's response serializer decoded the body; `nil` where it did not.
    public internal(set) var decodingTime: Duration?

    /// Creates a response, for tests of the code that handles it.
    ///
    /// - Parameters:
    ///   - response: The URL that answered, the status and the header fields.
    ///   - body: The body's bytes.
    ///   - object: The decoded body.
    ///   - path: The path of a downloaded file.
    public init(_ response: WebResponse, body: [UInt8] = [], object: ResponseObject? = nil, path: String? = nil) {
        url = response.url
        head = response.head
        self.body = body
        self.object = object
        self.path = path
    }

    /// The status, such as 200 or 404.
    public var statusCode: Int { head.status.code }

    /// The body as text: in UTF-8, or in what `Content-Type` or a byte order mark says. `nil` if it is not.
    public var text: String? {
        let encoding = head.characterSet.flatMap(TextEncoding.init(named:)) ?? .utf8
        return String(validating: UTF8Transcoder.utf8(body, unlessMarked: encoding), as: UTF8.self)
    }
}
