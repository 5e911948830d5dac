internal import CNats
internal import ReachCore

/// Why the server, or the way to it, did not do what was asked, sorted by what the caller does next.
package struct NATSError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        /// The server does not accept the key or the credentials. Trying again soon only makes a storm.
        case refused
        /// The time of the token is over: the next connection needs a newer one.
        case tokenEnded
        /// No server answers at these addresses: wait and connect again.
        case unreachable
        /// The TLS handshake failed: a wrong certificate, a clock that is wrong, or a portal in between.
        case untrusted
        /// The server begins with TLS (`handshake_first`), which libnats cannot do: its operator has to allow both.
        case tlsFirst
        /// No reply in time: what was sent may have arrived. Read before you send it again.
        case timedOut
        /// The connection ended. libnats or the caller connects again.
        case disconnected
        /// Nothing listens on the subject: no such stream, or JetStream is restarting.
        case noResponders
        /// The message is larger than the server or the stream accepts: send less at once.
        case tooLarge
        /// The subject's last sequence is another one: someone, perhaps this host earlier, wrote meanwhile.
        case wrongLastSequence(UInt64)
        /// The stream is full and discards new messages: wait.
        case full
        /// No such stream, consumer, message or key.
        case notFound
        /// A stream of that name exists with other settings.
        case exists
        /// The rights of this key do not include the subject.
        case notPermitted
        /// The server has JetStream off, or off for this account.
        case noJetStream
        /// JetStream is there but cannot answer now, as without a leader: wait.
        case unavailable
        /// What was asked for is wrong in itself, such as a URL: correct it.
        case invalid
        /// Anything else.
        case failed
    }

    package let kind: Kind
    /// What happened, in words for people; may contain text of a server.
    package let description: String

    package init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = DisplayText.sanitized(description)
    }

    /// Whether another attempt on the same connection may succeed: no one answers while a cluster chooses a new leader.
    package var mayPass: Bool {
        switch kind {
        case .timedOut, .unavailable, .noResponders: true
        default: false
        }
    }
}

extension NATSError {
    /// - Parameters:
    ///   - call: What was tried, such as "connect".
    ///   - detail: The library's words, if it has any besides the status's own.
    init(_ status: natsStatus, in call: String, detail: String? = nil) {
        let words = String(cString: natsStatus_GetText(status))
        self.init(Self.kind(of: status, detail ?? ""), "\(call): \(detail ?? words)")
    }

    /// Runs a call of libnats.
    static func check(_ call: String, _ body: () -> natsStatus) throws(NATSError) {
        let status = body()
        guard status == NATS_OK else { throw NATSError(status, in: call, detail: NATSLibrary.lastError) }
    }

    /// The servers' words for it. They end the connection then, and libnats gives its end the status of any lost
    /// connection.
    private static let endedTokens: Set = ["user authentication expired", "account authentication expired"]

    private static func kind(of status: natsStatus, _ detail: String) -> Kind {
        let words = detail.lowercased()
        return switch status {
        // The whole text, since the server's words for what is not permitted quote a subject.
        case _ where endedTokens.contains(words): .tokenEnded
        case NATS_CONNECTION_AUTH_FAILED: .refused
        case NATS_NOT_PERMITTED: .notPermitted
        case NATS_NO_SERVER: .unreachable
        case NATS_SSL_ERROR, NATS_SECURE_CONNECTION_WANTED, NATS_SECURE_CONNECTION_REQUIRED: .untrusted
        case NATS_IO_ERROR, NATS_PROTOCOL_ERROR, NATS_STALE_CONNECTION, NATS_CONNECTION_DISCONNECTED,
            NATS_CONNECTION_CLOSED, NATS_DRAINING:
            .disconnected
        case NATS_TIMEOUT: .timedOut
        case NATS_NO_RESPONDERS: .noResponders
        case NATS_MAX_PAYLOAD: .tooLarge
        case NATS_NOT_FOUND: .notFound
        case NATS_INVALID_ARG, NATS_INVALID_SUBJECT, NATS_ADDRESS_MISSING: .invalid
        // The library has no status for text that the server sends with -ERR.
        case NATS_ERR where ["authorization", "revoked"].contains(where: words.containsUTF8): .refused
        default: .failed
        }
    }
}

/// The library that speaks NATS's protocol.
package enum NATSLibrary {
    /// The version of libnats, such as "3.4.1".
    package static var version: String { String(cString: nats_GetVersion()) }

    /// The library's words for the last failure on this thread, without the line of its source that they begin with
    /// ("(pub.c:92): "); `nil` if it has none.
    static var lastError: String? {
        var status = NATS_OK
        guard let words = nats_GetLastError(&status).map({ String(cString: $0) }), !words.isEmpty else { return nil }
        guard words.hasUTF8Prefix("("), let end = words.unicodeScalars.firstIndex(of: ")") else { return words }
        let rest = words[words.unicodeScalars.index(after: end)...].dropScalars { $0 == ":" || $0 == " " }
        return rest.isEmpty ? words : String(rest)
    }

    /// Lets libnats' threads share one heap, in a program that runs for months and mostly waits. Call it before the
    /// first connection.
    package static func useOneHeap() { reach_use_one_heap() }
}
