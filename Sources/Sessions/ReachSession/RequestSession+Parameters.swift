internal import HTTPTypes
public import ReachSerialization

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
