public import HTTPTypes
public import ReachSerialization

/// Requests whose parameters are variables, of any types that can be encoded:
///
///     try session.get("search", parameters: ["page": page, "name": name, "tags": tags])
///
/// Optionals that are nil are left out; write `ParameterValue.null` for a null. A literal without variables is a
/// ``ParameterValue``, in which `nil` is null. What cannot be encoded throws a ``RequestError`` that names its place.
///
/// Dictionaries of the type `[String: Any]` are parameters too, and so are literals with dictionaries of different types in
/// them.
extension RequestSession {
    /// GET: parameters in the query.
    @_disfavoredOverload
    public func get(
        _ url: some URLConvertible, parameters: [String: any Encodable], headers: HTTPFields = [:],
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
        _ url: some URLConvertible, parameters: some UntypedParameters, headers: HTTPFields = [:],
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
        _ url: some URLConvertible, parameters: [String: any Encodable], headers: HTTPFields = [:],
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
        _ url: some URLConvertible, parameters: some UntypedParameters, headers: HTTPFields = [:],
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
        _ url: some URLConvertible, parameters: [String: any Encodable], headers: HTTPFields = [:],
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
        _ url: some URLConvertible, parameters: some UntypedParameters, headers: HTTPFields = [:],
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
        _ url: some URLConvertible, parameters: [String: any Encodable], headers: HTTPFields = [:],
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
        _ url: some URLConvertible, parameters: some UntypedParameters, headers: HTTPFields = [:],
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
        _ url: some URLConvertible, parameters: [String: any Encodable], headers: HTTPFields = [:],
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
        _ url: some URLConvertible, parameters: some UntypedParameters, headers: HTTPFields = [:],
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
        _ url: some URLConvertible, parameters: [String: any Encodable], headers: HTTPFields = [:],
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
        _ url: some URLConvertible, parameters: some UntypedParameters, headers: HTTPFields = [:],
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
        _ url: some URLConvertible, parameters: [String: any Encodable], headers: HTTPFields = [:],
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
        _ url: some URLConvertible, parameters: some UntypedParameters, headers: HTTPFields = [:],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil, build: (inout MultipartForm) throws -> Void
    ) throws(RequestError) -> RequestTask {
        try postForm(
            url, parameters: Self.members(parameters.dictionary), headers: headers, when: constraint, options: options,
            completion: completion, build: build)
    }

    /// Downloads to a file, with parameters in the query.
    @_disfavoredOverload
    public func download(
        _ url: some URLConvertible, to path: String, parameters: [String: any Encodable], headers: HTTPFields = [:],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try download(
            url, to: path, parameters: .dictionary(Self.members(parameters)), headers: headers, when: constraint,
            options: options, completion: completion)
    }

    /// Downloads to a file, with parameters in the query.
    @_disfavoredOverload
    public func download(
        _ url: some URLConvertible, to path: String, parameters: some UntypedParameters, headers: HTTPFields = [:],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try download(
            url, to: path, parameters: .dictionary(Self.members(parameters.dictionary)), headers: headers,
            when: constraint,
            options: options, completion: completion)
    }

    static func members(_ parameters: [String: Any]) throws(RequestError) -> [String: ParameterValue] {
        do {
            var members: [String: ParameterValue] = [:]
            for (name, value) in parameters { members[name] = try ParameterValue(of: value, at: name) }
            return members
        } catch {
            throw RequestError(ofEncoding: error)
        }
    }
}

/// Parameters of any types: a dictionary of the type `[String: Any]`.
///
/// A protocol, since literals would otherwise be such dictionaries before they are a `ParameterValue`.
public protocol UntypedParameters {
    /// Values by name.
    var dictionary: [String: Any] { get }
}

extension Dictionary: UntypedParameters where Key == String, Value == Any {
    /// This dictionary.
    public var dictionary: [String: Any] { self }
}
