package import ReachCore

/// How a host gets its token: a request to whoever holds the key that signs hosts' tokens, and its answer.
///
/// Who asks has connected by a token for one use, or by its own. The server lets each publish one subject only, which
/// names the host and the key that connected. So the subject is certain, and the rest of a request is the asker's word.
package enum Enrolment {
    package static func subject(host: String, key: String) -> String { "reach.v1.enroll.\(host).\(key)" }

    /// Where answers arrive for the holder of a token for one use.
    package static func inbox(of key: String) -> String { "_INBOX_ENROLL.\(key)" }

    /// What whoever asks wants.
    package struct Request: Hashable, Sendable {
        package static let sizeLimit = 8 << 10

        /// The host, and the key that connected: as the subject says.
        package let host: String
        package let asker: String
        /// The key that the new token is for.
        package let key: String
        /// The token for one use; `nil` of a host that has its own.
        package let ticket: NATSToken?

        package init(host: String, asker: String, key: String, ticket: NATSToken?) {
            (self.host, self.asker, self.key, self.ticket) = (host, asker, key, ticket)
        }

        /// Reads a request; `nil` if it is none.
        package init?(subject: String, _ payload: [UInt8]) {
            let parts = subject.split(scalar: ".").map(String.init)
            guard parts.count == 5, FleetNames.hostIsValid(parts[3]),
                let reader = try? WireReader(payload, limit: Self.sizeLimit),
                let key = try? reader.requiredText("key"), (try? NKeyText.readUserPublic(key)) != nil
            else { return nil }
            var ticket: NATSToken?
            if let text = (try? reader.text("token", limit: Self.sizeLimit)) ?? nil {
                guard let read = try? NATSToken(text) else { return nil }
                ticket = read
            }
            self.init(host: parts[3], asker: parts[4], key: key, ticket: ticket)
        }

        package var payload: [UInt8] {
            var json = JSONWriter()
            json.object {
                $0.field("v", 1)
                $0.field("key", key)
                $0.field("token", ticket?.text)
            }
            return json.bytes
        }
    }

    /// Why a request is refused: a word for programs, and a sentence.
    package enum Refusal: Error, Hashable, Sendable {
        /// Another key came first.
        case used(by: String)
        /// A newer token for one use was used.
        case superseded
        case late
        case otherHost(String)
        /// Neither a token for one use of this fleet nor a key of the host.
        case unknown
        case revoked
        case damaged
        /// The server does not store now.
        case unavailable(String)

        package var word: String {
            switch self {
            case .used: "used"
            case .superseded: "superseded"
            case .late: "late"
            case .otherHost: "other-host"
            case .unknown: "unknown"
            case .revoked: "revoked"
            case .damaged: "damaged"
            case .unavailable: "unavailable"
            }
        }

        package var sentence: String {
            switch self {
            case .used(let key):
                "the token was used before, by the key \(key): if that was not this host, somebody has the token, so revoke that key"
            case .superseded: "a newer token of this host was used, so this one is void"
            case .late: "the token's time is over"
            case .otherHost(let host): "the token is for '\(host)'"
            case .unknown: "the token is not one of this fleet, or the host's list has another key"
            case .revoked: "the key was revoked: remove it, and make another"
            case .damaged: "the request cannot be read"
            case .unavailable(let words): "the server cannot store it: \(words)"
            }
        }
    }

    /// Judges a request.
    ///
    /// - Parameters:
    ///   - ticketKey: The key that signs tokens for one use.
    ///   - entry: What the list of hosts says of the host.
    ///   - revoked: Keys that are no longer let in.
    ///   - isSigned: Whether a token's signature is that of the key that it names.
    /// - Returns: What the list must say before the host gets its token.
    package static func judge(
        _ request: Request, ticketKey: String, entry: HostList.Entry?, revoked: Set<String>, now: Timestamp,
        isSigned: (NATSToken) -> Bool
    ) throws(Refusal) -> HostList.Entry {
        guard !revoked.contains(request.key), !revoked.contains(request.asker) else { throw .revoked }
        guard let ticket = request.ticket else { return try renewal(request, entry) }
        guard ticket.subject == request.asker, ticket.issuer == ticketKey, isSigned(ticket) else { throw .unknown }
        guard ticket.name == request.host else { throw .otherHost(ticket.name) }
        guard let end = ticket.expires, end * 1_000_000_000 > now.nanosecondsSince1970 else { throw .late }
        let used = HostList.Ticket(key: ticket.subject, issued: ticket.issuedExactly)
        if let last = entry?.ticket {
            if last.key == used.key {
                // The answer may have been lost.
                guard let known = entry, known.key == request.key else { throw .used(by: entry?.key ?? "") }
                return known
            }
            guard used.issued > last.issued else { throw .superseded }
        }
        // The old key stays good until somebody revokes it.
        let old = entry.flatMap { $0.key == request.key || revoked.contains($0.key) ? nil : $0.key }
        return HostList.Entry(
            host: request.host, key: request.key, otherKey: old, groups: ticket.groups, labels: entry?.labels ?? [:],
            ticket: used)
    }

    private static func renewal(_ request: Request, _ entry: HostList.Entry?) throws(Refusal) -> HostList.Entry {
        guard let entry, request.key == request.asker, entry.keys.contains(request.key) else { throw .unknown }
        return entry
    }

    /// The answer to a request.
    package enum Answer: Hashable, Sendable {
        case token(NATSToken)
        case refused(word: String, sentence: String)

        package init(_ refusal: Refusal) { self = .refused(word: refusal.word, sentence: refusal.sentence) }

        package init?(_ payload: [UInt8]) {
            guard let reader = try? WireReader(payload, limit: Request.sizeLimit) else { return nil }
            if let text = (try? reader.text("token", limit: Request.sizeLimit)) ?? nil {
                guard let token = try? NATSToken(text) else { return nil }
                self = .token(token)
            } else if let word = (try? reader.text("refused")) ?? nil {
                self = .refused(word: word, sentence: ((try? reader.text("sentence", limit: 1024)) ?? nil) ?? word)
            } else {
                return nil
            }
        }

        package var payload: [UInt8] {
            var json = JSONWriter()
            json.object { json in
                json.field("v", 1)
                switch self {
                case .token(let token): json.field("token", token.text)
                case .refused(let word, let sentence):
                    json.field("refused", word)
                    json.field("sentence", sentence)
                }
            }
            return json.bytes
        }
    }
}
