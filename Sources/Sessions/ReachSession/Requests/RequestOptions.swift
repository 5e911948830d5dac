/// When and how often a request is sent. They do not include the request itself: its URL, headers and body.
public struct RequestOptions: Hashable, Sendable {
    /// The precedence among requests that are ready to start. No request starves: while all classes wait, they start in
    /// shares of 8:4:2:1.
    public enum Priority: Hashable, Sendable, CaseIterable {
        /// Starts first, also after an outage.
        case urgent
        /// Starts before most others.
        case high
        /// The default.
        case normal
        /// Starts after all others.
        case low
    }

    /// How often a request may fail at its destination: by an answer such as 503, a refused connection, silence.
    /// Failures of the local network never count: the request waits for the network until it expires.
    public enum Retries: Hashable, Sendable {
        /// The first failure is final, as in AFNetworking.
        case never
        /// The total number of attempts, at least one, with waits of up to five minutes between them.
        case attempts(Int)
        /// The request is repeated until ``RequestOptions/expiresAfter`` has passed.
        case untilExpiry
    }

    /// What happens to a request while others of the same name are not over. The words are WorkManager's.
    public enum Uniqueness: Hashable, Sendable {
        /// The request has no name.
        case none
        /// The existing request stays, and this task becomes a second handle of it.
        case keep(String)
        /// The existing requests are cancelled, as superseded.
        case replace(String)
        /// The request is sent after the existing ones, and fails if the one before it failed.
        case append(String)
        /// The request is sent after the existing ones, whether or not they succeeded.
        case appendOrReplace(String)
        /// Existing requests that have not started are cancelled; a running one finishes first. For states, of which
        /// only the newest counts.
        case coalesce(String)
    }

    /// Whether a request may be sent again when it is not known what became of it: its connection broke, it was
    /// suspended, or the process ended while it was sent.
    public enum Idempotency: Hashable, Sendable {
        /// Never. It goes by a new connection, is not interrupted by ``RequestTask/suspend()``, and ends with
        /// ``RequestError/Kind/indeterminate`` where it may have arrived.
        case never
        /// As its method promises (RFC 9110, 9.2.2): GET, HEAD, OPTIONS, TRACE, PUT and DELETE may, others as with
        /// `never`.
        case byMethod
        /// Always: others than those methods have an `Idempotency-Key`, by which the server recognises repetitions.
        case byKey
    }

    /// How an upload is resumed where the server has a part of it.
    public enum UploadProtocol: Hashable, Sendable {
        /// tus 1.0 with its extension "creation": https://tus.io/protocols/resumable-upload. A request with POST goes
        /// to the URL that makes uploads, one with PATCH to an upload that was made. An upload elsewhere than at the
        /// request's scheme, host and port is refused, and a redirect there is not followed. The hook for answers is
        /// not asked, and the answer is not read in pieces.
        case tus
    }

    /// The network that the request needs.
    public var constraint = RequestConstraint.reachable
    /// The precedence among requests that are ready to start.
    public var priority = Priority.normal
    /// The time from storing the request until it expires; `nil` for 14 days. In a session in memory a request without
    /// it waits a minute for the network: ``waitsForConnectivity``.
    public var expiresAfter: Duration?
    /// How often the request may fail. `nil` means once in a session in memory, where a caller is waiting, and any
    /// number of times until it expires in a session with a directory.
    public var retries: Retries?
    /// Whether the request may be sent again when it may have arrived.
    public var idempotency = Idempotency.byKey
    /// The value of the header `Idempotency-Key`, by which a server recognises repetitions of one request. With
    /// ``Idempotency/byKey``, a request whose method is not safe to repeat (POST, PATCH) gets a generated key if it has
    /// none. A request with a key of yours is also sent again at once, whatever ``retries`` says, where a connection
    /// that was used before ends before the answer, as a GET is.
    public var idempotencyKey: String?
    /// The name of a sequence: requests with the same key are sent one at a time, in the order in which they were first
    /// resumed.
    public var orderKey: String?
    /// Whether the request fails when the one before it in its order key's sequence failed.
    public var dependsOnPrevious = false
    /// What happens to the request while others of the same name are not over.
    public var uniqueness = Uniqueness.none
    /// Whether a running attempt also ends when its path still works but its link class no longer satisfies the
    /// constraint.
    public var isStrict = false
    /// Whether the request is cancelled together with the Swift task that awaits ``RequestTask/response()``:
    /// Alamofire's `automaticallyCancelling`. `nil` cancels it in a session in memory only; in a session with a
    /// directory it continues, in a later run too: a program that ends cancels its tasks. Not stored with the request.
    public var isCancelledWithWaiting: Bool?
    /// Whether the request has the session's cookies, and its answers may set some. Not stored with the request: a
    /// later run sends it with that run's cookies.
    public var usesCookies = true
    /// The use of the session's cache (``RequestSessionOptions/cache``). Requests with an order key or a name neither
    /// use it nor fill it. Not stored with the request: a later run sends it without the cache.
    public var cachePolicy = CachePolicy.useProtocol
    /// The highest mean rate of the request's body, in bytes a second; `nil` for that of the network. Not stored with
    /// the request.
    public var maximumSendRate: Int64?
    /// The highest mean rate of the response's body, in bytes a second; `nil` for that of the network. Not stored
    /// with the request.
    public var maximumReceiveRate: Int64?
    /// Whether a download creates the directories of its path that do not exist, when its task is created or becomes
    /// a download.
    public var createsDirectories = false
    /// The statuses that complete a request. The statuses of temporary trouble at the server (408, 425, 429, 500, 502,
    /// 503, 504) are retried as ``retries`` says; all others are final. The response serializer checks the result in
    /// any case.
    public var acceptedStatuses: [ClosedRange<Int>] = [200...299]

    /// The name of the interceptor that adapts each attempt and judges answers; see ``RequestInterceptor``. The request
    /// waits until the session has an interceptor of this name. `nil` for none.
    public var interceptor: String?
    /// The time limits of this request's attempts; `nil` for those of the session.
    public var timeouts: RequestSessionOptions.Timeouts?
    /// Whether the request waits while no network satisfies its constraint. `nil` waits as its session's users expect:
    /// for a minute in a session in memory, where a person waits, unless ``expiresAfter`` or a ``constraint`` other
    /// than ``RequestConstraint/reachable`` and ``RequestConstraint/any`` says for how long or for what; until the
    /// request expires in a session with a directory. `true` waits until it expires. With `false` it fails at once, and
    /// also where the network is lost while it is sent. It then ends with ``RequestError/Kind/offline`` and the words
    /// of ``RequestTask/explanation()``. A request of an earlier run fails once ``RequestSession/tasks()`` has listed
    /// it.
    public var waitsForConnectivity: Bool?
    /// How the upload of the body is resumed after an attempt that was cut off; `nil` sends it from the beginning.
    /// Needs ``retries`` that allow another attempt. Attempts after which the server has more than before do not count
    /// as failures. In a session with a directory a later run resumes it, too. A body that a program writes while it is
    /// sent cannot be resumed.
    public var uploadProtocol: UploadProtocol?
    /// The program's own name or description of the request, which a later run finds:
    /// ``RequestSession/tasks(tagged:)``.
    public var tag: String?

    /// The defaults.
    public init() {}
}
