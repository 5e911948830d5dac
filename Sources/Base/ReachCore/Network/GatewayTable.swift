/// The gateways of default routes, by link and family, and their hardware addresses.
///
/// An address stays known when the gateway stops answering, until the link loses its carrier, its default route goes or
/// gets another gateway, or everything is read again and the kernel does not know the address any more.
package struct GatewayTable: Equatable, Sendable {
    private struct Entry: Equatable {
        let gateway: IPAddress
        var hardwareAddress: HardwareAddress?
    }

    private var entries: [DefaultRoute.Key: Entry] = [:]

    /// Notes the gateway of a default route. The hardware address of another one than before is not known.
    package mutating func note(_ gateway: IPAddress, of route: DefaultRoute.Key) {
        if entries[route]?.gateway != gateway { entries[route] = Entry(gateway: gateway) }
    }

    /// Whether this is the known gateway of a default route.
    package func knows(_ gateway: IPAddress, of route: DefaultRoute.Key) -> Bool { entries[route]?.gateway == gateway }

    /// Notes the hardware address of a gateway.
    ///
    /// - Returns: Whether it differs from the known one.
    package mutating func update(_ neighbour: Neighbour) -> Bool {
        guard let address = neighbour.hardwareAddress else { return false }
        var hasChanged = false
        for family in IPAddress.Family.allCases {
            let key = DefaultRoute.Key(family: family, interface: neighbour.key.interface)
            guard let entry = entries[key], entry.gateway == neighbour.key.address, entry.hardwareAddress != address
            else { continue }
            entries[key]?.hardwareAddress = address
            hasChanged = true
        }
        return hasChanged
    }

    /// The gateways, as keys of their neighbour entries.
    package var neighbours: [Neighbour.Key] {
        entries.map { Neighbour.Key(interface: $0.key.interface, address: $0.value.gateway) }
    }

    /// Sets a gateway's hardware address to the one of its neighbour entry, which has none while the gateway is not
    /// known.
    mutating func set(_ address: HardwareAddress?, of neighbour: Neighbour.Key) {
        for (route, entry) in entries
        where route.interface == neighbour.interface && entry.gateway == neighbour.address {
            entries[route]?.hardwareAddress = address
        }
    }

    /// Forgets the gateways of all default routes but these.
    ///
    /// - Returns: The links of which a hardware address is not known any more.
    package mutating func keep(_ routes: Set<DefaultRoute.Key>) -> Set<InterfaceIndex> {
        let gone = entries.filter { !routes.contains($0.key) }
        for key in gone.keys { entries[key] = nil }
        return Set(gone.lazy.filter { $0.value.hardwareAddress != nil }.map(\.key.interface))
    }

    package mutating func forget(_ interface: InterfaceIndex) {
        for family in IPAddress.Family.allCases {
            entries[DefaultRoute.Key(family: family, interface: interface)] = nil
        }
    }

    /// The hardware addresses of a link's gateways, IPv4's first.
    package func hardwareAddresses(of interface: InterfaceIndex) -> [HardwareAddress] {
        IPAddress.Family.allCases.compactMap {
            hardwareAddress(of: DefaultRoute.Key(family: $0, interface: interface))
        }
    }

    /// The hardware address of the gateway of a default route, once it has answered.
    package func hardwareAddress(of route: DefaultRoute.Key) -> HardwareAddress? { entries[route]?.hardwareAddress }

    /// Keeps the entries of links of another table that this one's links still have.
    mutating func keep(_ old: GatewayTable, where isKept: (InterfaceIndex) -> Bool) {
        entries = old.entries.filter { isKept($0.key.interface) }
    }
}

extension NetworkTable {
    /// Notes the gateway of a default route, and its neighbour entry.
    ///
    /// - Returns: Whether more or something else is now known of the network behind the link.
    package mutating func noteGateway(_ gateway: IPAddress, of route: DefaultRoute.Key, _ entry: Neighbour?) -> Bool {
        // Of a gateway that is not known no more is known than of none.
        let (addressesBefore, domainBefore) = (
            gateways.hardwareAddresses(of: route.interface), domain(of: route.interface)
        )
        gateways.note(gateway, of: route)
        if let entry { _ = gateways.update(entry) }
        return gateways.hardwareAddresses(of: route.interface) != addressesBefore
            || domain(of: route.interface) != domainBefore
    }

    /// The routes with the devices of their gateways.
    package func addingGateways(to routes: [DefaultRoute]) -> [DefaultRoute] {
        routes.map { route in
            var copy = route
            if let gateway = route.gateway, gateways.knows(gateway, of: route.key) {
                copy.gatewayDevice = gateways.hardwareAddress(of: route.key)
            }
            return copy
        }
    }

    /// Keeps the gateways of another table whose links are in this one. What was known of them may be of a network
    /// before: only the neighbour entries of now count.
    ///
    /// - Parameter hardwareAddress: Queries the hardware address of a neighbour.
    package mutating func keepGateways<Failure>(
        of old: NetworkTable, _ hardwareAddress: (Neighbour.Key) throws(Failure) -> HardwareAddress?
    ) throws(Failure) {
        gateways.keep(old.gateways) { links[$0]?.isUsable == true }
        for key in gateways.neighbours { gateways.set(try hardwareAddress(key), of: key) }
    }

    /// What the kernel's tables say about the network behind a link.
    package func identity(of interface: InterfaceIndex) -> NetworkIdentity {
        var identity = NetworkIdentity()
        identity.gateways = gateways.hardwareAddresses(of: interface)
        identity.domains = domain(of: interface).map { [$0] } ?? []
        for address in addresses[interface] ?? [] {
            guard !address.address.isLinkLocal, !address.address.isLoopback,
                Int(address.prefixLength) < address.address.family.bitCount,
                let prefix = IPPrefix(address.address, length: Int(address.prefixLength))
            else { continue }
            identity.prefixes.append(prefix)
        }
        return identity
    }
}
