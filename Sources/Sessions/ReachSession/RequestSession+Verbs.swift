public import FoundationEssentials
internal import HTTPTypes
public import ReachSerialization

// The verbs of a session whose bodies are written here; those that move files, bytes and streams are in
// RequestSession+Files.swift.
//
// 1. Parameters: get, head, post, put, patch, delete
// 2. Parameters that are variables: the same, with [String: any Encodable]
// 3. Multipart forms: postForm
// 4. Values as JSON, and bytes: post, put, patch with body:

// MARK: - 1. Parameters

/// The requests of AFHTTPSessionManager. Each method creates a task, suspended until it is resumed or awaited. An
/// invalid request throws here, before anything is sent.
///
/// - `url` is a complete URL, or a reference that is resolved against ``baseURL``: text, a `URL` or a ``WebAddress``.
/// - `parameters` are encoded by ``RequestSessionOptions/requestSerializer``, into the query or the body.
/// - `headers` replace those of the session (``RequestSession/changeHeaders(_:)``), which replace the serializer's. The
///   methods of AFHTTPSessionManager also accept `[String: String]`.
/// - `when` is the constraint, in place of that in `options`, which are ``RequestSessionOptions/requests`` unless
///   given.
/// - `completion` is called like a block passed to ``RequestTask/whenComplete(_:)``.
extension RequestSession {
    /// GET: parameters in the query.
    public func get(
        _ url: some URLConvertible, parameters: ParameterValue? = nil, headers: Headers = [:],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try request("GET", url.urlText, parameters, headers, constraint, options, completion)
    }

    /// HEAD: parameters in the query; there is no body.
    public func head(
        _ url: some URLConvertible, parameters: ParameterValue? = nil, headers: Headers = [:],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try request("HEAD", url.urlText, parameters, headers, constraint, options, completion)
    }

    /// POST: parameters in the body.
    public func post(
        _ url: some URLConvertible, parameters: ParameterValue? = nil, headers: Headers = [:],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try request("POST", url.urlText, parameters, headers, constraint, options, completion)
    }

    /// PUT: parameters in the body.
    public func put(
        _ url: some URLConvertible, parameters: ParameterValue? = nil, headers: Headers = [:],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try request("PUT", url.urlText, parameters, headers, constraint, options, completion)
    }

    /// PATCH: parameters in the body.
    public func patch(
        _ url: some URLConvertible, parameters: ParameterValue? = nil, headers: Headers = [:],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try request("PATCH", url.urlText, parameters, headers, constraint, options, completion)
    }

    /// DELETE: parameters in the query.
    public func delete(
        _ url: some URLConvertible, parameters: ParameterValue? = nil, headers: Headers = [:],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try request("DELETE", url.urlText, parameters, headers, constraint, options, completion)
    }

    private func request(
        _ method: String, _ url: String, _ parameters: ParameterValue?, _ headers: Headers,
        _ constraint: RequestConstraint?, _ options: RequestOptions?, _ completion: RequestTask.Completion?
    ) throws(RequestError) -> RequestTask {
        try task(write(method, url, parameters), headers, constraint, options, completion)
    }
}

// MARK: - 2. Parameters that are variables

/// Requests whose parameters are variables, of any types that can be encoded:
///
///     try session.get("search", parameters: ["page": page, "name": name, "tags": tags])
///
/// Optionals that are nil are left out; write `ParameterValue.null` for a null. A literal without variables is a
/// ``ParameterValue``, in which `nil` is null. What cannot be encoded throws a ``RequestError`` that names its place.
///
/// What is not `Encodable` does not compile. For a dictionary of the type `[String: Any]`, and for a dictionary with
/// variables of different types in another one, write `ParameterValue(of: values)`, which throws an error that names
/// the value.
extension RequestSession {
    /// GET: parameters in the query.
    @_disfavoredOverload
    public func get(
        _ url: some URLConvertible, parameters: [String: any Encodable], headers: Headers = [:],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try get(
            url, parameters: .dictionary(Self.members(parameters)), headers: headers, when: constraint,
            options: options, completion: completion)
    }

    /// HEAD: parameters in the query.
    @_disfavoredOverload
    public func head(
        _ url: some URLConvertible, parameters: [String: any Encodable], headers: Headers = [:],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try head(
            url, parameters: .dictionary(Self.members(parameters)), headers: headers, when: constraint,
            options: options, completion: completion)
    }

    /// POST: parameters in the body.
    @_disfavoredOverload
    public func post(
        _ url: some URLConvertible, parameters: [String: any Encodable], headers: Headers = [:],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try post(
            url, parameters: .dictionary(Self.members(parameters)), headers: headers, when: constraint,
            options: options, completion: completion)
    }

    /// PUT: parameters in the body.
    @_disfavoredOverload
    public func put(
        _ url: some URLConvertible, parameters: [String: any Encodable], headers: Headers = [:],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try put(
            url, parameters: .dictionary(Self.members(parameters)), headers: headers, when: constraint,
            options: options, completion: completion)
    }

    /// PATCH: parameters in the body.
    @_disfavoredOverload
    public func patch(
        _ url: some URLConvertible, parameters: [String: any Encodable], headers: Headers = [:],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try patch(
            url, parameters: .dictionary(Self.members(parameters)), headers: headers, when: constraint,
            options: options, completion: completion)
    }

    /// DELETE: parameters in the query.
    @_disfavoredOverload
    public func delete(
        _ url: some URLConvertible, parameters: [String: any Encodable], headers: Headers = [:],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try delete(
            url, parameters: .dictionary(Self.members(parameters)), headers: headers, when: constraint,
            options: options, completion: completion)
    }

    static func members(_ parameters: [String: any Encodable]) throws(RequestError) -> [String: ParameterValue] {
        do {
            var members: [String: ParameterValue] = [:]
            for (name, value) in parameters { members[name] = try ParameterValue(of: value, at: name) }
            return members
        } catch {
            throw RequestError(ofEncoding: error)
        }
    }
}

// MARK: - 3. Multipart forms

/// Multipart forms.
extension RequestSession {
    /// POST of a multipart form: one part for each parameter, then the parts that `build` adds. Files are read when the
    /// task is started; a session with a directory copies a large form to disk. What `build` throws is the
    /// ``RequestError/underlyingError``.
    public func postForm(
        _ url: some URLConvertible, parameters: [String: ParameterValue] = [:], headers: Headers = [:],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil,
        build: (inout MultipartForm) throws -> Void
    ) throws(RequestError) -> RequestTask {
        var request: WebRequest
        do {
            request = try core.options.requestSerializer.form.multipartRequest(
                "POST", url.urlText, base: core.base, parameters: parameters, build: build)
        } catch {
            throw RequestError(ofBuilding: error)
        }
        request.headers.replace(with: try core.headers.current.sent)
        return try task(request, headers, constraint, options, kind: .upload, completion)
    }

    /// POST of a multipart form: one part for each parameter, then the parts that `build` adds.
    @_disfavoredOverload
    public func postForm(
        _ url: some URLConvertible, parameters: [String: any Encodable], headers: Headers = [:],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil, build: (inout MultipartForm) throws -> Void
    ) throws(RequestError) -> RequestTask {
        try postForm(
            url, parameters: Self.members(parameters), headers: headers, when: constraint, options: options,
            completion: completion, build: build)
    }
}

// MARK: - 4. Values as JSON, and bytes

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
