package import ReachCore

/// The request for one HTTP exchange, or for a connection without one: a value.
///
///     var request = TransferRequest(url: try TransferURL("https://example.org/"))
///     request.interface = InterfaceBinding(name: "eth0", index: 2)
///     let id = engine.start(request, handler: TransferHandler { event in ... })
///
/// Nothing comes from the environment: no proxy variables, no `.netrc`, no cookies but those given. ``TransferEngine``
/// handles names, redirects, timeouts and proxies, since libcurl's own handling cannot be observed.
@dynamicMemberLookup
package struct TransferRequest: Hashable, Sendable {
    /// Shared, since several objects keep a request while it is sent, and it has a dozen texts and lists.
    private(set) var shared: Shared<Values>

    /// Inlined in this module; in another one a key path is walked.
    package subscript<Value>(dynamicMember path: WritableKeyPath<Values, Value>) -> Value {
        @inline(__always) get { shared.value[keyPath: path] }
        @inline(__always) _modify { yield &shared.value[keyPath: path] }
    }

    package subscript<Value>(dynamicMember path: WritableKeyPath<ConnectionTerms, Value>) -> Value {
        @inline(__always) get { shared.value.connectionTerms[keyPath: path] }
        @inline(__always) _modify { yield &shared.value.connectionTerms[keyPath: path] }
    }

    // What other modules read most.
    package var url: TransferURL {
        get { shared.value.url }
        set { shared.value.url = newValue }
    }
    package var headers: [HeaderField] {
        get { shared.value.headers }
        _modify { yield &shared.value.headers }
    }
    package var sink: TransferSink {
        get { shared.value.sink }
        set { shared.value.sink = newValue }
    }

    package init(_ method: String = "GET", url: TransferURL) { self.init(Values(method: method, url: url)) }

    package init(_ values: Values) { shared = Shared(values) }

    /// Whether it may be sent again where it may have arrived. A POST has a key for most servers in vain, so that only
    /// a caller's own key shows that the server knows repetitions.
    var mayArriveTwice: Bool { !self.isSentOnce && (RepeatableMethods.contains(self.method) || self.hasOwnKey) }

    /// Whether libcurl paces the bodies: it then waits without its socket.
    var isPaced: Bool { self.rates != TransferRates() }

    /// All header fields that are sent.
    package var sentFields: [HeaderField] {
        let headers = self.headers
        guard let cookies = self.cookies, !headers.contains(where: { $0.isNamed("Cookie") }) else { return headers }
        return headers + [HeaderField("Cookie", cookies)]
    }
}

extension TransferRequest {
    /// What a request says.
    package struct Values: Hashable, Sendable {
        package var method: String
        package var url: TransferURL
        /// Header fields, sent in this order in addition to those that HTTP needs. ``RequestFieldFault`` refuses some,
        /// such as Content-Length, which the engine sets.
        package var headers: [HeaderField] = []
        /// The value of the Cookie field for this URL, from its owner's jar; not sent where ``headers`` have such a
        /// field. It does not separate connections, as a Cookie field of the caller's does: all of the owner's requests
        /// have the jar.
        package var cookies: String?
        package var body = TransferBody.none
        /// Whether the server may compress the response: it is decoded as it arrives, and the limit applies to the
        /// decoded bytes. Not with an Accept-Encoding of the caller's, nor where a download resumes.
        package var acceptsEncodings = false
        /// Whether the server is asked for a response that is not compressed, and one that is compressed all the same
        /// is decoded: for downloads, which can be resumed as they are sent only. Not with an Accept-Encoding or a
        /// Range of the caller's.
        package var undoesEncodings = false
        /// The family of addresses to look up and use; `nil` for both.
        package var family: IPAddress.Family?
        /// The addresses of the URL's host, tried in this order; `nil` to look them up. They apply to that host only,
        /// not to a proxy; a proxy of the scheme socks5 gets the first of them.
        package var addresses: [IPAddress]?
        package var timeouts = TransferTimeouts()
        package var rates = TransferRates()
        package var limit = ResponseLimit()
        package var sink = TransferSink.memory
        /// Whether pieces of the body are reported as they arrive, whatever the sink.
        package var reportsBody = false
        package var redirects = RedirectPolicy.none
        /// Whether its owner follows redirects by further requests, so that their bodies need not be read.
        package var leavesRedirects = false
        package var connectionTerms = ConnectionTerms()
        /// Whether the server must not get it twice, whatever its method promises.
        package var isSentOnce = false
        /// Whether its Idempotency-Key is its caller's, who knows that the server recognises repetitions by it. Then it
        /// is sent again on a new connection where one that was used before ends before the answer, as a GET is.
        package var hasOwnKey = false
        package var connection = ConnectionUse.pooled
        /// The largest TCP segments to send and to ask for, in bytes; `nil` leaves it to the kernel. Only for new
        /// connections.
        package var segmentBytes: Int32?

        package init(method: String, url: TransferURL) { (self.method, self.url) = (method, url) }
    }
}

/// What a request asks of its connection: one that was opened for others is never used.
package struct ConnectionTerms: Hashable, Sendable {
    /// The owner of its connections.
    package var owner = ConnectionOwner.program
    /// The interface that every packet must use, including queries to name servers; `nil` leaves it to routing.
    package var interface: InterfaceBinding?
    /// The source address to require: where the kernel chose another one, the attempt is refused before the first byte
    /// of the request is sent.
    package var source: IPAddress?
    package var version = HTTPVersion.automatic
    package var proxy = TransferProxy.none
    package var security = SecurityPolicy.standard
    /// Decides about servers in place of ``security``, whose verdict it receives.
    package var trustJudge: TrustJudge?
    package var clientCertificate: ClientCertificate?
}

/// The owner of connections: no two owners share one.
package enum ConnectionOwner: Hashable, Sendable {
    /// This program itself.
    case program
    /// A user's request in the queue, by user ID.
    case user(UInt32)
    case probes
    case validation
}

/// The interface that an attempt is bound to, by name and index: the name alone may since belong to another interface.
package struct InterfaceBinding: Hashable, Sendable {
    package let name: String
    /// The interface's index; 0 if only the name is known.
    package let index: UInt32

    package init(name: String, index: UInt32 = 0) {
        self.name = name
        self.index = index
    }
}

/// The body of a request.
package enum TransferBody: Hashable, Sendable {
    case none
    case bytes([UInt8])
    /// A regular file, read piece by piece on a thread for files. The Content-Length is its size when it is opened; if
    /// it shrinks later, the transfer fails.
    case file(path: String)
    /// Bytes that are read as they are sent, on a thread for files.
    case stream(StreamedBody)
    /// Bytes that a producer writes while they are sent.
    case arriving(ArrivingBody)
}

/// A body of known length that is read as it is sent. Two are equal if they are the same object.
package final class StreamedBody: Hashable, Sendable {
    /// Copies the next bytes into a buffer, which has room for at least one; 0 at the end. May block.
    package typealias Reader = (UnsafeMutableRawBufferPointer) throws -> Int

    /// The length in bytes.
    package let count: UInt64
    /// Opens it at its first byte, each time that it is sent. Called on the thread for files, as its result is.
    package let open: @Sendable () throws -> Reader

    package init(count: UInt64, open: @escaping @Sendable () throws -> Reader) {
        self.count = count
        self.open = open
    }

    package static func == (left: StreamedBody, right: StreamedBody) -> Bool { left === right }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The highest mean rates of a body, in bytes a second; `nil` leaves the rate to the network.
package struct TransferRates: Hashable, Sendable {
    package var sending: Int64?
    package var receiving: Int64?

    package init(sending: Int64? = nil, receiving: Int64? = nil) {
        self.sending = sending
        self.receiving = receiving
    }
}

/// The version of HTTP to use.
package enum HTTPVersion: Hashable, Sendable {
    /// HTTP/2 if TLS negotiates it, else HTTP/1.1.
    case automatic
    /// HTTP/1.1, for probes: one connection, one exchange.
    case http1
}

/// How a transfer uses connections.
package enum ConnectionUse: Hashable, Sendable {
    /// An open connection may be reused, and is kept open afterwards: never one of another owner, epoch, interface or
    /// security policy.
    case pooled
    /// A new connection, closed afterwards: for probes.
    case fresh
    /// A new connection, with TLS where the scheme is https, and no request. There is no response.
    case connectOnly
}

/// The proxy to use; its name is resolved as the target's would be.
package enum TransferProxy: Hashable, Sendable {
    /// No proxy, whatever the environment sets.
    case none
    /// `http://host:port` or `socks5h://host:port`, where the proxy resolves the target's name, or
    /// `socks5://host:port`, where this machine does. The URL may have a user and a password.
    case explicit(TransferURL)

    package var url: TransferURL? { if case .explicit(let url) = self { url } else { nil } }

    /// Whether the target's name is resolved here, too.
    var resolvesTarget: Bool { url?.scheme == "socks5" }
}

/// What to do with a redirect.
package enum RedirectPolicy: Hashable, Sendable {
    /// A redirect is a response like any other.
    case none
    /// Up to `limit` redirects are followed, to http and https only. The handler decides about each.
    ///
    /// No redirect leads to another origin where there are pins, or from https to http. Authorization, Cookie and
    /// Proxy-Authorization are sent only to the origin that they were meant for.
    case follow(limit: Int)
}

/// A redirect that the handler decides about.
package struct Redirect: Hashable, Sendable {
    package let status: Int
    package let from: TransferURL
    package let to: TransferURL
    /// The method of the next request: 303 makes it GET, 301 and 302 make a POST one (RFC 9110 section 15.4).
    package let method: String

    /// More than servers accept, mostly 8,000 bytes (RFC 9110 section 4.1). Each redirect takes time in proportion.
    static let longestURL = 16384

    package init(status: Int, from: TransferURL, to: TransferURL, method: String) {
        self.status = status
        self.from = from
        self.to = to
        self.method = method
    }

    /// The same redirect with another method; `nil` if that is no method.
    package func with(method: String) -> Redirect? {
        guard RequestFieldFault.isToken(method), method != "CONNECT" else { return nil }
        return Redirect(status: status, from: from, to: to, method: method)
    }
}

/// How long a transfer may take. `nil` is without limit.
package struct TransferTimeouts: Hashable, Sendable {
    /// From the start of each hop until a request can be sent: name, connection and TLS, all addresses together.
    package var connect: Duration? = .seconds(10)
    /// From the start to the end, redirects included.
    package var total: Duration?
    /// The time in which at least ``idleBytes`` must move, in both directions together, once the request is sent.
    package var idle: Duration? = .seconds(60)
    /// The least bytes in each ``idle`` period: with 1, a server that sends one byte a minute may continue.
    package var idleBytes: UInt64 = 1

    /// ``idleBytes`` as a rate in bytes a second; 0 sets one byte, which ends only a silent transfer.
    package var leastRate: UInt64 {
        get { idle.map { idleBytes / UInt64(max(1, $0.nanoseconds / 1_000_000_000)) } ?? 0 }
        set { idleBytes = max(1, idle.map { newValue * UInt64(max(1, $0.nanoseconds / 1_000_000_000)) } ?? 1) }
    }

    /// How long an address is tried before the next one is tried, too (RFC 8305 section 5).
    package static let nextAddressDelay = Duration.milliseconds(250)

    /// How long the body of a redirect is waited for.
    static let redirectBody = Duration.seconds(2)

    package init() {}

    package init(connect: Duration? = nil, total: Duration? = nil, idle: Duration? = nil, idleBytes: UInt64 = 1) {
        self.connect = connect
        self.total = total
        self.idle = idle
        self.idleBytes = idleBytes
    }
}
