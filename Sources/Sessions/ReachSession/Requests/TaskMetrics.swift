public import ReachCore
public import ReachSerialization
internal import ReachTransfer

/// How a request went: what NSURLSessionTaskMetrics has. It covers this run of the program, and is not stored.
public struct TaskMetrics: Hashable, Sendable {
    /// One request on a connection and its response: an attempt consists of one, and of one more for each redirect that
    /// is followed and each challenge that is answered.
    public struct Exchange: Hashable, Sendable {
        /// The method.
        public let method: String
        /// The URL.
        public let url: WebAddress
        /// The status; `nil` without a response.
        public let status: Int?
        /// The time at which the exchange began.
        public let started: Timestamp
        /// The time from the beginning to the end.
        public let total: Duration
        /// The time of name resolution; `nil` where an open connection was reused.
        public let name: Duration?
        /// The time in which TCP was connected; `nil` where an open connection was reused, and where it was not
        /// connected.
        public let connect: Duration?
        /// The time of the TLS handshake; `nil` without one.
        public let tls: Duration?
        /// The time from the first byte of the request to the first byte of the response; `nil` without a response.
        public let firstByte: Duration?
        /// The version of HTTP, such as `HTTP/1.1` or `HTTP/2`; `nil` without a response.
        public let httpVersion: String?
        /// The addresses of the connection.
        public let remoteAddress: IPAddress?
        /// The addresses of the connection.
        public let localAddress: IPAddress?
        /// The interface that all packets used.
        public let interface: String?
        /// Whether an open connection was reused.
        public let isReusedConnection: Bool
        /// Bytes of HTTP that were sent, head and body, before TLS encrypts them.
        public let sentBytes: Int64
        /// Bytes of HTTP that were received, head and body as it was encoded, after TLS decrypted them.
        public let receivedBytes: Int64
        /// Bytes of the request's body that were sent.
        public let sentBodyBytes: Int64
        /// Bytes of the response's body, decoded.
        public let receivedBodyBytes: Int64
        /// The stable word of the failure; `nil` with a response.
        public let failure: String?
    }

    /// The number of attempts that were begun.
    public internal(set) var attempts = 0
    /// The number of redirects that were followed, in all attempts.
    public internal(set) var redirects = 0
    /// The exchanges of all attempts, in order; of many, the last 32.
    public private(set) var exchanges: [Exchange] = []

    private static let limit = 32

    init() {}

    mutating func add(_ exchange: Exchange) {
        if exchanges.count == Self.limit { exchanges.removeFirst() }
        exchanges.append(exchange)
    }
}

extension TaskMetrics.Exchange {
    /// - Parameters:
    ///   - interface: The interface that the request was bound to.
    ///   - url: The URL of the report's last hop.
    ///   - now: The time of the report.
    /// - Returns: `nil` for a report without an exchange.
    init?(_ report: TransferReport, by interface: String?, _ url: WebAddress, at now: Instant) {
        guard let hop = report.hops.last else { return nil }
        let phases = hop.phases
        method = hop.method
        self.url = url
        status = hop.status
        started = Timestamp(
            nanosecondsSince1970: now.wall.nanosecondsSince1970 - (now.boot - phases.started).nanoseconds)
        total = (phases.finished ?? now.boot) - phases.started
        name = phases.resolved.map { $0 - phases.started }
        connect = phases.connected.map { $0 - (phases.resolved ?? phases.started) }
        tls = phases.secured.map { $0 - (phases.connected ?? phases.started) }
        firstByte = phases.firstByte.map { $0 - (phases.requestStarted ?? phases.started) }
        httpVersion = hop.version
        remoteAddress = hop.remoteAddress
        localAddress = hop.localAddress
        self.interface = interface
        isReusedConnection = hop.reusedConnection
        sentBytes = Int64(clamping: hop.wire.sent)
        receivedBytes = Int64(clamping: hop.wire.received)
        sentBodyBytes = Int64(clamping: report.sentBytes)
        receivedBodyBytes = Int64(clamping: report.receivedBytes)
        failure = report.failure?.reason.rawValue
    }
}
