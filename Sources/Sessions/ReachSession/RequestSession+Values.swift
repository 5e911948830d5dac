public import FoundationEssentials
public import ReachSerialization

/// Requests with a body that is not built from parameters: a value as JSON, or bytes.
///
///     try await session.post("users", body: user).response()
///
/// The headers are those of the session's request serializer, and `Content-Type`, unless `headers` has one.
extension RequestSession {
    /// POST of a value as JSON.
    ///
    /// - Parameters:
    ///   - url: The destination, as for other requests.
    ///   - body: The value. `Data` and `[UInt8]` are sent as they are.
    ///   - encoder: An encoder with one's own settings.
    public func post(
        _ url: some URLConvertible, body: some Encodable, encoder: JSONEncoder = JSONEncoder(),
        headers: Headers = [:], when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try send("POST", url.urlText, try json(body, encoder), headers, constraint, options, completion)
    }

    /// POST of bytes, as `application/octet-stream` unless `headers` has a `Content-Type`.
    public func post(
        _ url: some URLConvertible, body: some DataProtocol & Encodable, headers: Headers = [:],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try send(
            "POST", url.urlText, (Array(body), "application/octet-stream"), headers, constraint, options, completion)
    }

    /// PUT of a value as JSON.
    ///
    /// - Parameters:
    ///   - url: The destination, as for other requests.
    ///   - body: The value. `Data` and `[UInt8]` are sent as they are.
    ///   - encoder: An encoder with one's own settings.
    public func put(
        _ url: some URLConvertible, body: some Encodable, encoder: JSONEncoder = JSONEncoder(),
        headers: Headers = [:], when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try send("PUT", url.urlText, try json(body, encoder), headers, constraint, options, completion)
    }

    /// PUT of bytes, as `application/octet-stream` unless `headers` has a `Content-Type`.
    public func put(
        _ url: some URLConvertible, body: some DataProtocol & Encodable, headers: Headers = [:],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try send(
            "PUT", url.urlText, (Array(body), "application/octet-stream"), headers, constraint, options, completion)
    }

    /// PATCH of a value as JSON.
    ///
    /// - Parameters:
    ///   - url: The destination, as for other requests.
    ///   - body: The value. `Data` and `[UInt8]` are sent as they are.
    ///   - encoder: An encoder with one's own settings.
    public func patch(
        _ url: some URLConvertible, body: some Encodable, encoder: JSONEncoder = JSONEncoder(),
        headers: Headers = [:], when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try send("PATCH", url.urlText, try json(body, encoder), headers, constraint, options, completion)
    }

    /// PATCH of bytes, as `application/octet-stream` unless `headers` has a `Content-Type`.
    public func patch(
        _ url: some URLConvertible, body: some DataProtocol & Encodable, headers: Headers = [:],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try send(
            "PATCH", url.urlText, (Array(body), "application/octet-stream"), headers, constraint, options, completion)
    }

    private typealias Content = (bytes: [UInt8], type: String)

    private func json(_ value: some Encodable, _ encoder: JSONEncoder) throws(RequestError) -> Content {
        do {
            return (Array(try encoder.encode(value)), "application/json")
        } catch {
            throw RequestError(ofEncoding: error)
        }
    }

    private func send(
        _ method: String, _ url: String, _ content: Content, _ headers: Headers,
        _ constraint: RequestConstraint?, _ options: RequestOptions?, _ completion: RequestTask.Completion?
    ) throws(RequestError) -> RequestTask {
        var request = try bare(method, url)
        request.body = .bytes(content.bytes)
        var headers = headers
        if headers[.contentType] == nil { headers[.contentType] = content.type }
        return try task(request, headers, constraint, options, completion)
    }
}
