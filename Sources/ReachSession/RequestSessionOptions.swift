internal import Glibc
public import Logging
public import ReachCore
public import ReachRequest
public import ReachSerialization
public import ReachTransfer
public import Reachability

/// What a session is told once, when it is made.
public struct RequestSessionOptions: Sendable {
    /// How long requests may take on their way; waiting for the network is not part of it. `nil` is for ever.
    public struct Timeouts: Hashable, Sendable {
        /// From the start until the request can be sent: name, connection, TLS.
        public var connect: Duration? = .seconds(10)
        /// So long without a byte in either direction.
        public var idle: Duration? = .seconds(60)
        /// Of one attempt.
        public var total: Duration?

        /// The defaults.
        public init() {}
    }

    /// Whether redirects are followed.
    public enum Redirects: Hashable, Sendable {
        /// They are answers like any other.
        case none
        /// Up to so many of one request, to http and https only; never from https to http, and with pins to no other
        /// origin. Authorization and Cookie go to the first origin only. ``RequestHooks/redirect`` is asked about each.
        case follow(limit: Int)
    }

    /// Writes parameters into requests. By default AFHTTPRequestSerializer's way, with `Accept-Language` from the environment
    /// and `User-Agent` with the program's name.
    public var requestSerializer: any RequestSerializer
    /// Reads answers. By default JSON, as in AFHTTPSessionManager; ``DataResponseSerializer`` takes anything.
    public var responseSerializer: any ResponseSerializer = JSONResponseSerializer()
    /// What requests have that are not given options of their own.
    public var requests = RequestOptions()
    /// Which servers are trusted.
    public var security = SecurityPolicy.standard
    /// What is shown to a server that asks for it; not after a redirect to another origin.
    public var clientCertificate: ClientCertificate?
    /// Whether redirects are followed.
    public var redirects = Redirects.follow(limit: 20)
    /// Who is asked while requests are on their way.
    public var hooks = RequestHooks()
    /// How long attempts may take.
    public var timeouts = Timeouts()
    /// Where completions, observers and progress blocks are called: one at a time. `immediate` is the session's thread.
    public var delivery = ReachabilityDelivery.privateQueue
    /// The rules of ``RequestSession/activity``.
    public var activity = ActivityIndicator()
    /// How many requests run at a time; by a modem two.
    public var maximumRunning = 16
    /// How many of them to one host and port. After an outage it begins with one.
    public var maximumRunningPerHost = 4
    /// How many requests it holds that are not over.
    public var maximumRequests = 10_000
    /// How many bytes these may have, bodies of files excepted.
    public var maximumBytes: Int64 = 64 << 20
    /// The longest answer that is taken, but for downloads.
    public var maximumAnswerBytes: Int64 = 64 << 20
    /// The class of links by patterns of their names, such as `"wwx*"`, where what the kernel tells of them is not what they
    /// are. Where several fit, the first in the order of the alphabet counts.
    public var linkClasses: [String: LinkClass] = [:]
    /// Gets a line at level debug for each attempt that failed, and when the session's queue cannot be opened or written.
    /// The lines name hosts, not whole URLs, which may hold secrets. By default nothing is logged. Called by the
    /// session's thread: a handler must not wait.
    public var logger: Logger?
    /// A descriptor of the network namespace to send in, open until the session has begun; for tests.
    package var namespace: CInt?
    /// A file of certificates to trust instead of the system's; for tests.
    package var certificatesPath: String?

    /// The defaults.
    ///
    /// - Parameters:
    ///   - program: What servers are told as `User-Agent`; by default the name that the program was started by.
    ///   - version: Of the program.
    public init(program: String? = nil, version: String = "1.0") {
        let name = program ?? CommandLine.arguments.first?.split(separator: "/").last.map(String.init) ?? "reach"
        var environment: [String: String] = [:]
        for variable in ["LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"] {
            if let value = getenv(variable) { environment[variable] = String(cString: value) }
        }
        requestSerializer = FormRequestSerializer(
            headers: DefaultHeaders.headers(program: name, version: version, environment: environment))
    }
}
