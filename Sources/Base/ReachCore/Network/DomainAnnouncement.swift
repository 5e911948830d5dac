/// What an advertisement of a router says about its provisioning domain.
package struct DomainAnnouncement: Hashable, Sendable {
    package let interface: InterfaceIndex
    /// The address from which the advertisement came.
    package let router: IPAddress
    /// `nil` where the router names none, or is no default router any more. Nothing is checked: any host on the link
    /// may announce anything.
    package let domain: ProvisioningDomain?

    package init(interface: InterfaceIndex, router: IPAddress, domain: ProvisioningDomain?) {
        self.interface = interface
        self.router = router
        self.domain = domain
    }
}

extension NetworkTable {
    /// Routers of one link whose domains are kept, as with portals. The gateway's is among them.
    private static let routerLimit = 8

    /// - Returns: The change of what identifies the network; `nil` for a repetition, which each advertisement is, and
    ///   for other hosts than the gateway.
    package mutating func apply(_ announcement: DomainAnnouncement) -> Effect? {
        let interface = announcement.interface
        guard links[interface]?.isUsable == true else { return nil }
        let before = domain(of: interface)
        var announced = domains[interface] ?? []
        let index = announced.firstIndex { $0.router == announcement.router }
        guard index.flatMap({ announced[$0].domain }) != announcement.domain else { return nil }
        if let index {
            announced.remove(at: index)
        } else if announced.count >= Self.routerLimit {
            let route = DefaultRoute.Key(family: .ipv6, interface: interface)
            announced.remove(at: announced.firstIndex { !gateways.knows($0.router, of: route) } ?? 0)
        }
        if announcement.domain != nil { announced.append(announcement) }
        domains[interface] = announced.isEmpty ? nil : announced
        return domain(of: interface) == before ? nil : Effect(cause: .network, interface: interface)
    }

    /// Forgets the domain of a router that is no longer a default router.
    mutating func forgetDomain(of route: Route) {
        guard !domains.isEmpty, route.destination.length == 0 else { return }
        for hop in route.hops {
            guard let interface = hop.interface, let gateway = hop.gateway else { continue }
            domains[interface]?.removeAll { $0.router == gateway }
        }
    }

    /// Keeps the domains of another table, of links that are in this one: routers are not asked for them.
    package mutating func keepDomains(of old: NetworkTable) {
        domains = old.domains.filter { links[$0.key]?.isUsable == true }
    }

    /// The domain that the gateway of a link's default route names: what any other host on the link says does not
    /// count.
    func domain(of interface: InterfaceIndex) -> ProvisioningDomain? {
        guard let announced = domains[interface] else { return nil }
        let route = DefaultRoute.Key(family: .ipv6, interface: interface)
        return announced.first { gateways.knows($0.router, of: route) }?.domain
    }
}
