package import ReachCore

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
    case sampled(LineSample)
    /// Link-layer addresses; none where this user may not ask.
    case owners([HardwareAddress])
    case burst(BurstAnswer)
    case listed([IPAddress])
    case addresses([InterfaceAddress])
    case routers([IPAddress])
    case nextHops([FirstHop])
}

/// Echo requests to one host, and what came back.
package struct LineSample: Hashable, Sendable {
    package var sent: Int
    package var answered: Int
    /// Of the answered; `nil` where none was.
    package var roundTrip: Duration?
    /// The difference between a late and a usual round trip (90th percentile minus median).
    package var jitter: Duration?

    package init(sent: Int, answered: Int, roundTrip: Duration? = nil, jitter: Duration? = nil) {
        self.sent = sent
        self.answered = answered
        self.roundTrip = roundTrip
        self.jitter = jitter
    }

    package var lostShare: Double { sent == 0 ? 0 : Double(sent - answered) / Double(sent) }
}

/// What a few connections at once showed about this machine.
package struct BurstAnswer: Hashable, Sendable {
    package var sent: Int
    /// The packets to this machine that it dropped meanwhile, less those that it drops anyway.
    package var droppedHere: Int
    /// Whether the refusals came over the loopback: this machine made them.
    package var isRefusedHere: Bool
    /// The connections that stood in time; `nil` where that was not looked at.
    package var connected: Int?
    /// The router beyond the first hop that passed the segment's first part of the way.
    package var passedBy: IPAddress?

    package init(
        sent: Int, droppedHere: Int = 0, isRefusedHere: Bool = false, connected: Int? = nil, passedBy: IPAddress? = nil
    ) {
        self.connected = connected
        self.sent = sent
        self.droppedHere = droppedHere
        self.isRefusedHere = isRefusedHere
        self.passedBy = passedBy
    }
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
    /// An administrator set the entry.
    case notNeeded
    /// The link has no neighbours to ask for, as modems and tunnels: every host is behind it.
    case noNeighbours
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
    /// Datagrams came that no program can use: with another number, or malformed.
    case unusable
    case silent
    case failed(CInt)

    /// Whether the server answered as a server that works does.
    var isGood: Bool {
        switch self {
        case .addresses, .noAddress, .noSuchName: true
        case .failure, .refused, .unusable, .silent, .failed: false
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
    /// An ICMP error came back, or the first hop does not answer: `errno`, and who said what where that is known.
    case unreachable(CInt, WayComplaint? = nil)
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

/// What somebody on the way says of packets to a host by an ICMP error.
package struct WayComplaint: Hashable, Sendable {
    package enum Meaning: Hashable, Sendable {
        case prohibited
        case noWay
        /// There is a way, but no such host at its end.
        case hostMissing
    }

    package let speaker: IPAddress
    package let meaning: Meaning

    package init(by speaker: IPAddress, _ meaning: Meaning) {
        self.speaker = speaker
        self.meaning = meaning
    }
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
    /// Whether the one who has no way misses the host alone, as the last router does, and not a route.
    package var isHostMissing = false

    package init(hops: [Hop] = [], end: End = .silent, isHostMissing: Bool = false) {
        self.hops = hops
        self.end = end
        self.isHostMissing = isHostMissing
    }

    var complaint: WayComplaint? {
        switch end {
        case .prohibited(let speaker): WayComplaint(by: speaker, .prohibited)
        case .unreachable(let speaker): WayComplaint(by: speaker, isHostMissing ? .hostMissing : .noWay)
        case .reached, .silent, .failed: nil
        }
    }

    /// A router that packets pass more than once.
    package var loop: IPAddress? {
        let seen = Dictionary(grouping: hops, by: \.address).filter { Set($0.value.map(\.distance)).count > 1 }
        return seen.min { ($0.value.map(\.distance).min() ?? 0) < ($1.value.map(\.distance).min() ?? 0) }?.key
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

        /// Whether a certificate arrived, and does not do.
        var isOfCertificate: Bool {
            switch self {
            case .certificateExpired, .certificateNotYetValid, .certificateWrongHost, .certificateUntrusted: true
            case .silent, .reset, .refused, .unreachable, .handshake, .notHTTP, .proxyFailed, .proxyRefused,
                .proxyAuthentication, .local:
                false
            }
        }
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
    /// Who signed the server's certificate.
    package var issuer: String?
    /// Whether the certificate is valid at the time of the header Date.
    package var isValidByServersClock = false

    package init(_ ending: Ending, page: Page? = nil, location: String? = nil, clockSkew: Duration? = nil) {
        self.ending = ending
        self.page = page
        self.location = location
        self.clockSkew = clockSkew
    }
}
