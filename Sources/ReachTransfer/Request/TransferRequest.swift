package import ReachCore

/// One HTTP exchange, or one connection without it, as it is to be made: a value.
///
///     var request = TransferRequest(url: try TransferURL("https://example.org/"))
///     request.interface = InterfaceBinding(name: "eth0", index: 2)
///     let id = engine.start(request, handler: TransferHandler { event in ... })
///
/// Nothing comes from the environment: no proxy variables, no `.netrc`, no cookies. What libcurl would do by itself and
/// cannot be watched (names, redirects, timeouts, proxies) is done by ``TransferEngine``.
package struct TransferRequest: Hashable, Sendable {
    package var method: String
    package var url: TransferURL
    /// Sent in this order, besides what HTTP itself needs. What ``RequestFieldFault`` finds wrong is refused: Content-Length
    /// is counted here.
    package var headers: [HTTPField] = []
    package var body: TransferBody = .none
    /// The interface that every packet of it must go by, the questions to name servers included; `nil` leaves it to routing.
    package var interface: InterfaceBinding?
    /// The address it must be sent from: where the kernel chose another one, the attempt is refused before its first
    /// request byte.
    package var source: IPAddress?
    /// Only addresses of this family are asked for and used; `nil` for both.
    package var family: IPAddress.Family?
    /// Where the URL's host is, tried in this order; `nil` if the engine is to find out. Holds for that host only, and not for a
    /// proxy.
    package var addresses: [IPAddress]?
    package var timeouts = TransferTimeouts()
    package var limit = ResponseLimit()
    package var sink: TransferSink = .memory
    package var redirects: RedirectPolicy = .none
    package var version: HTTPVersion = .automatic
    package var proxy: TransferProxy = .none
    package var security: SecurityPolicy = .standard
    package var clientCertificate: ClientCertificate?
    package var connection: ConnectionUse = .pooled
    /// Who shares its connections.
    package var owner: ConnectionOwner = .program

    package init(_ method: String = "GET", url: TransferURL) {
        self.method = method
        self.url = url
    }
}

/// Whose connections a transfer may use: no two owners ever share one.
package enum ConnectionOwner: Hashable, Sendable {
    /// This program itself.
    case program
    /// A user's request in the queue, by the kernel's number of the user.
    case user(UInt32)
    case probes
    case validation
}

/// The interface that an attempt is tied to, by name and by the kernel's number: a name alone may have become another
/// interface's.
package struct InterfaceBinding: Hashable, Sendable {
    package let name: String
    /// The kernel's number; 0 where only the name is known.
    package let index: UInt32

    package init(name: String, index: UInt32 = 0) {
        self.name = name
        self.index = index
    }
}

/// What is sent as the body.
package enum TransferBody: Hashable, Sendable {
    case none
    case bytes([UInt8])
    /// A regular file, read piece by piece on a thread for files. Its size when it is opened is the Content-Length; if
    /// it then shrinks, the transfer fails.
    case file(path: String)
}

/// Which version of HTTP is spoken.
package enum HTTPVersion: Hashable, Sendable {
    /// HTTP/2 where TLS negotiates it, else HTTP/1.1.
    case automatic
    /// For probes: one connection, one exchange (scheduling.md 6.25).
    case http1
}

/// Whether connections are kept.
package enum ConnectionUse: Hashable, Sendable {
    /// One that is open may be used, and is kept open after: never one of another owner, epoch, interface or
    /// security policy.
    case pooled
    /// A new one, closed after: for probes.
    case fresh
    /// A new one, with its TLS where the scheme is https, and nothing is sent over it. There is no response.
    case connectOnly
}

/// A proxy to go through; its name is resolved as the target's would be, and the target's name by the proxy.
package enum TransferProxy: Hashable, Sendable {
    /// None, whatever the environment says.
    case none
    /// `http://host:port` or `socks5h://host:port`; others are refused.
    case explicit(TransferURL)
}
