internal import HTTPTypes
public import ReachSerialization

/// The requests of AFHTTPSessionManager with headers by names that are text, as it takes them. A name or a value that
/// cannot be sent throws a ``RequestError`` that names the header.
extension RequestSession {
    /// GET: parameters in the query.
    public func get(
        _ url: some URLConvertible, parameters: ParameterValue? = nil, headers: [String: String],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try get(
            url, parameters: parameters, headers: HTTPFields(named: headers), when: constraint, options: options,
            completion: completion)
    }

    /// HEAD: parameters in the query; there is no body.
    public func head(
        _ url: some URLConvertible, parameters: ParameterValue? = nil, headers: [String: String],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try head(
            url, parameters: parameters, headers: HTTPFields(named: headers), when: constraint, options: options,
            completion: completion)
    }

    /// POST: parameters in the body.
    public func post(
        _ url: some URLConvertible, parameters: ParameterValue? = nil, headers: [String: String],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try post(
            url, parameters: parameters, headers: HTTPFields(named: headers), when: constraint, options: options,
            completion: completion)
    }

    /// PUT: parameters in the body.
    public func put(
        _ url: some URLConvertible, parameters: ParameterValue? = nil, headers: [String: String],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try put(
            url, parameters: parameters, headers: HTTPFields(named: headers), when: constraint, options: options,
            completion: completion)
    }

    /// PATCH: parameters in the body.
    public func patch(
        _ url: some URLConvertible, parameters: ParameterValue? = nil, headers: [String: String],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try patch(
            url, parameters: parameters, headers: HTTPFields(named: headers), when: constraint, options: options,
            completion: completion)
    }

    /// DELETE: parameters in the query.
    public func delete(
        _ url: some URLConvertible, parameters: ParameterValue? = nil, headers: [String: String],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try delete(
            url, parameters: parameters, headers: HTTPFields(named: headers), when: constraint, options: options,
            completion: completion)
    }

    /// POST of a multipart form: one part for each parameter, then the parts that `build` adds.
    public func postForm(
        _ url: some URLConvertible, parameters: [String: ParameterValue] = [:], headers: [String: String],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil,
        build: (inout MultipartForm) throws -> Void
    ) throws(RequestError) -> RequestTask {
        try postForm(
            url, parameters: parameters, headers: HTTPFields(named: headers), when: constraint, options: options,
            completion: completion, build: build)
    }
}

extension HTTPFields {
    init(named fields: [String: String]) throws(RequestError) {
        do throws(HTTPHeaderError) {
            self = try HTTPFields(fields)
        } catch {
            throw RequestError(error)
        }
    }
}
