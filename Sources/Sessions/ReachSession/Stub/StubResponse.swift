public import FoundationEssentials
public import ReachCore

/// What a ``StubTransport`` answers.
///
///     StubResponse.json(["name": "Ann"])
///     StubResponse.status(503).delayed(by: .milliseconds(100))
///     StubResponse.failing(.connectionRefused)
public struct StubResponse: Sendable {
    /// The status.
    public var statusCode: Int
    /// The headers. `Content-Length` is added if the body is in one piece.
    public var headers: [String: String]
    /// The body, in the pieces in which it arrives.
    public var pieces: [[UInt8]]
    /// The time until the head arrives.
    public var delay: Duration = .zero
    /// The time before each further piece.
    public var interval: Duration = .zero
    /// The failure that follows the pieces; without pieces there is no head either.
    public var failure: StubFailure?

    /// Creates a response of one piece.
    public init(statusCode: Int = 200, headers: [String: String] = [:], body: [UInt8] = []) {
        self.statusCode = statusCode
        self.headers = headers
        pieces = body.isEmpty ? [] : [body]
    }

    /// A JSON document.
    public static func json(_ document: JSONValue, statusCode: Int = 200) -> StubResponse {
        StubResponse(statusCode: statusCode, headers: ["Content-Type": "application/json"], body: document.bytes)
    }

    /// A value as JSON.
    public static func encoded(
        _ value: some Encodable, statusCode: Int = 200, by encoder: JSONEncoder = JSONEncoder()
    ) throws -> StubResponse {
        let body = Array(try encoder.encode(value))
        return StubResponse(statusCode: statusCode, headers: ["Content-Type": "application/json"], body: body)
    }

    /// Text in UTF-8.
    public static func text(_ text: String, type: String = "text/plain", statusCode: Int = 200) -> StubResponse {
        let type = ["Content-Type": "\(type); charset=utf-8"]
        return StubResponse(statusCode: statusCode, headers: type, body: Array(text.utf8))
    }

    /// Bytes.
    public static func data(_ data: Data, type: String = "application/octet-stream") -> StubResponse {
        StubResponse(headers: ["Content-Type": type], body: Array(data))
    }

    /// A status without a body.
    public static func status(_ code: Int, headers: [String: String] = [:]) -> StubResponse {
        StubResponse(statusCode: code, headers: headers)
    }

    /// A body in pieces, with a time before each of them but the first.
    public static func pieces(
        _ pieces: [String], type: String = "text/plain", interval: Duration = .zero
    ) -> StubResponse {
        var response = StubResponse(headers: ["Content-Type": type])
        response.pieces = pieces.map { Array($0.utf8) }
        response.interval = interval
        return response
    }

    /// No response.
    public static func failing(_ failure: StubFailure) -> StubResponse {
        var response = StubResponse()
        response.failure = failure
        return response
    }

    /// This response, later.
    public func delayed(by delay: Duration) -> StubResponse {
        var response = self
        response.delay = delay
        return response
    }

    /// This response, which fails after its last piece.
    public func failing(_ failure: StubFailure) -> StubResponse {
        var response = self
        response.failure = failure
        return response
    }
}

/// A failure of the network or a server. The words are those of ``RequestError/word``.
public enum StubFailure: String, Hashable, Sendable, CaseIterable {
    /// The name has no address.
    case nameNotFound = "name-not-found"
    /// No server listens.
    case connectionRefused = "connection-refused"
    /// No connection within the time limit.
    case connectTimeout = "connect-timeout"
    /// The server ended the connection.
    case connectionReset = "connection-reset"
    /// Nothing arrived for too long.
    case idleTimeout = "idle-timeout"
    /// The whole attempt took too long.
    case totalTimeout = "timeout"
    /// The body ended too early.
    case truncated
    /// The server's certificate is not trusted.
    case certificateUntrusted = "certificate-untrusted"
    /// This machine has no network: the request waits and is sent again.
    case networkDown = "network-down"

    /// Whether the server has seen the request.
    var isAfterSending: Bool {
        switch self {
        case .nameNotFound, .connectionRefused, .connectTimeout, .certificateUntrusted, .networkDown: false
        case .connectionReset, .idleTimeout, .totalTimeout, .truncated: true
        }
    }
}
