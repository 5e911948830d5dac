public import HTTPTypes
public import ReachSerialization

/// Blocks that decide about requests under way: those of AFURLSessionManager that return a decision.
///
/// They are called on the session's thread, which sessions in memory share, so they must not block. They apply to all
/// requests of the session, including those of an earlier run; for these the task is `nil` until the program has listed
/// it by ``RequestSession/tasks()``.
///
/// There is no hook for a client's certificate (``RequestSessionOptions/clientCertificate``).
public struct RequestHooks: Sendable {
    /// Decides about each redirect that could be followed.
    public var redirect: (@Sendable (RequestTask?, ProposedRedirect) -> RedirectDecision)?
    /// Supplies credentials where a server asks for them: status 401 with a challenge to Basic (RFC 7617) or Digest
    /// (RFC 7616, with MD5, SHA-256 or SHA-512-256 and `qop=auth`) authentication. Of several challenges the strongest
    /// counts. It is not asked where ``RequestSessionOptions/credentials`` has credentials. With `nil` the challenge is
    /// the answer. A block that throws ends the request: `CancellationError` cancels it, a ``RequestError`` is its
    /// error, and any other one the ``RequestError/underlyingError``.
    public var challenge: (@Sendable (RequestTask?, AuthenticationChallenge) throws -> UserCredentials?)?
    /// Decides about a response when its head has arrived, and nothing of its body. It is not called for redirects that
    /// are followed and challenges that are answered.
    public var disposition: (@Sendable (RequestTask?, WebResponse) -> ResponseDisposition)?

    /// Receives the body of each answer, piece by piece, as it arrives and is decoded: AFURLSessionManager's
    /// `setDataTaskDidReceiveDataBlock:`. It is not called for downloads, and for redirects and challenges that are
    /// followed and answered. Of a request that is repeated it receives each attempt's answer.
    public var received: (@Sendable (RequestTask?, [UInt8]) -> Void)?

    /// Decides whether a server is trusted, in place of ``RequestSessionOptions/security``, whose verdict it receives:
    /// `true` also accepts what the policy refuses. Called within each TLS handshake, before anything of a request is
    /// sent; a connection that it accepted serves several requests. A refused server ends its request with the kind
    /// ``RequestError/Kind/security``.
    public var trust: (@Sendable (ServerTrust) -> Bool)?

    /// Decides whether the session's cache stores a response that it may store (RFC 9111, 3), and with which fields.
    /// It receives the response and its body when the body is complete, before the task ends.
    public var caching: (@Sendable (RequestTask?, WebResponse, [UInt8]) -> CachingDecision)?

    /// No hooks.
    public init() {}
}

/// A redirect, before it is followed.
public struct ProposedRedirect: Sendable {
    /// The response that asks for the redirect.
    public let response: WebResponse
    /// The URL of the next request.
    public let destination: WebAddress
    /// The method of the next request: 303 makes it GET, 301 and 302 turn POST into GET (RFC 9110, 15.4).
    public let method: String
    /// The number of the redirect within its attempt, from 1.
    public let number: Int
}

/// What to do about a redirect.
public enum RedirectDecision: Sendable {
    /// Follow it.
    case follow
    /// Follow it with these additional headers, which replace those of the same name.
    case followAdding(HTTPFields)
    /// Follow it with this method. The body goes along, unless the method is GET or HEAD.
    case followAs(method: String)
    /// Follow it to this URL instead. The rules for redirects apply: never from https to http, and with pins to no
    /// other origin.
    case goTo(WebAddress)
    /// Do not follow it: the redirect is the request's response.
    case stay
}

/// A server's request for credentials.
public struct AuthenticationChallenge: Sendable {
    /// The schemes that are supported.
    public enum Scheme: String, Hashable, Sendable, CaseIterable {
        /// The password is sent. Over http it is readable on the network.
        case basic
        /// A digest of the password and of the server's nonce is sent.
        case digest
    }

    /// The response with the challenge.
    public let response: WebResponse
    /// The scheme of the challenge.
    public let scheme: Scheme
    /// The realm: what the credentials are for, in the server's words.
    public let realm: String
    /// How many credentials were refused in this attempt.
    public let failureCount: Int
}

/// A name and a password.
public struct UserCredentials: Hashable, Sendable {
    /// The user's name. For Basic authentication it must not contain a colon, which ends the name on the wire.
    public let user: String
    /// The user's password.
    public let password: String

    /// Credentials of a user.
    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }
}

/// What to do with a response, by its head.
public enum ResponseDisposition: Hashable, Sendable {
    /// Accept the response.
    case allow
    /// Cancel the request.
    case cancel
    /// Write the body of a success to a file, as a download does.
    case becomeDownload(path: String)
}

/// What to do with a response that the cache may store (``RequestHooks/caching``): Alamofire's
/// `ResponseCacher.Behavior`.
public enum CachingDecision: Sendable {
    /// Store it.
    case store
    /// Store it with these header fields and this body. The fields decide for how long it is fresh.
    case storeAs(HTTPFields, [UInt8])
    /// Do not store it. An older response of its URL is removed.
    case doNotStore
}
