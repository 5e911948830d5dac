/// How the kernel sends to one address: by a route of the address's own, or by whichever default route a program
/// prefers.
package enum AddressRoute: Hashable, Sendable {
    /// The address is this machine's, or a loopback address.
    case local(HostRoute)
    /// A route that is more specific than a default route: on-link, static, or from a table that a rule chooses for
    /// this address. What goes to the address goes by this route and by no other.
    case own(HostRoute)
    /// A default route, or no route at all: the address is reached by the default routes, if there are any. Sockets
    /// that are bound to an interface may have one that the kernel's own choice lacks.
    ///
    /// The kernel's own choice has an interface. It may be another one for each address, as by a route with several
    /// next hops.
    case byDefault(InterfaceIndex? = nil)
    /// The kernel has a route and cannot send by it: it forbids the address, or its link is down.
    case none

    package var isByDefault: Bool { if case .byDefault = self { true } else { false } }

    /// The one route, where the address has one.
    package var host: HostRoute? {
        switch self {
        case .local(let route), .own(let route): route
        case .byDefault, .none: nil
        }
    }
}

/// A route to one address, and the link that carries it.
package struct HostRoute: Hashable, Sendable {
    package let address: IPAddress
    package let interface: InterfaceIndex
    /// The interface's name.
    package let name: String
    package var traits = PathTraits()
    /// The route's metric; lower is preferred.
    package var metric: UInt32 = 0
    /// The first hop; `nil` for what is on the link.
    package var gateway: IPAddress?
    /// The addresses that connections over the interface may use, also deprecated ones.
    package var sources: Set<IPAddress> = []
    /// Whether the address belongs to this machine.
    package var isLocal = false

    package init(to address: IPAddress, interface: InterfaceIndex, name: String) {
        self.address = address
        self.interface = interface
        self.name = name
    }

    package var family: IPAddress.Family { address.family }

    /// Whether the address is on the link itself, and means the same host only there: a private or link-local one.
    package var isNeighbour: Bool { gateway == nil && address.scope <= .site }
}

/// An address to send to, the interface that its zone names (`fe80::1%eth0`), and what is sent there.
package struct RoutedAddress: Hashable, Sendable {
    package let address: IPAddress
    package var zone: String?
    /// `nil` where that is not known: rules for a protocol or a port then do not count.
    package var flow: PacketFlow?

    package init(_ address: IPAddress, zone: String? = nil, flow: PacketFlow? = nil) {
        self.address = address
        self.zone = zone
        self.flow = flow
    }
}

/// Tells routes to the Internet from routes to a part of it.
package struct DefaultRouteRule: Hashable, Sendable {
    /// The tables in which the kernel finds the route to the Internet, by family; `nil` where there is none.
    private let tables: [IPAddress.Family: UInt32]
    /// The interfaces by which the kernel sends to the Internet, by family.
    private let interfaces: [IPAddress.Family: InterfaceIndex]

    /// - Parameter internet: The verdict on the Internet.
    package init(internet: Verdict) {
        var tables: [IPAddress.Family: UInt32] = [:]
        tables[.ipv4] = internet.ipv4.table
        tables[.ipv6] = internet.ipv6.table
        self.tables = tables
        var interfaces: [IPAddress.Family: InterfaceIndex] = [:]
        interfaces[.ipv4] = internet.ipv4.interfaceIndex
        interfaces[.ipv6] = internet.ipv6.interfaceIndex
        self.interfaces = interfaces
    }

    /// The interface by which the kernel sends to the Internet; `nil` if there is none.
    package func interface(of family: IPAddress.Family) -> InterfaceIndex? { interfaces[family] }

    /// Whether a route leads to the Internet as a whole: a default route, or the halves of one with which VPNs override
    /// it (0.0.0.0/1, 2000::/3), in the table that leads to the Internet. A rule that chooses another table for an
    /// address makes that table's default route a route of the address's own.
    package func isDefault(_ route: Route) -> Bool {
        let family = route.destination.address.family
        guard route.destination.length <= (family == .ipv4 ? 1 : 3) else { return false }
        return tables[family].map { $0 == route.table } ?? (route.table == DefaultRoute.mainTable)
    }
}

extension RouteAnswer {
    /// Whether the kernel has no route. A refusal by a route (unreachable, prohibit, blackhole) is none of these.
    package var isWithoutRoute: Bool { self == .refused(errno: LinuxError.networkUnreachable) }
}
