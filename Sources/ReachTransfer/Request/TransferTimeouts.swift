internal import ReachCore

/// How long a transfer may take. `nil` is for ever.
package struct TransferTimeouts: Hashable, Sendable {
    /// From the start of each hop until a request can be sent: name, connection and TLS, all addresses together. Each
    /// address has an equal share of what is left.
    package var connect: Duration? = .seconds(10)
    /// From the start to the end, redirects included.
    package var total: Duration?
    /// So long with fewer than ``idleBytes`` moved in either direction, once the request is on its way.
    package var idle: Duration? = .seconds(60)
    /// What must move in each ``idle`` period: 1 lets a server that sends one byte a minute go on.
    package var idleBytes: UInt64 = 1

    /// The bytes of each ``idle`` period for a rate in bytes a second; 0 leaves one byte, which keeps out only silence.
    package var leastRate: UInt64 {
        get { idle.map { idleBytes / UInt64(max(1, $0.nanoseconds / 1_000_000_000)) } ?? 0 }
        set { idleBytes = max(1, idle.map { newValue * UInt64(max(1, $0.nanoseconds / 1_000_000_000)) } ?? 1) }
    }

    package init() {}

    package init(connect: Duration? = nil, total: Duration? = nil, idle: Duration? = nil, idleBytes: UInt64 = 1) {
        self.connect = connect
        self.total = total
        self.idle = idle
        self.idleBytes = idleBytes
    }
}
