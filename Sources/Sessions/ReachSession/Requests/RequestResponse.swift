public import HTTPTypes
internal import ReachCore

/// The response to a request.
public struct RequestResponse: Sendable {
    private struct Contents: Sendable {
        let url: WebAddress
        let head: HTTPResponse
        let body: [UInt8]
        let object: ResponseObject?
        let path: String?
        var cacheUse: CacheUse?
        var metrics: TaskMetrics?
        var decodingTime: Duration?
    }

    /// Shared, since a response goes through many hands.
    private var shared: Shared<Contents>

    /// The URL that answered, after redirects.
    public var url: WebAddress { shared.value.url }
    /// The status and the header fields.
    public var head: HTTPResponse { shared.value.head }
    /// The body's bytes; empty where they went into a file.
    public var body: [UInt8] { shared.value.body }
    /// The body decoded by the session's response serializer; `nil` for an empty one, and for a download.
    public var object: ResponseObject? { shared.value.object }
    /// The path of a downloaded file.
    public var path: String? { shared.value.path }
    /// The use of the session's cache; `nil` for a response that came from the server as it is.
    public internal(set) var cacheUse: CacheUse? {
        get { shared.value.cacheUse }
        set { shared.value.cacheUse = newValue }
    }
    /// Times, addresses and bytes of the attempts in this run; `nil` where a program made the response.
    public internal(set) var metrics: TaskMetrics? {
        get { shared.value.metrics }
        set { shared.value.metrics = newValue }
    }
    /// The time in which the session's response serializer decoded the body; `nil` where it did not.
    public internal(set) var decodingTime: Duration? {
        get { shared.value.decodingTime }
        set { shared.value.decodingTime = newValue }
    }

    /// Creates a response, for tests of the code that handles it.
    ///
    /// - Parameters:
    ///   - response: The URL that answered, the status and the header fields.
    ///   - body: The body's bytes.
    ///   - object: The decoded body.
    ///   - path: The path of a downloaded file.
    public init(_ response: WebResponse, body: [UInt8] = [], object: ResponseObject? = nil, path: String? = nil) {
        self.init(response, body: body, object: object, path: path, cacheUse: nil)
    }

    init(
        _ response: WebResponse, body: [UInt8] = [], object: ResponseObject? = nil, path: String? = nil,
        cacheUse: CacheUse?, metrics: TaskMetrics? = nil, decodingTime: Duration? = nil
    ) {
        shared = Shared(
            Contents(
                url: response.url, head: response.head, body: body, object: object, path: path, cacheUse: cacheUse,
                metrics: metrics, decodingTime: decodingTime))
    }

    /// The status, such as 200 or 404.
    public var statusCode: Int { head.status.code }

    /// The body as text: in UTF-8, or in what `Content-Type` or a byte order mark says, by the names that browsers
    /// know. `nil` if it is not.
    public var text: String? { TextLabel.text(of: body, label: head.characterSet) }
}
