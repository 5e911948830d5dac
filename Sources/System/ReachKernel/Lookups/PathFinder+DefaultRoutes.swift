package import ReachCore

extension PathFinder {
    /// The default routes: in each family the preferred one, and those of other interfaces; see ``DefaultRouteSurvey``.
    ///
    /// The preferred ones cost no lookup. Each other link with an address costs a few, all sent at once.
    ///
    /// Where the kernel sends into a tunnel, no link below or beside it is another way, unless the configuration lets
    /// packets leave by that link past tunnels. A family in which the kernel has no way has none past the other
    /// family's tunnel.
    ///
    /// - Parameter preferred: The verdict on the Internet.
    package func defaultRoutes(preferred: Verdict, anchors: [IPAddress]) throws(NetlinkError) -> [DefaultRoute] {
        view.table.addingPortals(
            to: try routes(preferred: preferred) { DefaultRouteSurvey($0, among: anchors) })
    }

    /// The verdict on a target for a program that accepts only paths that satisfy a condition, with their interfaces.
    ///
    /// - Parameters:
    ///   - verdict: The verdict by the kernel's own choice.
    ///   - internet: The verdict on the Internet.
    ///   - names: The addresses of a target that is a name.
    package func choose(
        _ verdict: Verdict, on subject: Target.Subject, internet: Verdict, names: [IPAddress], anchors: [IPAddress],
        where condition: NetworkCondition
    ) throws(NetlinkError) -> Verdict {
        let routes =
            switch subject {
            case .internet: try defaultRoutes(preferred: verdict, anchors: anchors)
            case .address(let address, zone: nil):
                try routes(to: try sharing([address], internet), preferred: verdict)
            case .prefix(let prefix):
                try routes(to: try sharing([prefix.representative], internet), preferred: verdict)
            case .name: try routes(to: try sharing(names, internet), preferred: verdict)
            // These name the interface themselves.
            case .address, .interface: try routes(to: [], preferred: verdict)
            }
        return verdict.choosing(from: routes, where: condition)
    }

    /// The addresses that are reached by default routes: what has a route of its own is sent by no other.
    private func sharing(_ addresses: [IPAddress], _ internet: Verdict) throws(NetlinkError) -> [IPAddress] {
        let routes = try routes(to: addresses.map { RoutedAddress($0, flow: flow) }, internet: internet)
        return zip(addresses, routes).filter { $1.isByDefault }.map(\.0)
    }

    private func routes(to addresses: [IPAddress], preferred: Verdict) throws(NetlinkError) -> [DefaultRoute] {
        try routes(preferred: preferred) { DefaultRouteSurvey($0, toAnyOf: addresses) }
    }

    private func routes(
        preferred: Verdict, _ survey: (IPAddress.Family) -> DefaultRouteSurvey
    ) throws(NetlinkError) -> [DefaultRoute] {
        var routes: [DefaultRoute] = []
        let hasTunnel = [preferred.ipv4, preferred.ipv6].contains { path in
            path.interfaceIndex.map(view.leadsIntoTunnel) ?? false
        }
        for family in IPAddress.Family.allCases {
            let path = family == .ipv4 ? preferred.ipv4 : preferred.ipv6
            let isTunnelled = path.interfaceIndex.map(view.leadsIntoTunnel) ?? hasTunnel
            let part = path.interfaceIndex.map { addresses(of: $0, family) } ?? []
            if let main = DefaultRoute(preferred: path, family, addresses: part) { routes.append(main) }
            routes += try otherRoutes(than: path, survey(family), pastTunnel: isTunnelled)
        }
        return view.leases?.markingUndecided(routes) ?? routes
    }

    private func otherRoutes(
        than preferred: NetworkPath, _ survey: DefaultRouteSurvey, pastTunnel: Bool
    ) throws(NetlinkError) -> [DefaultRoute] {
        if pastTunnel, !view.policy.letsAnyPassTunnels { return [] }
        var candidates = try survey.candidates(in: view.table, besides: preferred.interfaceIndex) {
            index throws(NetlinkError) in
            try view.condition(of: index).trouble
        }
        if pastTunnel { candidates = candidates.filter { view.policy.first(\.passesTunnels, for: $0.link) == true } }
        guard !candidates.isEmpty else { return [] }
        // An IPv4 lookup for one link never fails, unless it asks for the route itself. An IPv6 route may be for some
        // sources only. A rule may select the table by the mark or by the interface, so both are part of the lookup.
        let questions = candidates.flatMap { candidate in
            survey.anchors.map {
                RouteQuestion(
                    $0, interface: candidate.link.index, source: survey.family == .ipv6 ? candidate.source : nil,
                    mark: mark, flow: flow, matchesTable: true)
            }
        }
        let answers = try view.queries.routes(questions)
        var routes: [DefaultRoute] = []
        for (place, candidate) in candidates.enumerated() {
            let first = place * survey.anchors.count
            let part = answers[first..<first + survey.anchors.count]
            guard let (route, hop) = survey.route(by: candidate.link.index, part) else { continue }
            var other = try defaultRoute(candidate, survey.family, route, hop)
            other.isInChosenTable = other.table == preferred.table ?? DefaultRoute.mainTable
            routes.append(other)
        }
        return routes
    }

    private func defaultRoute(
        _ candidate: DefaultRouteSurvey.Candidate, _ family: IPAddress.Family, _ route: Route, _ hop: NextHop
    ) throws(NetlinkError) -> DefaultRoute {
        let index = candidate.link.index
        let routeKey = DefaultRoute.Key(family: family, interface: index)
        var entry: Neighbour?
        if let gateway = hop.gateway {
            entry = try view.queries.neighbourEntry(Neighbour.Key(interface: index, address: gateway))
        }
        let condition = try view.condition(of: index)
        var result = DefaultRoute(
            key: routeKey, name: candidate.link.name,
            traits: condition.traits, isPreferred: false)
        result.lower = condition.lower
        result.metric = route.metric ?? 0
        result.table = route.table
        result.gateway = hop.gateway
        result.source = candidate.source
        if hop.gateway != nil { result.neighbour = entry?.state ?? NeighbourState.none }
        result.addresses = addresses(of: index, family)
        result.dropsReplies = family == .ipv4 ? try view.queries.filtersStrictly(index) : false
        return result
    }

    /// The links that can carry packets and have an address, by which names and hosts may be reached without a default
    /// route.
    package func connectedLinks() throws(NetlinkError) -> [InterfaceIndex] {
        var found: Set<InterfaceIndex> = []
        for address in [IPAddress(ipv4: 0), IPAddress(ipv6: 0, 0)] {
            let survey = DefaultRouteSurvey(address.family, toAnyOf: [address])
            let links = try survey.candidates(in: view.table, besides: nil) { index throws(NetlinkError) in
                try view.condition(of: index).trouble
            }
            found.formUnion(links.map(\.link.index))
        }
        return found.sorted()
    }

    private func addresses(of index: InterfaceIndex, _ family: IPAddress.Family) -> [InterfaceAddress] {
        (view.table.addresses[index] ?? []).filter { $0.address.family == family }
    }
}
