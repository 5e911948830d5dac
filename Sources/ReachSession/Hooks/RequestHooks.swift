public import ReachSerialization

/// What a program wants to be asked while its requests are on their way: the blocks of AFURLSessionManager that can answer
/// something.
///
/// They are called on the session's own thread, which waits for them: they may look at what they hold, and must not wait for
/// anything. They hold for all requests of the session, those of an earlier run too; for these the task is `nil` until
/// somebody has asked for it by ``RequestSession/tasks()``.
///
/// A server's trust is no hook: certificates are judged inside the handshake, on which nobody may be asked to wait, by
/// ``RequestSessionOptions/security``. Nor is a client's certificate (``RequestSessionOptions/clientCertificate``).
public struct RequestHooks: Sendable {
    /// Asked about each redirect that could be followed.
    public var redirect: (@Sendable (RequestTask?, ProposedRedirect) -> RedirectDecision)?
    /// Asked for credentials where a server wants them: status 401 with a challenge to Basic authorisation (RFC 7617).
    public var challenge: (@Sendable (RequestTask?, AuthenticationChallenge) -> BasicCredentials?)?
    /// Asked when the head of an answer is here, and nothing of its body. Not about redirects that are followed and
    /// challenges that are answered.
    public var disposition: (@Sendable (RequestTask?, HTTPResponse) -> ResponseDisposition)?

    /// Nobody is asked.
    public init() {}
}

/// A redirect, before it is followed.
public struct ProposedRedirect: Sendable {
    /// The answer that asks for it.
    public let response: HTTPResponse
    /// Where it leads.
    public let destination: WebAddress
    /// Of the next request: 303 makes it GET, 301 and 302 make a POST one (RFC 9110, 15.4).
    public let method: String
    /// 1 for the first of a request.
    public let number: Int
}

/// What to do about a redirect.
public enum RedirectDecision: Sendable {
    /// Follow it.
    case follow
    /// Follow it with these headers besides, in place of those of the same name.
    case followAdding(HTTPHeaders)
    /// Go there instead. What holds for redirects holds for this: never from https to http, with pins to no other origin.
    case goTo(WebAddress)
    /// Do not: the answer that asks for it is the request's answer.
    case stay
}

/// What a server wants to know who asks for it.
public struct AuthenticationChallenge: Sendable {
    /// The answer with the challenge.
    public let response: HTTPResponse
    /// What the credentials are for, in the server's words.
    public let realm: String
    /// How many of the credentials given for this request were refused.
    public let failureCount: Int
}

/// A name and a password. Anybody who sees a request over http can read them.
public struct BasicCredentials: Hashable, Sendable {
    /// Without a colon, where the password would begin.
    public let user: String
    /// Of the user.
    public let password: String

    /// A name and a password.
    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }
}

/// What to do with an answer, by its head.
public enum ResponseDisposition: Hashable, Sendable {
    /// Take it.
    case allow
    /// Cancel the request.
    case cancel
    /// Put the body of a success into a file, as a download does.
    case becomeDownload(path: String)
}
