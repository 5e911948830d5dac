internal import HTTPTypes
public import ReachSerialization

/// Requests whose parameters are variables, with headers by names that are text.
extension RequestSession {
    /// GET: parameters in the query.
    @_disfavoredOverload
    public func get(
        _ url: some URLConvertible, parameters: [String: any Encodable], headers: [String: String],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try get(
            url, parameters: .dictionary(Self.members(parameters)), headers: headers, when: constraint,
            options: options, completion: completion)
    }

    /// GET: parameters in the query.
    @_disfavoredOverload
    public func get(
        _ url: some URLConvertible, parameters: some UntypedParameters, headers: [String: String],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try get(
            url, parameters: .dictionary(Self.members(parameters.dictionary)), headers: headers, when: constraint,
            options: options, completion: completion)
    }

    /// HEAD: parameters in the query.
    @_disfavoredOverload
    public func head(
        _ url: some URLConvertible, parameters: [String: any Encodable], headers: [String: String],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try head(
            url, parameters: .dictionary(Self.members(parameters)), headers: headers, when: constraint,
            options: options, completion: completion)
    }

    /// HEAD: parameters in the query.
    @_disfavoredOverload
    public func head(
        _ url: some URLConvertible, parameters: some UntypedParameters, headers: [String: String],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try head(
            url, parameters: .dictionary(Self.members(parameters.dictionary)), headers: headers, when: constraint,
            options: options, completion: completion)
    }

    /// POST: parameters in the body.
    @_disfavoredOverload
    public func post(
        _ url: some URLConvertible, parameters: [String: any Encodable], headers: [String: String],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try post(
            url, parameters: .dictionary(Self.members(parameters)), headers: headers, when: constraint,
            options: options, completion: completion)
    }

    /// POST: parameters in the body.
    @_disfavoredOverload
    public func post(
        _ url: some URLConvertible, parameters: some UntypedParameters, headers: [String: String],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try post(
            url, parameters: .dictionary(Self.members(parameters.dictionary)), headers: headers, when: constraint,
            options: options, completion: completion)
    }

    /// PUT: parameters in the body.
    @_disfavoredOverload
    public func put(
        _ url: some URLConvertible, parameters: [String: any Encodable], headers: [String: String],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try put(
            url, parameters: .dictionary(Self.members(parameters)), headers: headers, when: constraint,
            options: options, completion: completion)
    }

    /// PUT: parameters in the body.
    @_disfavoredOverload
    public func put(
        _ url: some URLConvertible, parameters: some UntypedParameters, headers: [String: String],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try put(
            url, parameters: .dictionary(Self.members(parameters.dictionary)), headers: headers, when: constraint,
            options: options, completion: completion)
    }

    /// PATCH: parameters in the body.
    @_disfavoredOverload
    public func patch(
        _ url: some URLConvertible, parameters: [String: any Encodable], headers: [String: String],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try patch(
            url, parameters: .dictionary(Self.members(parameters)), headers: headers, when: constraint,
            options: options, completion: completion)
    }

    /// PATCH: parameters in the body.
    @_disfavoredOverload
    public func patch(
        _ url: some URLConvertible, parameters: some UntypedParameters, headers: [String: String],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try patch(
            url, parameters: .dictionary(Self.members(parameters.dictionary)), headers: headers, when: constraint,
            options: options, completion: completion)
    }

    /// DELETE: parameters in the query.
    @_disfavoredOverload
    public func delete(
        _ url: some URLConvertible, parameters: [String: any Encodable], headers: [String: String],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try delete(
            url, parameters: .dictionary(Self.members(parameters)), headers: headers, when: constraint,
            options: options, completion: completion)
    }

    /// DELETE: parameters in the query.
    @_disfavoredOverload
    public func delete(
        _ url: some URLConvertible, parameters: some UntypedParameters, headers: [String: String],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try delete(
            url, parameters: .dictionary(Self.members(parameters.dictionary)), headers: headers, when: constraint,
            options: options, completion: completion)
    }

    /// POST of a multipart form: one part for each parameter, then the parts that `build` adds.
    @_disfavoredOverload
    public func postForm(
        _ url: some URLConvertible, parameters: [String: any Encodable], headers: [String: String],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil, build: (inout MultipartForm) throws -> Void
    ) throws(RequestError) -> RequestTask {
        try postForm(
            url, parameters: Self.members(parameters), headers: headers, when: constraint, options: options,
            completion: completion, build: build)
    }

    /// POST of a multipart form: one part for each parameter, then the parts that `build` adds.
    @_disfavoredOverload
    public func postForm(
        _ url: some URLConvertible, parameters: some UntypedParameters, headers: [String: String],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil, build: (inout MultipartForm) throws -> Void
    ) throws(RequestError) -> RequestTask {
        try postForm(
            url, parameters: Self.members(parameters.dictionary), headers: headers, when: constraint, options: options,
            completion: completion, build: build)
    }
}
