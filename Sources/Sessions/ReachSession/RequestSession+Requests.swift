public import HTTPTypes
internal import ReachCore
internal import ReachQueue
public import ReachSerialization
internal import ReachTransfer

/// Tasks for whole requests, and the making of all tasks.
extension RequestSession {
    /// Sends a request that a serializer or the caller has already built. It gets those of the session's headers
    /// (``changeHeaders(_:)``) that it does not have.
    public func task(
        for request: WebRequest, when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask {
        var request = request
        request.headers.complete(from: try core.headers.current.sent)
        return try task(request, [:], constraint, options, completion)
    }

    /// Sends a request of HTTPTypes: scheme, authority and path are the complete URL, and the serializer adds nothing.
    /// It gets those of the session's headers that it does not have.
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
        complete.headers.complete(from: try core.headers.current.sent)
        return try task(complete, [:], constraint, options, completion)
    }

    /// Builds a request with the session's serializer and headers.
    func write(
        _ method: String, _ url: String, _ parameters: ParameterValue? = nil
    ) throws(RequestError) -> WebRequest {
        var request: WebRequest
        do throws(RequestSerializationError) {
            request = try core.options.requestSerializer.serialize(
                WebRequest(method: method, url: core.address(url)), parameters: parameters)
        } catch {
            throw RequestError(error)
        }
        request.headers.replace(with: try core.headers.current.sent)
        return request
    }

    /// Creates a task for a request, and checks everything that can be checked now.
    func task(
        _ request: WebRequest, _ headers: Headers, _ constraint: RequestConstraint?,
        _ options: RequestOptions?, kind: RequestTask.Kind = .data, to path: String? = nil,
        resuming resumeData: ResumeData? = nil, _ completion: RequestTask.Completion?
    ) throws(RequestError) -> RequestTask {
        var request = request
        try request.moveCredentials()
        if !headers.isEmpty {
            let headers = try headers.sent
            request.headers.replace(with: headers)
            if let fault = RequestFieldFault.first(in: headers.map { HeaderField($0.name.rawName, $0.value) }) {
                throw RequestError(RequestValidationError(.header, fault.description))
            }
        }
        let shared = chosenOptions(options, constraint)
        var queued = try RequestSpecification(request, shared.terms, of: core)
        if let path { queued.outputPath = path }
        if shared.value.idempotency == .byMethod, !RepeatableMethods.contains(queued.method) {
            queued.idempotency = .never
        }
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

extension WebRequest {
    /// Moves a name and a password from the URL into `Authorization`, as browsers and curl do: URLs are shown and
    /// logged.
    fileprivate mutating func moveCredentials() throws(RequestError) {
        guard let text = url.userInformation else { return }
        url = url.withoutUserInformation
        let sides = text.cut(at: ":") ?? (before: text[...], after: "")
        guard let user = sides.before.unescaped, let password = sides.after.unescaped,
            headers.setBasicAuthorization(user: user, password: password)
        else {
            throw RequestError(
                .request, "bad-url", "the URL's name and password are no UTF-8, or the name has a colon: use a header")
        }
    }
}

extension Substring {
    /// The text without percent escapes; `nil` if it is not UTF-8 then.
    fileprivate var unescaped: String? {
        var (bytes, rest) = ([UInt8](), utf8[...])
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2).compactMap { Unicode.Scalar($0).hexDigit }
            if byte == UInt8(ascii: "%"), digits.count == 2 {
                bytes.append(UInt8(digits[0] << 4 | digits[1]))
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

extension RequestSpecification {
    /// A request but for its body, which comes later.
    fileprivate init(_ request: WebRequest, _ terms: Shared<RequestTerms>, of core: SessionCore) throws(RequestError) {
        let limit = core.limits.bytesOfAll(nil).bytes
        if case .file = request.body {
            // The file stays in place, and does not count.
        } else if case .stream(let stream) = request.body, !stream.isSpooled, !core.keepsOnDisk {
            // It is never here as a whole.
        } else if case .multipart(let body) = request.body, !core.keepsOnDisk, body.bytesInMemory <= limit {
            // Its files are read while they are sent.
        } else if let length = request.contentLength, length > limit {
            throw RequestError(
                .request, "bad-body", "a body of \(length) bytes is more than the session holds (\(limit))")
        }
        let length = request.contentLength.map(String.init)
        // The serializer's own Content-Length goes: the length is computed again when the request is sent. Any other is
        // refused.
        let fields =
            length == nil
            ? request.headers
            : request.headers.filter { $0.name != .contentLength || $0.value != length }
        let headers = try [HeaderField](fields)
        if let fault = RequestFieldFault.first(in: headers) {
            throw RequestError(RequestValidationError(.header, fault.description))
        }
        do throws(RequestValidationError) {
            let url = request.url.description
            self.init(method: request.method.rawValue, stored: url, to: try Destination(url: url), terms: terms)
        } catch {
            throw RequestError(error)
        }
        self.headers = headers
    }
}
