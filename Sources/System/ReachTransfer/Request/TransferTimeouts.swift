internal import ReachCore

/// How long a transfer may take. `nil` is without limit.
package struct TransferTimeouts: Hashable, Sendable {
    /// From the start of each hop until a request can be sent: name, connection and TLS, all addresses together.
    package var connect: Duration? = .seconds(10)
    /// From the start to the end, redirects included.
    package var total: Duration?
    /// The time in which at least ``idleBytes`` must move, in both directions together, once the request is sent.
    package var idle: Duration? = .seconds(60)
    /// The least bytes in each ``idle`` period: with 1, a server that sends one byte a minute may continue.
    package var idleBytes: UInt64 = 1

    /// ``idleBytes`` as a rate in bytes a second; 0 sets one byte, which ends only a silent transfer.
    package var leastRate: UInt64 {
        get { idle.map { idleBytes / UInt64(max(1, $0.nanoseconds / 1_000_000_000)) } ?? 0 }
        set { idleBytes = max(1, idle.map { newValue * UInt64(max(1, $0.nanoseconds / 1_000_000_000)) } ?? 1) }
    }

    /// How long an address is tried before the next one is tried, too (RFC 8305 section 5).
    package static let nextAddressDelay = Duration.milliseconds(250)

    /// How long the body of a redirect is waited for.
    static let redirectBody = Duration.seconds(2)

    package init() {}

    package init(connect: Duration? = nil, total: Duration? = nil, idle: Duration? = nil, idleBytes: UInt64 = 1) {
        self.connect = connect
        self.total = total
        self.idle = idle
        self.idleBytes = idleBytes
    }
}
