package import ReachCore

/// Finds every interface by which the Internet may be reached, not only the one that the kernel prefers.
///
/// It takes a lookup for each candidate and anchor: microseconds each. Nothing is sent.
package struct DefaultPathSurvey {
    private let view: KernelView
    private let mark: UInt32?
    private let anchors: [IPAddress]

    /// More links to the Internet than any machine has that people use; a host of containers may have thousands of
    /// links with addresses.
    private static let candidateLimit = 16

    package init(view: KernelView, mark: UInt32? = nil, anchors: [IPAddress]) {
        self.view = view
        self.mark = mark
        self.anchors = anchors
    }

    /// - Parameter preferred: The ways that the kernel takes. One that it takes and that is known not to work, as its
    ///   gateway does not answer, is no path. Of other gateways nothing is known, since nobody sends to them.
    /// - Returns: By index.
    package func paths(preferred: Verdict) throws(NetlinkError) -> [DefaultPath] {
        var found: [InterfaceIndex: DefaultPath] = [:]
        for family in IPAddress.Family.allCases {
            let way = family == .ipv4 ? preferred.ipv4 : preferred.ipv6
            for link in candidates(family) {
                if way.interfaceIndex == link.index, way.status != .reachable { continue }
                guard let route = try route(by: link.index, family) else { continue }
                if family == .ipv4, way.interfaceIndex != link.index, try view.queries.filtersStrictly(link.index) {
                    // The kernel takes answers only from where it would send to (RFC 3704, strict).
                    continue
                }
                let held: DefaultPath = if let known = found[link.index] { known } else { try path(of: link) }
                found[link.index] = adding(family, route, to: held)
            }
        }
        return found.values.sorted { $0.interface < $1.interface }
    }

    /// Links that can carry packets of a family, from an address that is good for other networks.
    private func candidates(_ family: IPAddress.Family) -> [Link] {
        let links = view.table.links.values.filter { link in
            link.isUsable && !link.flags.contains(.loopback) && !sources(of: link.index, family).isEmpty
                && view.condition(of: link.index).trouble == nil
        }
        return Array(links.sorted { $0.index < $1.index }.prefix(Self.candidateLimit))
    }

    private func sources(of index: InterfaceIndex, _ family: IPAddress.Family) -> [IPAddress] {
        (view.table.addresses[index] ?? []).filter { $0.address.family == family && $0.isPreferred }.map(\.address)
    }

    /// The best route by a link, if most anchors have one.
    private func route(by index: InterfaceIndex, _ family: IPAddress.Family) throws(NetlinkError) -> Route? {
        let wanted = anchors.filter { $0.family == family }
        guard !wanted.isEmpty else { return nil }
        // In IPv4 a lookup for one link never fails, unless the route itself is asked for. In IPv6 a route may be for
        // some sources only.
        let source = family == .ipv6 ? sources(of: index, family).first : nil
        let answers = try view.queries.routes(
            wanted.map { RouteQuestion($0, interface: index, source: source, mark: mark, matchesTable: true) })
        let routes = answers.compactMap { answer -> Route? in
            guard case .route(let route) = answer, route.type == .unicast,
                route.hops.contains(where: { $0.interface == index && !$0.flags.contains(.dead) })
            else { return nil }
            return route
        }
        guard routes.count >= Verdict.anchorsNeeded(of: wanted.count) else { return nil }
        return routes.min { ($0.metric ?? 0) < ($1.metric ?? 0) }
    }

    private func path(of link: Link) throws(NetlinkError) -> DefaultPath {
        let condition = view.condition(of: link.index, underlay: try view.underlay(of: link.index))
        var path = DefaultPath(
            interface: link.index, name: link.name, linkClass: condition.linkClass, isMetered: condition.isMetered)
        if condition.linkClass == .tunnel, let name = condition.lower.last, let carrier = view.table.link(named: name) {
            path.carrierClass = view.condition(of: carrier.index).linkClass
        }
        return path
    }

    private func adding(_ family: IPAddress.Family, _ route: Route, to path: DefaultPath) -> DefaultPath {
        var path = path
        path.families.insert(family)
        path.metric = min(path.metric, route.metric ?? 0)
        path.sources.formUnion(sources(of: path.interface, family))
        path.gateways.formUnion(route.hops.filter { $0.interface == path.interface }.compactMap(\.gateway))
        return path
    }
}
