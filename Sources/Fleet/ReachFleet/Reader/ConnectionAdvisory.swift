package import ReachCore

/// What the server itself reports when a client connects or goes: a message of the stream ``FleetNames/connections``.
///
/// The server writes it, but the client's name in it is the client's own word. So it counts for the host to which the
/// operator gave the key, whatever the name says.
package struct ConnectionAdvisory: Hashable, Sendable {
    /// The most bytes that are read.
    package static let sizeLimit = 16 << 10

    package let isUp: Bool
    /// When it happened, by the server's clock.
    package let time: Timestamp
    /// When the connection began. It tells the connections of a key apart.
    package let start: Timestamp
    /// The public half of the key that connected, or the user's name.
    package let user: String
    /// The account of the server that the client belongs to; `nil` if the report does not say.
    package let account: String?
    /// The address that the server sees: the public one of a host behind NAT.
    package let address: IPAddress?
    /// The server's words for the end: "Client Closed", "Stale Connection".
    package let reason: String?
    /// The name that the server gave itself when it started.
    package let server: String?

    package init(
        isUp: Bool, time: Timestamp, start: Timestamp, user: String, account: String? = nil, address: IPAddress? = nil,
        reason: String? = nil, server: String? = nil
    ) {
        self.isUp = isUp
        self.time = time
        self.start = start
        self.user = user
        self.account = account
        self.address = address
        self.reason = reason
        self.server = server
    }

    package init(_ bytes: [UInt8]) throws(WireError) {
        let reader = try WireReader(bytes, limit: Self.sizeLimit)
        guard let client = try reader.object("client") else { throw reader.fault("client") }
        guard let time = try reader.time("timestamp") else { throw reader.fault("timestamp") }
        self.init(
            isUp: try reader.requiredText("type").hasUTF8Suffix(".client_connect"), time: time,
            start: try client.time("start") ?? time, user: try client.text("user") ?? "",
            account: try client.text("acc", limit: 64),
            address: try client.text("host", limit: 64).flatMap { IPAddress($0) }, reason: try reader.text("reason"),
            server: try reader.object("server")?.text("id", limit: 128))
    }
}
