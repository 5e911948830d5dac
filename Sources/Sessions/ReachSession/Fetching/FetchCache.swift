public import HTTPTypes
public import ReachSerialization

/// What makes fetches equal: the method, the URL, the header fields and the body.
public struct FetchKey: Hashable, Sendable, CustomStringConvertible {
    /// The method.
    public let method: HTTPRequest.Method
    /// The complete URL.
    public let url: WebAddress
    /// The header fields, with those of the session's serializer.
    public let headers: HTTPFields
    /// The body's bytes; `nil` without one.
    public let body: [UInt8]?

    /// The key of a request as it is sent: to put a response into a cache, or to look one up.
    /// ``RequestTask/originalRequest`` of a session's task has the fields of its serializer.
    ///
    /// - Throws: A ``RequestError`` where the body is a file, a form or a stream.
    public init(_ request: WebRequest) throws(RequestError) {
        method = request.method
        url = request.url
        headers = request.headers
        switch request.body {
        case .none: body = nil
        case .bytes(let bytes): body = bytes
        case .file, .multipart, .stream:
            throw RequestError(
                .request, "bad-body",
                "a shared fetch has no body, or one in memory: files, forms and streams may change")
        }
    }

    var request: WebRequest {
        WebRequest(method: method, url: url, headers: headers, body: body.map { .bytes($0) } ?? .none)
    }

    /// The method and the URL, for logs.
    public var description: String { "\(method.rawValue) \(url)" }
}

/// A cache of fetched responses: AFImageRequestCache, for any content. ``SharedFetcher`` calls it on the callers'
/// threads and where the session delivers, from several at once, without a lock.
public protocol FetchCache: Sendable {
    /// Whether to add a successful response. The default implementation accepts all.
    func shouldCache(_ response: RequestResponse, for key: FetchKey) -> Bool

    /// Adds a response, or replaces the one with the same key.
    func add(_ response: RequestResponse, for key: FetchKey)

    /// The response of a key; `nil` if there is none.
    func response(for key: FetchKey) -> RequestResponse?

    /// Removes a response.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    func remove(_ key: FetchKey) -> Bool

    /// Removes all responses.
    ///
    /// - Returns: Whether there were any.
    @discardableResult
    func removeAll() -> Bool

    /// The total size of the bodies in bytes.
    var totalBytes: Int64 { get }
}

extension FetchCache {
    /// Accepts all responses.
    public func shouldCache(_ response: RequestResponse, for key: FetchKey) -> Bool { true }
}

extension AutoPurgingCache: FetchCache where Key == FetchKey, Value == RequestResponse {
    /// Adds a response with the size of its body.
    public func add(_ response: RequestResponse, for key: FetchKey) {
        add(response, for: key, bytes: Int64(response.body.count))
    }

    /// The response of a key; `nil` if there is none. Counts as a use.
    public func response(for key: FetchKey) -> RequestResponse? { value(for: key) }
}
