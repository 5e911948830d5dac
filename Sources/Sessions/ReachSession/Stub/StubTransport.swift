internal import FoundationEssentials
public import ReachCore
public import ReachSerialization
internal import ReachTransfer
internal import Synchronization

/// Answers a session's requests in place of the network, for tests of one's own program without a server.
///
///     let stub = StubTransport(["GET /users/1": .json(["name": "Ann"])])
///     let session = try RequestSession(baseURL: "https://example.org", options: RequestSessionOptions(stub: stub))
///     let user: User = try await session.get("users/1").decoded()
///
/// Everything but the network is the session's own: serializers, hooks, redirects, retries and their waits,
/// constraints, states, downloads to files, streams. Nothing is resolved and no socket is opened. The time limits of
/// attempts and the trust in servers do not apply.
///
/// All members may be used from any thread. Several sessions may share a transport.
public final class StubTransport: Sendable {
    /// Answers one attempt of a request, whose body is bytes. What it throws ends the request as one that cannot be
    /// sent. A request that is repeated is asked about again.
    public typealias Answer = @Sendable (WebRequest) async throws -> StubResponse

    private struct State {
        var requests: [WebRequest] = []
        var link: LinkClass? = .wired
        var observers: [@Sendable (LinkClass?) -> Void] = []
    }

    let answer: Answer
    private let state = Mutex(State())

    /// Creates a transport with a closure that answers, on Swift's own threads.
    public init(_ answer: @escaping Answer) { self.answer = answer }

    /// Creates a transport with an answer for each request, by `GET /path?query`, `/path` for any method, or a complete
    /// URL in place of the path. A request without an answer fails as one that cannot be sent.
    public convenience init(_ responses: [String: StubResponse]) {
        self.init { request in
            let (path, url) = (request.url.requestTarget, request.url.description)
            for key in ["\(request.method) \(path)", "\(request.method) \(url)", path, url] {
                if let response = responses[key] { return response }
            }
            throw StubError(description: "there is no stub for \(request.method) \(url)")
        }
    }

    /// The requests that were sent so far, repetitions included, in order.
    public var requests: [WebRequest] { state.withLock { $0.requests } }

    /// The class of the only link to the network; `nil` while there is none. At first `wired`.
    public var link: LinkClass? { state.withLock { $0.link } }

    /// Changes the network, as for a machine that loses its cable or moves to Wi-Fi. Requests whose constraints do not
    /// allow the link wait.
    public func setLink(_ link: LinkClass?) {
        let observers = state.withLock { state in
            state.link = link
            return state.observers
        }
        for observer in observers { observer(link) }
    }

    /// Calls a block with each change of the link.
    func observe(_ observer: @escaping @Sendable (LinkClass?) -> Void) {
        state.withLock { $0.observers.append(observer) }
    }

    func note(_ request: WebRequest) { state.withLock { $0.requests.append(request) } }
}

/// The reason why a stub does not answer.
struct StubError: Error, CustomStringConvertible {
    let description: String
}

extension RequestSessionOptions {
    /// Options of a session whose requests a stub answers.
    public init(stub: StubTransport) {
        self.init()
        self.stub = stub
    }
}
