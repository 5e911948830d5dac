public import ReachSerialization

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
