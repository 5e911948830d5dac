package import ReachCore

extension PathFinder {
    /// The default routes: in each family the preferred one, and those of other interfaces; see ``DefaultRouteSurvey``.
    ///
    /// The preferred ones cost no lookup. Each other link with an address costs a few, all sent at once.
    ///
    /// - Parameter preferred: The verdict on the Internet.
    package func defaultRoutes(preferred: Verdict, anchors: [IPAddress]) throws(NetlinkError) -> [DefaultRoute] {
        var routes: [DefaultRoute] = []
        for family in IPAddress.Family.allCases {
            let path = family == .ipv4 ? preferred.ipv4 : preferred.ipv6
            let own = path.interfaceIndex.map { addresses(of: $0, family) } ?? []
            if let main = DefaultRoute(preferred: path, family, addresses: own) { routes.append(main) }
            routes += try otherRoutes(than: path.interfaceIndex, DefaultRouteSurvey(family, among: anchors))
        }
        return routes
    }

    private func otherRoutes(
        than preferred: InterfaceIndex?, _ survey: DefaultRouteSurvey
    ) throws(NetlinkError) -> [DefaultRoute] {
        let candidates = survey.candidates(in: view.table, besides: preferred) { view.condition(of: $0).trouble }
        guard !candidates.isEmpty else { return [] }
        // An IPv4 lookup for one link never fails, unless it asks for the route itself. An IPv6 route may be for some
        // sources only. A rule may select the table by the mark or by the interface, so both are part of the lookup.
        let questions = candidates.flatMap { candidate in
            survey.anchors.map {
                RouteQuestion(
                    $0, interface: candidate.link.index, source: survey.family == .ipv6 ? candidate.source : nil,
                    mark: mark, matchesTable: true)
            }
        }
        let answers = try view.queries.routes(questions)
        var routes: [DefaultRoute] = []
        for (place, candidate) in candidates.enumerated() {
            let first = place * survey.anchors.count
            let own = answers[first..<first + survey.anchors.count]
            guard let (route, hop) = survey.route(by: candidate.link.index, own) else { continue }
            routes.append(try defaultRoute(candidate, survey.family, route, hop))
        }
        return routes
    }

    private func defaultRoute(
        _ candidate: DefaultRouteSurvey.Candidate, _ family: IPAddress.Family, _ route: Route, _ hop: NextHop
    ) throws(NetlinkError) -> DefaultRoute {
        let index = candidate.link.index
        let condition = view.condition(of: index, underlay: try view.underlay(of: index))
        var result = DefaultRoute(
            key: DefaultRoute.Key(family: family, interface: index), name: candidate.link.name,
            traits: condition.traits, isPreferred: false)
        result.metric = route.metric ?? 0
        result.gateway = hop.gateway
        result.source = candidate.source
        if let gateway = hop.gateway {
            let key = Neighbour.Key(interface: index, address: gateway)
            result.neighbour = try view.queries.neighbour(key) ?? NeighbourState.none
        }
        result.addresses = addresses(of: index, family)
        result.dropsReplies = family == .ipv4 ? try view.queries.filtersStrictly(index) : false
        return result
    }

    private func addresses(of index: InterfaceIndex, _ family: IPAddress.Family) -> [InterfaceAddress] {
        (view.table.addresses[index] ?? []).filter { $0.address.family == family }
    }
}
