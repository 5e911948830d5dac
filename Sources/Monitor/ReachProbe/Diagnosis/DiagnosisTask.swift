package import ReachCore
package import ReachRecords

/// Something that a diagnosis finds out. Tasks that do not depend on each other run at once.
package enum DiagnosisTask: Hashable, Sendable {
    /// The kernel's verdict on the Internet. Sends nothing.
    case internet
    /// The kernel's path to an address. Sends nothing.
    case path(HostAddress)
    /// The kernel's path to an address once more, while a first hop has not answered. Sends nothing.
    case pathAgain(HostAddress)
    /// The machine's name servers. Sends nothing.
    case servers
    /// Whether a host on the link answers ARP or neighbour discovery.
    case solicit(FirstHop)
    case ask(NameServerQuestion)
    /// The addresses of a name, from the system's resolver, as programs get them.
    case resolve(String)
    /// A TCP connection, closed at once.
    case connect(HostAddress, port: UInt16)
    /// A TCP connection from another address of this machine than the kernel chooses.
    case connectFrom(IPAddress, HostAddress, port: UInt16)
    /// The next hops of the kernel's route to a host, where there are several. Sends nothing.
    case nextHops(HostAddress)
    /// A TCP connection by one of several next hops.
    case connectBy(FirstHop, HostAddress, port: UInt16)
    /// This machine's addresses on a link. Sends nothing.
    case addresses(InterfaceIndex, IPAddress.Family)
    /// The gateways of a link's default routes. Sends nothing.
    case routers(InterfaceIndex, IPAddress.Family)
    /// The routers that the kernel may use in place of a first hop: the gateways of the link's other default routes,
    /// where those rank as high or higher. Sends nothing.
    case rivals(FirstHop)
    /// An echo request: of 56 bytes, or as large as the path's first link allows.
    case ping(HostAddress, isLarge: Bool)
    case exchange(DiagnosisExchange)
    /// Datagrams with short lives, to see who answers on the way.
    case trace(HostAddress)
    /// Many small echo requests, spread over a second or two: loss and round trip.
    case sample(HostAddress)
    /// Who answers ARP or neighbour discovery for a neighbour, or for an address of this machine.
    case owners(FirstHop)
    /// The owner of a neighbour's address in the kernel's table, where an administrator has set it. Sends nothing.
    case entry(FirstHop)
    /// A few connections at once, to see whether this machine itself drops or makes the answers.
    case burst(HostAddress, port: UInt16)
    /// An echo request handed to another neighbour than the gateway, by its link-layer address: whether it passes
    /// packets on.
    case forward(by: FirstHop, owner: HardwareAddress, to: HostAddress)
    /// What the hosts file says of a name. Sends nothing.
    case hosts(String)
}

/// A host on the link.
package struct FirstHop: Hashable, Sendable {
    package let interface: String
    package let interfaceIndex: InterfaceIndex
    package let address: IPAddress

    package init(interface: String, interfaceIndex: InterfaceIndex, address: IPAddress) {
        self.interface = interface
        self.interfaceIndex = interfaceIndex
        self.address = address
    }
}

/// A question to one name server.
package struct NameServerQuestion: Hashable, Sendable {
    package let server: NameServerAddress
    package let name: String
    package let family: IPAddress.Family
    package let isByTCP: Bool

    package init(server: NameServerAddress, name: String, family: IPAddress.Family, isByTCP: Bool = false) {
        self.server = server
        self.name = name
        self.family = family
        self.isByTCP = isByTCP
    }
}

/// A name server of the machine's configuration.
package struct NameServerAddress: Hashable, Sendable {
    package let host: HostAddress
    package let port: UInt16

    package init(_ host: HostAddress, port: UInt16 = 53) {
        self.host = host
        self.port = port
    }
}

/// A handshake or a request, by a new connection.
package struct DiagnosisExchange: Hashable, Sendable {
    package enum Variant: Hashable, Sendable {
        case normal
        /// Once more, since a single silence proves little.
        case again
        /// With small segments, which pass where large packets vanish.
        case smallSegments
        /// Without verifying the certificate, to compare the clocks.
        case anyCertificate
    }

    package let destination: DiagnosisDestination
    /// The address to connect to: the proxy's, where there is one.
    package let address: HostAddress
    package let port: UInt16
    package let variant: Variant

    package init(
        _ destination: DiagnosisDestination, at address: HostAddress, port: UInt16, variant: Variant = .normal
    ) {
        self.destination = destination
        self.address = address
        self.port = port
        self.variant = variant
    }
}
