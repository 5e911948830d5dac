public import HTTPTypes
public import ReachSerialization

// Names that people of AFNetworking, Alamofire and URLSession type first, each with its counterpart: the compiler says
// the sentence in place of "has no member" or "failed to produce diagnostic". Nothing here can be called.
//
// | typed | here |
// | --- | --- |
// | AFHTTPSessionManager, AFURLSessionManager, AF, shared | RequestSession, created by the program |
// | get, post ... with parameters: [String: Any] | ParameterValue(of:), or [String: any Encodable] |
// | get, post ... with success:failure: | response(), or completion: |
// | request | get, head, post, put, patch, delete, or task(for:) |
// | dataTask, data(from:) | get(_:) and data() |
// | downloadTask | download(_:to:) |
// | uploadTask | upload(file:to:) |
// | responseJSON, responseString, responseData, responseDecodable | json(), text(), data(), decoded() |
// | validate | RequestOptions.acceptedStatuses |
// | timeoutInterval, timeoutIntervalForRequest, timeoutIntervalForResource | timeouts |
// | httpAdditionalHeaders, setValue(_:forHTTPHeaderField:) | changeHeaders(_:) |
// | httpMaximumConnectionsPerHost | maximumRunningPerHost |
// | invalidateAndCancel, finishTasksAndInvalidate | close(), closeAndWait() |

// MARK: - Sessions

/// AFNetworking's manager.
@available(*, unavailable, renamed: "RequestSession")
public typealias AFHTTPSessionManager = RequestSession

/// AFNetworking's manager.
@available(*, unavailable, renamed: "RequestSession")
public typealias AFURLSessionManager = RequestSession

/// Alamofire's session.
@available(*, unavailable, message: "create a RequestSession and keep it; no session is shared by a whole program")
public var AF: RequestSession { fatalError() }

extension RequestSession {
    /// URLSession's shared session.
    @available(*, unavailable, message: "create a RequestSession and keep it; no session is shared by a whole program")
    public static var shared: RequestSession { fatalError() }

    /// Alamofire's request.
    @available(
        *, unavailable,
        message: "use get, head, post, put, patch or delete, or task(for:) for another method, and await response()"
    )
    public func request(
        _ url: some URLConvertible, method: HTTPRequest.Method = .get, parameters: [String: Any]? = nil,
        headers: Headers? = nil
    ) -> RequestTask { fatalError() }

    /// URLSession's task.
    @available(*, unavailable, message: "use get(_:), with completion: for a block, or await its data()")
    public func dataTask(
        with url: some URLConvertible, completionHandler: (@Sendable (Any?, Any?, (any Error)?) -> Void)? = nil
    ) -> RequestTask { fatalError() }

    /// URLSession's data.
    @available(*, unavailable, message: "use try await get(url).data(), or response() for the head as well")
    public func data(from url: some URLConvertible) async throws -> (Any, Any) { fatalError() }

    /// URLSession's download.
    @available(*, unavailable, renamed: "download(_:to:)")
    public func downloadTask(
        with url: some URLConvertible, completionHandler: (@Sendable (Any?, Any?, (any Error)?) -> Void)? = nil
    ) -> RequestTask { fatalError() }

    /// URLSession's upload.
    @available(*, unavailable, message: "use upload(file:to:), or post(_:body:) for bytes and values")
    public func uploadTask(
        with url: some URLConvertible, from data: Any?,
        completionHandler: (@Sendable (Any?, Any?, (any Error)?) -> Void)? = nil
    ) -> RequestTask { fatalError() }

    /// URLSession's end.
    @available(*, unavailable, renamed: "close()")
    public func invalidateAndCancel() { fatalError() }

    /// URLSession's end, after its tasks.
    @available(*, unavailable, message: "await the tasks, then call closeAndWait()")
    public func finishTasksAndInvalidate() { fatalError() }
}

// MARK: - Parameters of the type [String: Any]

extension RequestSession {
    /// GET with parameters that cannot be checked.
    @available(
        *, unavailable,
        message: "Any cannot be checked: write ParameterValue(of: parameters), or use the type [String: any Encodable]"
    )
    @_disfavoredOverload
    public func get(
        _ url: some URLConvertible, parameters: [String: Any], headers: Headers = [:],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask { fatalError() }

    /// HEAD with parameters that cannot be checked.
    @available(
        *, unavailable,
        message: "Any cannot be checked: write ParameterValue(of: parameters), or use the type [String: any Encodable]"
    )
    @_disfavoredOverload
    public func head(
        _ url: some URLConvertible, parameters: [String: Any], headers: Headers = [:],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask { fatalError() }

    /// POST with parameters that cannot be checked.
    @available(
        *, unavailable,
        message: "Any cannot be checked: write ParameterValue(of: parameters), or use the type [String: any Encodable]"
    )
    @_disfavoredOverload
    public func post(
        _ url: some URLConvertible, parameters: [String: Any], headers: Headers = [:],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask { fatalError() }

    /// PUT with parameters that cannot be checked.
    @available(
        *, unavailable,
        message: "Any cannot be checked: write ParameterValue(of: parameters), or use the type [String: any Encodable]"
    )
    @_disfavoredOverload
    public func put(
        _ url: some URLConvertible, parameters: [String: Any], headers: Headers = [:],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask { fatalError() }

    /// PATCH with parameters that cannot be checked.
    @available(
        *, unavailable,
        message: "Any cannot be checked: write ParameterValue(of: parameters), or use the type [String: any Encodable]"
    )
    @_disfavoredOverload
    public func patch(
        _ url: some URLConvertible, parameters: [String: Any], headers: Headers = [:],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask { fatalError() }

    /// DELETE with parameters that cannot be checked.
    @available(
        *, unavailable,
        message: "Any cannot be checked: write ParameterValue(of: parameters), or use the type [String: any Encodable]"
    )
    @_disfavoredOverload
    public func delete(
        _ url: some URLConvertible, parameters: [String: Any], headers: Headers = [:],
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil,
        completion: RequestTask.Completion? = nil
    ) throws(RequestError) -> RequestTask { fatalError() }
}

// MARK: - Blocks of success and failure

extension RequestSession {
    /// GET as AFHTTPSessionManager has it.
    @available(
        *, unavailable,
        message: "use await response() or value(), which throws a RequestError, or completion:, and resume()"
    )
    public func get(
        _ url: some URLConvertible, parameters: Any?, headers: Any? = nil, progress: ((Any) -> Void)? = nil,
        success: ((RequestTask, Any?) -> Void)?, failure: ((RequestTask?, any Error) -> Void)?
    ) -> RequestTask? { fatalError() }

    /// POST as AFHTTPSessionManager has it.
    @available(
        *, unavailable,
        message: "use await response() or value(), which throws a RequestError, or completion:, and resume()"
    )
    public func post(
        _ url: some URLConvertible, parameters: Any?, headers: Any? = nil, progress: ((Any) -> Void)? = nil,
        success: ((RequestTask, Any?) -> Void)?, failure: ((RequestTask?, any Error) -> Void)?
    ) -> RequestTask? { fatalError() }

    /// PUT as AFHTTPSessionManager has it.
    @available(
        *, unavailable,
        message: "use await response() or value(), which throws a RequestError, or completion:, and resume()"
    )
    public func put(
        _ url: some URLConvertible, parameters: Any?, headers: Any? = nil, progress: ((Any) -> Void)? = nil,
        success: ((RequestTask, Any?) -> Void)?, failure: ((RequestTask?, any Error) -> Void)?
    ) -> RequestTask? { fatalError() }

    /// PATCH as AFHTTPSessionManager has it.
    @available(
        *, unavailable,
        message: "use await response() or value(), which throws a RequestError, or completion:, and resume()"
    )
    public func patch(
        _ url: some URLConvertible, parameters: Any?, headers: Any? = nil, progress: ((Any) -> Void)? = nil,
        success: ((RequestTask, Any?) -> Void)?, failure: ((RequestTask?, any Error) -> Void)?
    ) -> RequestTask? { fatalError() }

    /// DELETE as AFHTTPSessionManager has it.
    @available(
        *, unavailable,
        message: "use await response() or value(), which throws a RequestError, or completion:, and resume()"
    )
    public func delete(
        _ url: some URLConvertible, parameters: Any?, headers: Any? = nil, progress: ((Any) -> Void)? = nil,
        success: ((RequestTask, Any?) -> Void)?, failure: ((RequestTask?, any Error) -> Void)?
    ) -> RequestTask? { fatalError() }
}

// MARK: - Answers

extension RequestTask {
    /// Alamofire's JSON.
    @available(*, unavailable, message: "await json(), or pass completion: when the task is created")
    @discardableResult
    public func responseJSON(completionHandler: @escaping (Any) -> Void) -> RequestTask { fatalError() }

    /// Alamofire's text.
    @available(*, unavailable, message: "await text(), or pass completion: when the task is created")
    @discardableResult
    public func responseString(completionHandler: @escaping (Any) -> Void) -> RequestTask { fatalError() }

    /// Alamofire's bytes.
    @available(*, unavailable, message: "await data(), or pass completion: when the task is created")
    @discardableResult
    public func responseData(completionHandler: @escaping (Any) -> Void) -> RequestTask { fatalError() }

    /// Alamofire's decoded value.
    @available(*, unavailable, message: "await decoded(), or pass completion: when the task is created")
    @discardableResult
    public func responseDecodable<Value: Decodable>(
        of type: Value.Type = Value.self, completionHandler: @escaping (Any) -> Void
    ) -> RequestTask { fatalError() }

    /// Alamofire's check.
    @available(*, unavailable, message: "a status outside RequestOptions.acceptedStatuses is an error without it")
    public func validate() -> RequestTask { fatalError() }
}

// MARK: - Options

extension RequestSessionOptions {
    /// URLSessionConfiguration's limit.
    @available(*, unavailable, message: "set timeouts.idle, as in URLSession the limit without a byte")
    public var timeoutIntervalForRequest: Double {
        get { fatalError() }
        set { fatalError() }
    }

    /// URLSessionConfiguration's limit.
    @available(*, unavailable, message: "set timeouts.total for an attempt, requests.expiresAfter with all waiting")
    public var timeoutIntervalForResource: Double {
        get { fatalError() }
        set { fatalError() }
    }

    /// URLSessionConfiguration's headers.
    @available(*, unavailable, message: "call changeHeaders(_:) of the session")
    public var httpAdditionalHeaders: [String: String]? {
        get { fatalError() }
        set { fatalError() }
    }

    /// URLSessionConfiguration's limit.
    @available(*, unavailable, renamed: "maximumRunningPerHost")
    public var httpMaximumConnectionsPerHost: Int {
        get { fatalError() }
        set { fatalError() }
    }
}

extension RequestOptions {
    /// URLRequest's limit.
    @available(*, unavailable, message: "set timeouts, whose idle is URLRequest's timeoutInterval")
    public var timeoutInterval: Double {
        get { fatalError() }
        set { fatalError() }
    }
}

extension RequestSerializer {
    /// AFHTTPRequestSerializer's limit.
    @available(*, unavailable, message: "set RequestSessionOptions.timeouts.idle")
    public var timeoutInterval: Double {
        get { fatalError() }
        set { fatalError() }
    }

    /// AFHTTPRequestSerializer's headers.
    @available(*, unavailable, message: "call changeHeaders(_:) of the session")
    public func setValue(_ value: String?, forHTTPHeaderField field: String) { fatalError() }
}
