package import ReachCore

/// The question how many segments the TCP sockets on a path have sent, and how many of them again.
package struct SegmentQuestion: Hashable, Sendable {
    package var family: IPAddress.Family
    package var interface: InterfaceIndex
    /// This machine's addresses on the path. Sockets with other local addresses do not count, nor those that are bound
    /// to another interface.
    package var sources: [IPAddress]
    /// Remote addresses that are not beyond the path's gateway.
    package var excludedPrefixes: [IPPrefix]
    /// This machine's addresses: with those of other links, too, any user can talk to itself.
    package var own: OwnAddresses

    package init(
        family: IPAddress.Family, interface: InterfaceIndex, sources: [IPAddress], excludedPrefixes: [IPPrefix],
        own: OwnAddresses
    ) {
        self.family = family
        self.interface = interface
        self.sources = sources
        self.excludedPrefixes = excludedPrefixes
        self.own = own
    }
}

/// The segments that a socket has sent since it was made.
package struct SegmentCount: Hashable, Sendable {
    package struct Socket: Hashable, Sendable {
        let remote: TrafficQuestion.Remote
        let localPort: UInt16

        package init(remote: TrafficQuestion.Remote, localPort: UInt16) {
            self.remote = remote
            self.localPort = localPort
        }
    }

    package let socket: Socket
    /// Segments with data, each as often as it was sent.
    package let sent: UInt32
    /// Those that were sent again.
    package let repeated: UInt32
    /// The smoothed round-trip time that the kernel measured; zero if it has measured none.
    package let roundTrip: Duration

    package init(_ socket: Socket, sent: UInt32 = 0, repeated: UInt32 = 0, roundTrip: Duration = .zero) {
        self.socket = socket
        self.roundTrip = roundTrip
        self.sent = sent
        self.repeated = repeated
    }

    /// The most sockets that are counted: on a machine with more, these stand for the others.
    package static let socketLimit = 2000
}
