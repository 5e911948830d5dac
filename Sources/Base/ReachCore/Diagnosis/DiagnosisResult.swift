/// What a ``DiagnosisTask`` found.
package enum DiagnosisResult: Hashable, Sendable {
    case path(PathFact)
    case servers([NameServerAddress])
    case solicited(SolicitationAnswer)
    case asked(NameServerAnswer)
    case resolved(NameAnswer)
    case connected(ConnectionAnswer)
    case pinged(PingAnswer)
    case exchanged(ExchangeAnswer)
    case traced(PathTrace)
}

/// The kernel's path to an address or to the Internet.
package struct PathFact: Hashable, Sendable {
    package var status: ReachabilityStatus
    package var reason: Reason?
    package var rootCause: RootCause?
    package var ipv4: NetworkPath
    package var ipv6: NetworkPath

    package init(
        status: ReachabilityStatus, reason: Reason? = nil, rootCause: RootCause? = nil, ipv4: NetworkPath = .notAsked,
        ipv6: NetworkPath = .notAsked
    ) {
        self.status = status
        self.reason = reason
        self.rootCause = rootCause
        self.ipv4 = ipv4
        self.ipv6 = ipv6
    }

    package subscript(family: IPAddress.Family) -> NetworkPath { family == .ipv4 ? ipv4 : ipv6 }

    /// Whether something can be sent. An earlier failure of a neighbour does not count, since it is asked again.
    func isUsable(_ family: IPAddress.Family) -> Bool {
        let path = self[family]
        return path.status == .reachable || path.reason == .gatewayUnreachable || path.reason == .neighbourUnreachable
    }
}

package enum SolicitationAnswer: Hashable, Sendable {
    case answered
    case silent
    /// It answered some time ago; to ask again now needs CAP_NET_ADMIN.
    case unconfirmed
    /// The link needs no address resolution, or an administrator set the entry.
    case notNeeded
    case failed(CInt)
}

package enum NameServerAnswer: Hashable, Sendable {
    case addresses([IPAddress])
    /// The name has no address of this family.
    case noAddress
    case noSuchName
    /// The response code (RFC 1035 section 4.1.1).
    case failure(code: UInt8)
    /// No program serves the port.
    case refused
    case silent
    case failed(CInt)

    /// Whether the server answered as a server that works does.
    var isGood: Bool {
        switch self {
        case .addresses, .noAddress, .noSuchName: true
        case .failure, .refused, .silent, .failed: false
        }
    }

    /// Whether any packet came back.
    var isSign: Bool {
        switch self {
        case .silent, .failed: false
        default: true
        }
    }
}

package enum ConnectionAnswer: Hashable, Sendable {
    case connected
    case refused
    /// An ICMP error came back, or the first hop does not answer: `errno`.
    case unreachable(CInt)
    case silent
    /// This machine did not send.
    case failed(CInt)
}

package enum PingAnswer: Hashable, Sendable {
    case answered
    case silent
    /// A router, or this machine, reported that the packet is too large.
    case tooLarge
    case unreachable(CInt)
    /// The sysctl net.ipv4.ping_group_range does not include this user.
    case notPermitted
    case failed(CInt)
}

/// The routers that answered, and how the way ends.
package struct PathTrace: Hashable, Sendable {
    package enum End: Hashable, Sendable {
        /// The target answered.
        case reached
        /// Somebody forbids the packets.
        case prohibited(by: IPAddress)
        /// Somebody has no way for the packets.
        case unreachable(by: IPAddress)
        case silent
        /// This machine did not send.
        case failed(CInt)
    }

    /// A router that answered, at its distance from this machine, from 1.
    package struct Hop: Hashable, Sendable {
        package let distance: Int
        package let address: IPAddress

        package init(distance: Int, address: IPAddress) {
            self.distance = distance
            self.address = address
        }
    }

    package var hops: [Hop]
    package var end: End

    package init(hops: [Hop] = [], end: End = .silent) {
        self.hops = hops
        self.end = end
    }
}

package struct ExchangeAnswer: Hashable, Sendable {
    package enum Phase: Hashable, Sendable { case connect, tls, http }

    /// Why there is no answer.
    package enum Failure: Hashable, Sendable {
        case silent(Phase)
        case reset(Phase)
        case refused
        case unreachable
        case handshake
        case certificateExpired
        case certificateNotYetValid
        case certificateWrongHost
        case certificateUntrusted
        case notHTTP
        case proxyFailed
        case proxyRefused
        case proxyAuthentication
        /// This machine did not send.
        case local
    }

    /// What a page with a known answer shows.
    package enum Page: Hashable, Sendable {
        case expected
        case portal(String)
        case unexpected
    }

    package enum Ending: Hashable, Sendable {
        /// The status of an HTTP response.
        case response(Int)
        /// A handshake without a request.
        case secured
        case failure(Failure, String)
    }

    package var ending: Ending
    package var page: Page?
    /// The value of the header Location.
    package var location: String?
    /// The server's clock minus this machine's, by the header Date.
    package var clockSkew: Duration?
    /// The validity of the server's certificate.
    package var validity: ClosedRange<Timestamp>?
    /// Whether the certificate is valid at the time of the header Date.
    package var isValidByServersClock = false

    package init(_ ending: Ending, page: Page? = nil, location: String? = nil, clockSkew: Duration? = nil) {
        self.ending = ending
        self.page = page
        self.location = location
        self.clockSkew = clockSkew
    }
}
