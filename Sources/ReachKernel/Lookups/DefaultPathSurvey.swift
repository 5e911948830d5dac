package import ReachCore

/// Finds every interface with a path to the Internet, not only the one that the kernel prefers.
///
/// It makes a lookup for each candidate and reference address, which takes microseconds each. It sends no packet.
package struct DefaultPathSurvey {
    private let view: KernelView
    private let mark: UInt32?
    private let anchors: [IPAddress]

    /// The most candidates. It is more than the links to the Internet of any desktop or server; a container host may have
    /// thousands of links with addresses.
    private static let candidateLimit = 16

    package init(view: KernelView, mark: UInt32? = nil, anchors: [IPAddress]) {
        self.view = view
        self.mark = mark
        self.anchors = anchors
    }

    /// - Parameter preferred: The paths that the kernel prefers. A preferred path that is known not to work, because its
    ///   gateway does not answer, is left out. The state of other gateways is unknown, since no traffic goes to them.
    /// - Returns: The paths, sorted by interface index.
    package func paths(preferred: Verdict) throws(NetlinkError) -> [DefaultPath] {
        var found: [InterfaceIndex: DefaultPath] = [:]
        for family in IPAddress.Family.allCases {
            let main = family == .ipv4 ? preferred.ipv4 : preferred.ipv6
            for link in candidates(family) {
                if main.interfaceIndex == link.index, main.status != .reachable { continue }
                guard let route = try route(by: link.index, family) else { continue }
                if family == .ipv4, main.interfaceIndex != link.index, try view.queries.filtersStrictly(link.index) {
                    // The kernel accepts replies only on the link that it would send by (RFC 3704, strict mode).
                    continue
                }
                let known: DefaultPath = if let existing = found[link.index] { existing } else { try path(of: link) }
                found[link.index] = adding(family, route, to: known)
            }
        }
        return found.values.sorted { $0.interface < $1.interface }
    }

    /// The links that can carry packets of a family and have a preferred address of it.
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

    /// The best route by a link, if at least half of the reference addresses have one.
    private func route(by index: InterfaceIndex, _ family: IPAddress.Family) throws(NetlinkError) -> Route? {
        let wanted = anchors.filter { $0.family == family }
        guard !wanted.isEmpty else { return nil }
        // An IPv4 lookup for one link never fails, unless it asks for the route itself. An IPv6 route may be for some
        // sources only.
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
