/// When and how often a request is sent. The request itself, its URL, headers and body, is not in it.
public struct RequestOptions: Hashable, Sendable {
    /// How soon a request starts where several could. Nobody starves: while all wait, they start in shares of 8:4:2:1.
    public enum Priority: Hashable, Sendable, CaseIterable {
        /// Also first after an outage.
        case urgent
        /// Before most.
        case high
        /// What requests have unless told otherwise.
        case normal
        /// After all others.
        case low
    }

    /// How often it may fail at its destination: by an answer such as 503, a refused connection, silence. Failures of the
    /// network here never count: a request waits for it until its time is over.
    public enum Retries: Hashable, Sendable {
        /// The first failure is told, as AFNetworking tells it.
        case never
        /// It may be sent so many times in all, at least once, with waits of up to five minutes between them.
        case attempts(Int)
        /// Until ``RequestOptions/expiresAfter`` is over.
        case untilExpiry
    }

    /// What becomes of a request where others of the same name are still on their way. The words are WorkManager's.
    public enum Uniqueness: Hashable, Sendable {
        /// Names are not looked at.
        case none
        /// The one that is there stays, and this task becomes a second handle of it.
        case keep(String)
        /// Those that are there are cancelled, as superseded.
        case replace(String)
        /// It is sent after those that are there, and fails when the one before it did.
        case append(String)
        /// It is sent after those that are there, whatever became of them.
        case appendOrReplace(String)
        /// Those that have not started are cancelled; one that runs is finished first. For states, of which only the newest
        /// counts.
        case coalesce(String)
    }

    /// What the network must be like.
    public var constraint = RequestConstraint.reachable
    /// How soon it starts.
    public var priority = Priority.normal
    /// How long after its storing it is given up; `nil` for a day.
    public var expiresAfter: Duration?
    /// How often it may fail; `nil` for once in a session in memory, as somebody is waiting there, and for any number of
    /// times until it expires in a session with a directory.
    public var retries: Retries?
    /// By which the server tells repetitions of one request, in the header `Idempotency-Key`. A request that may not be
    /// repeated by its method (POST, PATCH) is given one of its own where it has none, so that it can be.
    public var idempotencyKey: String?
    /// Requests with the same key are sent one at a time, in the order in which they were resumed first.
    public var orderKey: String?
    /// It fails when the request before it, by its order key, did.
    public var dependsOnPrevious = false
    /// What becomes of it beside others of the same name.
    public var uniqueness = Uniqueness.none
    /// Ends a running attempt also when its path still works and only its class does not satisfy any more.
    public var isStrict = false
    /// Which statuses end a request well. Others of the server's own trouble (408, 425, 429, 500, 502, 503, 504) are tried
    /// again as ``retries`` says; the rest is final. The response serializer judges what came of it in any case.
    public var acceptedStatuses: [ClosedRange<Int>] = [200...299]

    /// The defaults.
    public init() {}
}
