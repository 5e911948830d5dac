package import ReachCore

extension PathFinder {
    /// The uplinks by which the Internet may be reached: in each family the preferred one, and other links that have an
    /// address and a route.
    ///
    /// An uplink whose gateway has failed is included, since only traffic to a gateway shows that it works again.
    ///
    /// - Parameter preferred: The paths that the kernel prefers.
    package func uplinks(preferred: Verdict, anchors: [IPAddress]) throws(NetlinkError) -> [Uplink] {
        var uplinks: [Uplink] = []
        for family in IPAddress.Family.allCases {
            let path = family == .ipv4 ? preferred.ipv4 : preferred.ipv6
            let main = uplink(along: path, family)
            if let main { uplinks.append(main) }
            guard let anchor = anchors.first(where: { $0.family == family }) else { continue }
            uplinks += try otherUplinks(than: path.interfaceIndex, to: anchor)
        }
        return uplinks
    }

    private func uplink(along path: NetworkPath, _ family: IPAddress.Family) -> Uplink? {
        guard let index = path.interfaceIndex, let name = path.interface,
            path.status == .reachable || path.reason == .gatewayUnreachable
        else { return nil }
        return Uplink(
            key: Uplink.Key(family: family, interface: index), name: name, gateway: path.gateway, source: path.source,
            neighbour: path.gateway == nil ? nil : path.neighbour, subnets: subnets(of: index, family),
            isMetered: path.isMetered, isPreferred: true)
    }

    /// The most other uplinks, which is more than any desktop or server has at a time.
    private static let otherLimit = 16

    /// The uplinks that only carry traffic of sockets bound to them. They are links that leave the machine, since a bridge
    /// of containers or a tunnel reaches the Internet, if at all, by one of these.
    private func otherUplinks(than preferred: InterfaceIndex?, to anchor: IPAddress) throws(NetlinkError) -> [Uplink] {
        let family = anchor.family
        var candidates: [(link: Link, source: IPAddress)] = []
        for link in view.table.links.values where link.index != preferred && link.isUsable {
            guard
                let own = view.table.addresses[link.index]?.first(where: {
                    $0.address.family == family && $0.isPreferred
                })
            else { continue }
            candidates.append((link, own.address))
        }
        guard !candidates.isEmpty else { return [] }
        candidates = candidates.filter { Self.leavesMachine(view.condition(of: $0.link.index)) }
            .sorted { $0.link.index < $1.link.index }
        // An IPv4 lookup for one link never fails, unless it asks for the route itself.
        let questions = candidates.prefix(Self.otherLimit).map {
            RouteQuestion(anchor, interface: $0.link.index, matchesTable: true)
        }
        let answers = try view.queries.routes(questions)
        var uplinks: [Uplink] = []
        for (candidate, answer) in zip(candidates, answers) {
            guard case .route(let route) = answer, route.type == .unicast else { continue }
            let hop = route.hops.first { $0.interface == candidate.link.index }
            guard let hop else { continue }
            let index = candidate.link.index
            var neighbour: NeighbourState?
            if let gateway = hop.gateway {
                neighbour =
                    try view.queries.neighbour(Neighbour.Key(interface: index, address: gateway)) ?? NeighbourState.none
            }
            let dropsReplies = family == .ipv4 ? try view.queries.filtersStrictly(index) : false
            uplinks.append(
                Uplink(
                    key: Uplink.Key(family: family, interface: index), name: candidate.link.name, gateway: hop.gateway,
                    source: candidate.source, neighbour: neighbour, subnets: subnets(of: index, family),
                    isMetered: view.condition(of: index).isMetered, isPreferred: false, dropsReplies: dropsReplies))
        }
        return uplinks
    }

    private static func leavesMachine(_ condition: LinkCondition) -> Bool {
        guard condition.trouble == nil else { return false }
        switch condition.linkClass {
        case .wired, .wifi, .wwan, .bluetooth: return true
        case .tunnel, .virtual, .loopback, .other: return false
        }
    }

    private func subnets(of index: InterfaceIndex, _ family: IPAddress.Family) -> [Uplink.Subnet] {
        (view.table.addresses[index] ?? []).filter { $0.address.family == family }.map {
            Uplink.Subnet(address: $0.address, prefixLength: Int($0.prefixLength))
        }
    }
}
