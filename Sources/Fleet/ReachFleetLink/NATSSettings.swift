/// Where and how to connect.
package struct NATSSettings: Sendable {
    /// What happens after a connection ended.
    package enum Reconnection: Hashable, Sendable {
        /// The link closes, and the caller makes another when it wants.
        case never
        /// libnats connects again until the link is closed: after `wait`, and a random part of `jitter` more.
        case always(wait: Duration, jitter: Duration)
    }

    package var servers: [NATSServer]
    package var identity: NATSIdentity = .none
    /// A file of certificate authorities (PEM), besides those of the system.
    package var authorities: String?
    /// The client's certificate and its key (PEM): both or none.
    package var certificate: String?
    package var certificateKey: String?
    /// The name that the server shows to its operator.
    package var name = "reach-fleet"
    /// Where replies arrive. The rights of a host include its own prefix only.
    package var inbox = "_INBOX.\(SubjectToken.random())"
    /// The longest wait for one server when connecting.
    package var connectLimit: Duration = .seconds(10)
    /// The longest wait for each of several servers before that, so that one that is frozen, or behind a filter, delays
    /// nobody who could have another. The clients of other languages wait 2 s by default. Not used where libnats
    /// connects again by itself: it keeps the limit with which it connected, and a line that has become slow would
    /// never come back.
    package var firstConnectLimit: Duration = .seconds(2)
    /// How often libnats measures an idle connection; after two without an answer it is stale.
    package var pingInterval: Duration = .seconds(120)
    package var reconnection: Reconnection = .never

    package init(servers: [NATSServer]) { self.servers = servers }
}

/// Tokens of subjects that no one else uses.
package enum SubjectToken {
    private static let alphabet = Array("0123456789abcdefghijklmnopqrstuvwxyz")

    /// 20 letters and digits: 103 random bits.
    package static func random() -> String {
        var generator = SystemRandomNumberGenerator()
        return String((0..<20).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &generator)] })
    }
}
