/// The URI of a portal's API (RFC 8908) that a router announces in its advertisements (RFC 8910 2.3).
package struct PortalAnnouncement: Hashable, Sendable {
    package let interface: InterfaceIndex
    /// The address from which the advertisement came.
    package let router: IPAddress
    /// The URI as announced, without the padding. Nothing is checked: any host on the link may announce anything.
    package let uri: String

    package init(interface: InterfaceIndex, router: IPAddress, uri: String) {
        self.interface = interface
        self.router = router
        self.uri = uri
    }
}

extension NetworkTable {
    /// Routers of one link whose announcements are kept, the newest of them. Each forged advertisement may have another
    /// source, and must not keep the real router's out.
    private static let routerLimit = 8

    /// - Returns: The change; `nil` for a repetition, which each advertisement is.
    mutating func apply(_ announcement: PortalAnnouncement) -> Effect? {
        let interface = announcement.interface
        guard links[interface]?.isUsable == true else { return nil }
        var announced = portals[interface] ?? []
        let index = announced.firstIndex { $0.router == announcement.router }
        guard index.map({ announced[$0].uri }) != announcement.uri else { return nil }
        if let index {
            announced.remove(at: index)
        } else if announced.count >= Self.routerLimit {
            announced.removeFirst()
        }
        announced.append(announcement)
        portals[interface] = announced
        return Effect(cause: .router, interface: interface)
    }

    /// Forgets what a router announced that is no longer a default router. The kernel does not report the lifetime of a
    /// router; it removes its default route.
    mutating func forgetPortal(of route: Route) {
        guard !portals.isEmpty, route.destination.length == 0 else { return }
        for hop in route.hops {
            guard let interface = hop.interface, let gateway = hop.gateway else { continue }
            portals[interface]?.removeAll { $0.router == gateway }
        }
    }

    /// Keeps the announcements of another table, of links that are in this one: the kernel cannot be asked for them.
    package mutating func keepPortals(of old: NetworkTable) {
        portals = old.portals.filter { links[$0.key]?.isUsable == true }
    }

    /// The default routes, with the portals that the default routers of their links announce. A portal stands before
    /// the whole network, so it concerns both families.
    package func addingPortals(to routes: [DefaultRoute]) -> [DefaultRoute] {
        guard !portals.isEmpty else { return routes }
        return routes.map { route in
            let routers = routes.filter { $0.key.interface == route.key.interface }.compactMap(\.gateway)
            var copy = route
            let announced = portals[route.key.interface] ?? []
            copy.portalURI = announced.first { routers.contains($0.router) }?.uri
            return copy
        }
    }
}
