public import HTTPTypes
internal import ReachCore
internal import ReachQueue
public import ReachSerialization
internal import ReachTransfer
internal import Synchronization

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
        _ url: some URLConvertible, parameters: ParameterValue? = nil, headers: HTTPFields = [:],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try request("GET", url.urlText, parameters, headers, constraint, options, completion)
    }

    /// HEAD: parameters in the query; there is no body.
    public func head(
        _ url: some URLConvertible, parameters: ParameterValue? = nil, headers: HTTPFields = [:],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try request("HEAD", url.urlText, parameters, headers, constraint, options, completion)
    }

    /// POST: parameters in the body.
    public func post(
        _ url: some URLConvertible, parameters: ParameterValue? = nil, headers: HTTPFields = [:],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try request("POST", url.urlText, parameters, headers, constraint, options, completion)
    }

    /// PUT: parameters in the body.
    public func put(
        _ url: some URLConvertible, parameters: ParameterValue? = nil, headers: HTTPFields = [:],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try request("PUT", url.urlText, parameters, headers, constraint, options, completion)
    }

    /// PATCH: parameters in the body.
    public func patch(
        _ url: some URLConvertible, parameters: ParameterValue? = nil, headers: HTTPFields = [:],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try request("PATCH", url.urlText, parameters, headers, constraint, options, completion)
    }

    /// DELETE: parameters in the query.
    public func delete(
        _ url: some URLConvertible, parameters: ParameterValue? = nil, headers: HTTPFields = [:],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        try request("DELETE", url.urlText, parameters, headers, constraint, options, completion)
    }

    /// POST of a multipart form: one part for each parameter, then the parts that `build` adds. Files are read when the
    /// task is started; a session with a directory copies a large form to disk. What `build` throws is the
    /// ``RequestError/underlyingError``.
    public func postForm(
        _ url: some URLConvertible, parameters: [String: ParameterValue] = [:], headers: HTTPFields = [:],
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
        request.add(core.headers.current)
        return try task(request, headers, constraint, options, kind: .upload, completion)
    }

    /// Sends a request that a serializer or the caller has already built. It gets those of the session's headers
    /// (``changeHeaders(_:)``) that it does not have.
    public func task(
        for request: WebRequest, when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        var request = request
        request.complete(core.headers.current)
        return try task(request, [:], constraint, options, completion)
    }

    /// Sends a request of HTTPTypes: scheme, authority and path are the complete URL, and the serializer adds nothing. It
    /// gets those of the session's headers that it does not have.
    public func task(
        for request: HTTPRequest, body: WebRequest.Body = .none, when constraint: RequestConstraint? = nil,
        options: RequestOptions? = nil, completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        var complete: WebRequest
        do throws(RequestSerializationError) {
            complete = try WebRequest(request, body: body)
        } catch {
            throw RequestError(error)
        }
        complete.complete(core.headers.current)
        return try task(complete, [:], constraint, options, completion)
    }

    private func request(
        _ method: String, _ url: String, _ parameters: ParameterValue?, _ headers: HTTPFields,
        _ constraint: RequestConstraint?, _ options: RequestOptions?, _ completion: RequestTask.Completion?
    ) throws(RequestError) -> RequestTask {
        try task(write(method, url, parameters), headers, constraint, options, completion)
    }

    /// Builds a request with the session's serializer and headers.
    func write(
        _ method: String, _ url: String, _ parameters: ParameterValue? = nil
    ) throws(RequestError) -> WebRequest {
        do throws(RequestSerializationError) {
            var request = try core.options.requestSerializer.serialize(
                WebRequest(method: method, url: core.address(url)), parameters: parameters)
            request.add(core.headers.current)
            return request
        } catch {
            throw RequestError(error)
        }
    }

    /// Creates a task for a request, and checks everything that can be checked now.
    func task(
        _ request: WebRequest, _ headers: HTTPFields, _ constraint: RequestConstraint?,
        _ options: RequestOptions?, kind: RequestTask.Kind = .data, to path: String? = nil,
        resuming resumeData: ResumeData? = nil, _ completion: RequestTask.Completion?
    ) throws(RequestError) -> RequestTask {
        var request = request
        if !headers.isEmpty {
            request.headerFields.replace(with: headers)
            if let fault = RequestFieldFault.first(in: headers.map { HeaderField($0.name.rawName, $0.value) }) {
                throw RequestError(RequestValidationError(.header, fault.description))
            }
        }
        let shared = chosenOptions(options, constraint)
        var queued = try RequestSpecification(request, shared.terms, of: core)
        if let path { queued.outputPath = path }
        // A host behind a proxy may have neither a name nor a path here.
        if core.usesProxies, let url = try? TransferURL(queued.url),
            core.options.proxies.proxy(for: url) != .none
        {
            queued.condition.isTargetReachable = false
        }
        do throws(RequestValidationError) {
            try queued.check(core.limits, fieldsAreChecked: true)
        } catch {
            throw RequestError(error)
        }
        let task = core.task(
            TaskPlan(
                kind: kind, request: request, sharedOptions: shared, queued: QueuedRequest(queued),
                resumeData: resumeData),
            of: self)
        if let completion { task.whenComplete(completion) }
        return task
    }

    /// The options of a task: the session's, unless something else was given.
    private func chosenOptions(_ options: RequestOptions?, _ constraint: RequestConstraint?) -> SharedOptions {
        let usual = core.usualOptions
        if options == nil, constraint == nil, usual.value.interceptor == nil { return usual }
        let name = options.map(\.interceptor) ?? usual.value.interceptor
        // An interceptor's own requests would wait for themselves.
        let isOwn = name.map { InterceptorCall.current.contains(InterceptorCall($0, of: core)) } ?? false
        guard options != nil || constraint != nil || isOwn else { return usual }
        var options = options ?? usual.value
        if let constraint { options.constraint = constraint }
        if isOwn { options.interceptor = nil }
        return SharedOptions(options, keepsOnDisk: core.keepsOnDisk)
    }
}

extension RequestSpecification {
    /// A request but for its body, which comes later.
    fileprivate init(_ request: WebRequest, _ terms: SharedTerms, of core: SessionCore) throws(RequestError) {
        let limit = core.limits.bytesOfAll(nil).bytes
        if case .file = request.body {
            // The file stays in place, and does not count.
        } else if case .stream(let stream) = request.body, !stream.isSpooled, !core.keepsOnDisk {
            // It is never here as a whole.
        } else if let length = request.contentLength, length > limit {
            throw RequestError(
                .request, "bad-body", "a body of \(length) bytes is more than the session holds (\(limit))")
        }
        let length = request.contentLength.map(String.init)
        // The serializer's own Content-Length goes: the length is computed again when the request is sent. Any other is
        // refused.
        let fields =
            length == nil
            ? request.headerFields
            : request.headerFields.filter { $0.name != .contentLength || $0.value != length }
        let headers = try core.sentFields.list(fields)
        do throws(RequestValidationError) {
            let destination = try core.destinations.destination(of: request.url)
            self.init(
                method: request.method.rawValue, stored: request.url.description, to: destination, terms: terms)
        } catch {
            throw RequestError(error)
        }
        self.headers = headers
    }
}

/// The destination of a session's last request, which mostly is that of the next one, too.
final class LastDestination: Sendable {
    private struct Entry: Sendable {
        let server: WebAddress
        let destination: Destination
    }

    private let last = Mutex<Entry?>(nil)

    /// - Throws: ``RequestValidationError`` for a URL that cannot be queued.
    func destination(of url: WebAddress) throws(RequestValidationError) -> Destination {
        if let known = last.withLock({ $0 }), known.server.hasServer(of: url) { return known.destination }
        let destination = try Destination(url: url.description)
        last.withLock { $0 = Entry(server: url.withoutPath, destination: destination) }
        return destination
    }
}

/// The fields of a session's last request as they are sent. Mostly the next one has the same: then the list is not made again,
/// and a thousand waiting tasks have one.
final class LastFields: Sendable {
    private struct Entry: Sendable {
        let fields: HTTPFields
        let list: [HeaderField]
    }

    private let last = Mutex<Entry?>(nil)

    /// The fields, all of which can be sent.
    func list(_ fields: HTTPFields) throws(RequestError) -> [HeaderField] {
        if let known = last.withLock({ $0 }), known.fields.count == fields.count,
            known.fields.elementsEqual(fields, by: { $0.name.rawName == $1.name.rawName && $0 == $1 })
        {
            return known.list
        }
        let list = try [HeaderField](fields)
        if let fault = RequestFieldFault.first(in: list) {
            throw RequestError(RequestValidationError(.header, fault.description))
        }
        // They are not kept where they have secrets.
        if !fields.contains(.authorization), !fields.contains(.proxyAuthorization), !fields.contains(.cookie) {
            last.withLock { $0 = Entry(fields: fields, list: list) }
        }
        return list
    }
}
