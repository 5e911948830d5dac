public import Dispatch
internal import Glibc
public import Logging
public import ReachCore
public import ReachSerialization
public import ReachTransfer
public import Reachability

/// The options of a session, set when it is created.
public struct RequestSessionOptions: Sendable {
    /// The time limits of an attempt. They exclude waiting for the network. `nil` means no limit.
    public struct Timeouts: Hashable, Sendable {
        /// The limit from the start until the request can be sent: name resolution, connection, TLS.
        public var connect: Duration? = .seconds(10)
        /// The limit without a byte in either direction.
        public var idle: Duration? = .seconds(60)
        /// The limit for the whole attempt.
        public var total: Duration?

        /// The defaults.
        public init() {}
    }

    /// Whether redirects are followed.
    public enum Redirects: Hashable, Sendable {
        /// Redirects are answers like any other.
        case none
        /// Redirects are followed, up to a limit for each request, to http and https only; never from https to http,
        /// and with pins to no other origin. Headers whose names say that they are secret go to the first origin only.
        /// ``RequestHooks/redirect`` decides about each.
        case follow(limit: Int)
    }

    /// Encodes parameters into requests. The default works like AFHTTPRequestSerializer, with `Accept-Language` from
    /// the environment and `User-Agent` with the program's name.
    public var requestSerializer: any RequestSerializer
    /// Checks and decodes answers. The default is JSON, as in AFHTTPSessionManager; ``DataResponseSerializer`` accepts
    /// anything.
    public var responseSerializer: any ResponseSerializer = JSONResponseSerializer()
    /// The options of requests that are not given their own.
    public var requests = RequestOptions()
    /// The policy by which servers are trusted.
    public var security = SecurityPolicy.standard
    /// The certificate for servers that ask for one; not sent after a redirect to another origin.
    public var clientCertificate: ClientCertificate?
    /// Whether redirects are followed.
    public var redirects = Redirects.follow(limit: 20)
    /// The proxies. None by default: the environment is read only where ``ProxySettings/environment()`` is set.
    public var proxies = ProxySettings.none
    /// The storage of cookies. In memory by default, as in an ephemeral URLSession; no storage is shared between
    /// sessions.
    public var cookies = CookieStorage.Keeping.memory
    /// The storage of responses. Off by default: a URLSession has one, and may use a file that a server sent without a
    /// lifetime for hours (RFC 9111, 4.2.2), which a program without a person at it would not notice.
    public var cache = ResponseCache.Keeping.none
    /// Blocks that decide about requests under way.
    public var hooks = RequestHooks()
    /// Names and passwords for servers that ask for them; may be shared by several sessions.
    public var credentials: CredentialStorage?
    /// The time limits of attempts.
    public var timeouts = Timeouts()
    /// The queue or executor that runs completions, observers and progress blocks, one at a time. `immediate` is the
    /// session's thread, which sessions in memory share: then a block must not wait for another session's.
    public var delivery = ReachabilityDelivery.privateQueue
    /// The queue on which responses are decoded, by ``responseSerializer``. `nil` for the system's global queue,
    /// several at a time; ``DataResponseSerializer`` has nothing to decode, and then uses the session's thread.
    public var decodingQueue: DispatchQueue?
    /// The rules of ``RequestSession/activity``.
    public var activity = ActivityIndicator()
    /// The activity that also counts this session's requests: by default the one of all sessions; `nil` for none.
    public var sharedActivity: RequestActivity? = .shared
    /// The maximum number of running requests; over a modem two.
    public var maximumRunning = 16
    /// The maximum number of running requests to one host and port. After an outage it begins with one.
    public var maximumRunningPerHost = 4
    /// The maximum number of requests that are not over.
    public var maximumRequests = 10_000
    /// The maximum number of bytes of these requests, except bodies in files.
    public var maximumBytes: Int64 = 64 << 20
    /// The maximum size of an answer, except for downloads.
    public var maximumAnswerBytes: Int64 = 64 << 20
    /// The classes of links by patterns of their names, such as `"wwx*"`, where the kernel's information is wrong. If
    /// several patterns match, the alphabetically first applies.
    public var linkClasses: [String: LinkClass] = [:]
    /// The logger for failed attempts, and for failures to open or write the session's queue, all at level debug. The
    /// lines contain hosts, not complete URLs, which may contain secrets. By default nothing is logged. The session's
    /// thread calls the logger, so its handler must not block.
    public var logger: Logger?
    /// Answers the requests in place of the network, in tests of one's own program; `nil` for the network.
    public var stub: StubTransport?
    /// What measures and traces the requests.
    package var instruments: [any SessionInstrument] = []
    /// The descriptor of a network namespace in which to send, open until the session has started; for tests.
    package var namespace: CInt?
    /// How long a request waits for the network where nothing else is said, in a session in memory; for tests.
    package var patience = Duration.seconds(60)
    /// A file of certificates to trust instead of the system's; for tests.
    package var certificatesPath: String?

    /// The defaults.
    ///
    /// - Parameters:
    ///   - program: The program's name in `User-Agent`; by default the name by which it was started.
    ///   - version: The program's version in `User-Agent`.
    public init(program: String? = nil, version: String = "1.0") {
        let name = program ?? CommandLine.arguments.first?.split(scalar: "/").last.map(String.init) ?? "reach"
        var environment: [String: String] = [:]
        for variable in ["LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"] {
            if let value = getenv(variable) { environment[variable] = String(cString: value) }
        }
        requestSerializer = FormRequestSerializer(
            headers: DefaultHeaders.headers(program: name, version: version, environment: environment))
    }
}
