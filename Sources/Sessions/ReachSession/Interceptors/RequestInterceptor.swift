public import HTTPTypes
public import ReachSerialization

/// Adapts each attempt of a request before it is sent, and decides what an answer means: Alamofire's
/// `RequestInterceptor`.
///
///     session.setInterceptor(api, named: "api")
///     var options = RequestOptions()
///     options.interceptor = "api"
///     let task = try session.post("orders", parameters: order, options: options)
///
/// The name is stored with the request, and the interceptor is not: a request of an earlier run waits until this run
/// has set an interceptor of this name. What an interceptor adds is never stored.
///
/// A request that is being adapted, or whose answer is being judged, holds no connection and counts in no limit. So an
/// interceptor may send requests in the same session and wait for them, even with
/// ``RequestSessionOptions/maximumRunning`` of 1. It is not called for requests that it creates within its own calls.
/// Such a request must not have the order key or the unique name of the one that waits for it.
///
/// The functions run on Swift's concurrent executor, several at a time. Their Swift task is cancelled with the request,
/// when it is suspended or over, and when the session is closed. ``AuthenticationInterceptor`` is a ready-made one.
public protocol RequestInterceptor: Sendable {
    /// Changes an attempt before it is sent. The default changes nothing.
    ///
    /// Called when the request could be sent: the network satisfies its constraint and there is a slot for it. If it
    /// then has to wait for more than ten seconds, it is adapted again.
    ///
    /// - Throws: Any error. It ends the request, as an error of the kind ``RequestError/Kind/interceptor``; a
    ///   ``RequestError`` ends it as it is.
    func adapt(_ attempt: inout RequestAttempt) async throws

    /// Whether ``retry(_:after:)`` is asked about an answer. The default is `true` for the status 401.
    ///
    /// Called on the session's thread, so it must not block. ``RequestHooks/disposition`` is not asked about such
    /// answers, and redirects and challenges that the session answers itself never come here.
    func judges(_ response: RequestResponse) -> Bool

    /// Decides what an answer means. The default is ``RetryDecision/doNotRetry``.
    ///
    /// - Parameters:
    ///   - attempt: The attempt as it was sent.
    ///   - response: The answer. Its body is not decoded, and missing where it went into a file.
    func retry(_ attempt: RequestAttempt, after response: RequestResponse) async -> RetryDecision

    /// Whether ``retry(_:afterFailure:)`` is asked about an attempt that failed without an answer. The default is
    /// `false`.
    ///
    /// - Parameter error: Of the kind ``RequestError/Kind/destination``, such as `connection-refused` or
    ///   `idle-timeout`, or what ``adapt(_:)`` threw. The loss of this machine's network is none: the request waits for
    ///   it. Nor is a failure after which a request with ``RequestOptions/Idempotency/never`` may have arrived.
    func judges(_ error: RequestError) -> Bool

    /// Decides whether an attempt that failed without an answer is made again, whatever ``RequestOptions/retries`` say.
    /// The default is ``RetryDecision/doNotRetry``: the failure counts as if there were no interceptor.
    func retry(_ attempt: RequestAttempt, afterFailure error: RequestError) async -> RetryDecision
}

extension RequestInterceptor {
    /// Changes nothing.
    public func adapt(_ attempt: inout RequestAttempt) async throws {}

    /// `true` for the status 401.
    public func judges(_ response: RequestResponse) -> Bool { response.statusCode == 401 }

    /// Lets each answer stand.
    public func retry(_ attempt: RequestAttempt, after response: RequestResponse) async -> RetryDecision { .doNotRetry }

    /// `false`.
    public func judges(_ error: RequestError) -> Bool { false }

    /// Lets each failure stand.
    public func retry(_ attempt: RequestAttempt, afterFailure error: RequestError) async -> RetryDecision {
        .doNotRetry
    }
}

/// One attempt of a request, for its interceptor.
public struct RequestAttempt: Sendable {
    /// The session that sends it.
    public let session: RequestSession
    /// Its task; `nil` for a request of an earlier run that the program has not listed.
    public let task: RequestTask?
    /// The method.
    public let method: String
    /// The URL. It cannot be changed: the queue orders, limits, explains and stores requests by it.
    public let url: WebAddress
    /// How often in a row the interceptor had the request sent again, or adapted again after it could not adapt it.
    public internal(set) var retryCount: Int
    /// The headers of this attempt: those of the request, which the interceptor may add to, replace and remove. Headers
    /// that frame the message, such as Content-Length, are refused.
    ///
    /// What it adds or replaces is sent to the URL's own origin only: after a redirect to another one, the request's
    /// own headers are sent, without credentials.
    public var headers: HTTPFields
}

/// What an interceptor decides about an answer.
public enum RetryDecision: Sendable {
    /// The request is adapted and sent again as soon as there is a slot. From the sixth time in a row on there is a
    /// wait of 2, 4, 8 and so on up to 300 seconds.
    case retry
    /// The same after this time.
    case retryAfter(Duration)
    /// The answer counts as if there were no interceptor.
    case doNotRetry
    /// The request ends with this error, as where ``RequestInterceptor/adapt(_:)`` throws it.
    case fail(any Error)

    /// The wait before a retry that its interceptor wants at once: an interceptor that always wants one, and a server
    /// that always refuses, must not keep this machine busy.
    package static func wait(beforeRetry number: Int) -> Duration {
        number <= 5 ? .zero : .seconds(min(300, 1 << min(number - 5, 10)))
    }
}

/// An interceptor that runs, known to all requests that are created within its calls.
struct InterceptorCall: Hashable, Sendable {
    @TaskLocal static var current: Set<InterceptorCall> = []

    private let name: String
    private let session: ObjectIdentifier

    init(_ name: String, of core: SessionCore) {
        self.name = name
        session = ObjectIdentifier(core)
    }
}

extension RequestSession {
    /// Sets the interceptor of all requests whose ``RequestOptions/interceptor`` is this name, in place of an earlier
    /// one. Requests that waited for it continue. The session keeps it.
    public func setInterceptor(_ interceptor: any RequestInterceptor, named name: String) {
        core.perform { [core] sessionLoop in sessionLoop.setInterceptor(interceptor, name, of: core) }
    }
}
