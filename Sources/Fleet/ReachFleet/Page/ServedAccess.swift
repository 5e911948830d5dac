internal import ReachCore

/// Who may read what is served.
///
/// With a token: whoever has it, as a bearer's token (RFC 6750) or as the password of any user (RFC 7617), which
/// browsers ask people for. Without one the server is this machine's own, and a page of another site in a browser here
/// must not read it by a name that leads to this machine (DNS rebinding): the host that the request names has to be an
/// address, `localhost`, or one of the names that were given.
package struct ServedAccess: Sendable {
    package enum Refusal: Hashable, Sendable {
        /// No token, or another.
        case unauthorized
        /// A name that was not given.
        case otherHost
    }

    /// The shortest token: who guesses a thousand times a second needs ages for so many characters.
    package static let shortestToken = 16

    private let token: [UInt8]?
    private let names: Set<String>

    /// - Parameters:
    ///   - token: At least ``shortestToken`` bytes; `nil` for none.
    ///   - names: Names of this server.
    package init(token: [UInt8]?, names: [String]) {
        self.token = token
        self.names = Set((names + ["localhost"]).map { $0.lowercased() })
    }

    /// - Parameters:
    ///   - host: The request's field `Host`.
    ///   - authorization: Its field `Authorization`.
    package func refusal(host: String?, authorization: String?) -> Refusal? {
        guard let token else { return admits(host: host ?? "") ? nil : .otherHost }
        return Self.isEqual(Self.password(authorization ?? ""), token) ? nil : .unauthorized
    }

    private func admits(host: String) -> Bool {
        let isIPv6 = host.hasUTF8Prefix("[")
        let end = host.unicodeScalars.lastIndex(of: ":").flatMap { isIPv6 && host.hasUTF8Suffix("]") ? nil : $0 }
        let name = String(host[..<(end ?? host.endIndex)])
        if isIPv6 { return IPAddress(String(name.dropFirst().dropLast()))?.family == .ipv6 }
        return IPAddress(name) != nil || names.contains(name.lowercased())
    }

    private static func password(_ authorization: String) -> [UInt8] {
        guard let (scheme, rest) = authorization.cut(at: " ") else { return [] }
        let text = Array(rest.trimmed.utf8)
        switch scheme.lowercased() {
        case "bearer": return text
        case "basic":
            guard let pair = Base64.decode(text), let colon = pair.firstIndex(of: UInt8(ascii: ":")) else { return [] }
            return Array(pair[(colon + 1)...])
        default: return []
        }
    }

    /// Takes as long wherever they differ.
    private static func isEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        one.count == other.count && zip(one, other).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

/// What is served, by its path.
package enum ServedText: String, CaseIterable, Sendable {
    case page = "/"
    /// Server-sent events: the page is new.
    case events = "/events"
    case metrics = "/metrics"
    /// A line of JSON for each host.
    case status = "/status"
    /// A line of JSON for each outage.
    case outages = "/outages"
    case report = "/report"

    package var type: String {
        switch self {
        case .page: "text/html; charset=utf-8"
        case .events: "text/event-stream"
        case .metrics: "text/plain; version=0.0.4; charset=utf-8"
        case .status, .outages: "application/jsonl"
        case .report: "application/json"
        }
    }
}
