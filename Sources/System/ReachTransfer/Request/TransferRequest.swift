package import ReachCore

/// The request for one HTTP exchange, or for a connection without one: a value.
///
///     var request = TransferRequest(url: try TransferURL("https://example.org/"))
///     request.interface = InterfaceBinding(name: "eth0", index: 2)
///     let id = engine.start(request, handler: TransferHandler { event in ... })
///
/// Nothing comes from the environment: no proxy variables, no `.netrc`, no cookies but those given. ``TransferEngine``
/// handles names, redirects, timeouts and proxies, since libcurl's own handling cannot be observed.
package struct TransferRequest: Hashable, Sendable {
    package var method: String {
        get { shared.value.method }
        set { shared.value.method = newValue }
    }
    package var url: TransferURL {
        get { shared.value.url }
        set { shared.value.url = newValue }
    }
    /// Header fields, sent in this order in addition to those that HTTP needs. ``RequestFieldFault`` refuses some, such
    /// as Content-Length, which the engine sets.
    package var headers: [HeaderField] {
        get { shared.value.headers }
        _modify { yield &shared.value.headers }
    }
    /// The value of the Cookie field for this URL, from its owner's jar; not sent where ``headers`` have such a field.
    /// It does not separate connections, as a Cookie field of the caller's does: all of the owner's requests have the
    /// jar.
    package var cookies: String? {
        get { shared.value.cookies }
        set { shared.value.cookies = newValue }
    }
    package var body: TransferBody {
        get { shared.value.body }
        set { shared.value.body = newValue }
    }
    /// Whether the server may compress the response: it is decoded as it arrives, and the limit applies to the decoded
    /// bytes. Not with an Accept-Encoding of the caller's, nor where a download resumes.
    package var acceptsEncodings: Bool {
        get { shared.value.acceptsEncodings }
        set { shared.value.acceptsEncodings = newValue }
    }
    /// Whether the server is asked for a response that is not compressed, and one that is compressed all the same is
    /// decoded: for downloads, which can be resumed as they are sent only. Not with an Accept-Encoding or a Range of
    /// the caller's.
    package var undoesEncodings: Bool {
        get { shared.value.undoesEncodings }
        set { shared.value.undoesEncodings = newValue }
    }
    /// The interface that every packet must use, including queries to name servers; `nil` leaves it to routing.
    package var interface: InterfaceBinding? {
        get { shared.value.interface }
        set { shared.value.interface = newValue }
    }
    /// The source address to require: where the kernel chose another one, the attempt is refused before the first byte
    /// of the request is sent.
    package var source: IPAddress? {
        get { shared.value.source }
        set { shared.value.source = newValue }
    }
    /// The family of addresses to look up and use; `nil` for both.
    package var family: IPAddress.Family? {
        get { shared.value.family }
        set { shared.value.family = newValue }
    }
    /// The addresses of the URL's host, tried in this order; `nil` to look them up. They apply to that host only, not
    /// to a proxy; a proxy of the scheme socks5 gets the first of them.
    package var addresses: [IPAddress]? {
        get { shared.value.addresses }
        set { shared.value.addresses = newValue }
    }
    package var timeouts: TransferTimeouts {
        get { shared.value.timeouts }
        set { shared.value.timeouts = newValue }
    }
    package var rates: TransferRates {
        get { shared.value.rates }
        set { shared.value.rates = newValue }
    }
    package var limit: ResponseLimit {
        get { shared.value.limit }
        set { shared.value.limit = newValue }
    }
    package var sink: TransferSink {
        get { shared.value.sink }
        set { shared.value.sink = newValue }
    }
    /// Whether pieces of the body are reported as they arrive, whatever the sink.
    package var reportsBody: Bool {
        get { shared.value.reportsBody }
        set { shared.value.reportsBody = newValue }
    }
    package var redirects: RedirectPolicy {
        get { shared.value.redirects }
        set { shared.value.redirects = newValue }
    }
    /// Whether its owner follows redirects by further requests, so that their bodies need not be read.
    package var leavesRedirects: Bool {
        get { shared.value.leavesRedirects }
        set { shared.value.leavesRedirects = newValue }
    }
    package var version: HTTPVersion {
        get { shared.value.version }
        set { shared.value.version = newValue }
    }
    package var proxy: TransferProxy {
        get { shared.value.proxy }
        set { shared.value.proxy = newValue }
    }
    package var security: SecurityPolicy {
        get { shared.value.security }
        set { shared.value.security = newValue }
    }
    /// Decides about servers in place of ``security``, whose verdict it receives.
    package var trustJudge: TrustJudge? {
        get { shared.value.trustJudge }
        set { shared.value.trustJudge = newValue }
    }
    package var clientCertificate: ClientCertificate? {
        get { shared.value.clientCertificate }
        set { shared.value.clientCertificate = newValue }
    }
    /// Whether the server must not get it twice, whatever its method promises.
    package var isSentOnce: Bool {
        get { shared.value.isSentOnce }
        set { shared.value.isSentOnce = newValue }
    }
    /// Whether its Idempotency-Key is its caller's, who knows that the server recognises repetitions by it. Then it is
    /// sent again on a new connection where one that was used before ends before the answer, as a GET is.
    package var hasOwnKey: Bool {
        get { shared.value.hasOwnKey }
        set { shared.value.hasOwnKey = newValue }
    }
    package var connection: ConnectionUse {
        get { shared.value.connection }
        set { shared.value.connection = newValue }
    }
    /// The largest TCP segments to send and to ask for, in bytes; `nil` leaves it to the kernel. Only for new
    /// connections.
    package var segmentBytes: Int32? {
        get { shared.value.segmentBytes }
        set { shared.value.segmentBytes = newValue }
    }
    /// The owner of its connections.
    package var owner: ConnectionOwner {
        get { shared.value.owner }
        set { shared.value.owner = newValue }
    }

    /// Shared, since several objects keep a request while it is sent, and it has a dozen texts and lists.
    private var shared: Shared<Values>

    package init(_ method: String = "GET", url: TransferURL) {
        shared = Shared(Values(method: method, url: url))
    }

    /// Whether libcurl paces the bodies: it then waits without its socket.
    var isPaced: Bool { rates != TransferRates() }

    /// All header fields that are sent.
    package var sentFields: [HeaderField] {
        guard let cookies, !headers.contains(where: { $0.isNamed("Cookie") }) else { return headers }
        return headers + [HeaderField("Cookie", cookies)]
    }
}

extension TransferRequest {
    fileprivate struct Values: Hashable, Sendable {
        var method: String
        var url: TransferURL
        var headers: [HeaderField] = []
        var cookies: String?
        var body = TransferBody.none
        var acceptsEncodings = false
        var undoesEncodings = false
        var interface: InterfaceBinding?
        var source: IPAddress?
        var family: IPAddress.Family?
        var addresses: [IPAddress]?
        var timeouts = TransferTimeouts()
        var rates = TransferRates()
        var limit = ResponseLimit()
        var sink = TransferSink.memory
        var reportsBody = false
        var redirects = RedirectPolicy.none
        var leavesRedirects = false
        var version = HTTPVersion.automatic
        var proxy = TransferProxy.none
        var security = SecurityPolicy.standard
        var trustJudge: TrustJudge?
        var clientCertificate: ClientCertificate?
        var isSentOnce = false
        var hasOwnKey = false
        var connection = ConnectionUse.pooled
        var segmentBytes: Int32?
        var owner = ConnectionOwner.program
    }
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
