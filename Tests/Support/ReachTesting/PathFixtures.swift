package import ReachCore

/// A machine with a cable, a Wi-Fi link and a loopback link, for a ``PathJudge``.
package struct Machine {
    package static let documentation: IPAddress = IPAddress(ipv4: 0xcb00_710a)  // 203.0.113.10
    package static let gateway: IPAddress = IPAddress(ipv4: 0xc000_0201)  // 192.0.2.1
    package static let source: IPAddress = IPAddress(ipv4: 0xc000_0202)  // 192.0.2.2
    package static let far: IPAddress = IPAddress(ipv6: 0x2001_0db8_ffff_0000, 1)
    package static let routerLocal: IPAddress = IPAddress(ipv6: 0xfe80_0000_0000_0000, 1)
    package static let own: IPAddress = IPAddress(ipv6: 0x2001_0db8_0000_0000, 2)

    package var table = NetworkTable()

    package init(_ links: Link...) {
        let standard: [Link] = [
            .up(1, "lo").with { $0.flags.insert(.loopback) }, .up(2, "eth0"), .up(3, "wlan0"),
        ]
        for link in links.isEmpty ? standard : links { _ = table.apply(.link(link)) }
        add(Self.source, to: 2, length: 24)
        add(Self.own, to: 2, length: 64)
    }

    package mutating func add(
        _ address: IPAddress, to interface: InterfaceIndex, length: UInt8, flags: InterfaceAddress.Flags = []
    ) {
        _ = table.apply(
            .address(InterfaceAddress(interface: interface, address: address, prefixLength: length, flags: flags)))
    }

    package var judge: PathJudge {
        let hardware: [InterfaceIndex: LinkTraits] = [2: .cable, 3: .wifi]
        return PathJudge(
            table: table, stack: LinkStack(links: table.links, traits: hardware, policy: LinkPolicy()))
    }

    package func path(_ route: Route, to destination: IPAddress = Machine.documentation, isInternet: Bool = true)
        -> NetworkPath
    {
        judge.path(to: destination, answer: .route(route), isInternet: isInternet)
    }
}

extension Route {
    /// The kernel's answer to a lookup: one next hop, with the source address it would use.
    package static func answer(
        on interface: InterfaceIndex, via gateway: IPAddress? = Machine.gateway,
        from source: IPAddress? = Machine.source,
        type: RouteType = .unicast, flags: NextHop.Flags = []
    ) -> Route {
        var route = Route(destination: .anywhere, type: type)
        route.source = source
        route.hops = [NextHop(interface: interface, gateway: gateway, flags: flags)]
        return route
    }
}

extension IPPrefix {
    package static let anywhere: IPPrefix = {
        guard let prefix = IPPrefix("0.0.0.0/0") else { preconditionFailure("0.0.0.0/0 is a prefix") }
        return prefix
    }()
}
