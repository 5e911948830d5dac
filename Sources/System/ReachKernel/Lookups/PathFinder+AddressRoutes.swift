package import ReachCore

extension PathFinder {
    /// How the kernel would send to each of these addresses, in their order. All lookups are one exchange with the
    /// kernel; IPv6 addresses for which that finds no route cost one more each, since a route may be for some sources
    /// only.
    ///
    /// - Parameter internet: The verdict on the Internet, which shows which tables lead there.
    package func routes(
        to addresses: [RoutedAddress], internet: Verdict
    ) throws(NetlinkError) -> [AddressRoute] {
        let rule = DefaultRouteRule(internet: internet)
        var questions: [RouteQuestion] = []
        var places: [Int] = []
        var routes = [AddressRoute](repeating: .none, count: addresses.count)
        for (place, wanted) in addresses.enumerated() {
            var interface: InterfaceIndex?
            if let zone = wanted.zone {
                guard let link = view.table.link(named: zone) else { continue }
                interface = link.index
            }
            places.append(place)
            questions.append(
                RouteQuestion(
                    wanted.address, interface: interface, mark: mark, flow: wanted.flow, matchesTable: true))
        }
        let answers = try choosingHops(try lookUp(questions), to: questions)
        for (place, answer) in zip(places, answers) {
            routes[place] = try route(to: addresses[place].address, answer, rule)
        }
        return routes
    }

    /// The answers in which a route with several next hops has only the one that the kernel chooses for the address.
    private func choosingHops(
        _ answers: [RouteAnswer], to questions: [RouteQuestion]
    ) throws(NetlinkError) -> [RouteAnswer] {
        let places = answers.indices.filter { place in
            if case .route(let route) = answers[place] { route.hops.count > 1 } else { false }
        }
        guard !places.isEmpty else { return answers }
        var chosen = answers
        let plain = places.map { place in
            var question = questions[place]
            question.matchesTable = false
            return question
        }
        for (place, answer) in zip(places, try lookUp(plain)) {
            guard case .route(var route) = answers[place], case .route(let other) = answer,
                let hop = other.hops.first
            else { continue }
            route.hops = [hop]
            chosen[place] = .route(route)
        }
        return chosen
    }

    private func route(
        to address: IPAddress, _ answer: RouteAnswer, _ rule: DefaultRouteRule
    ) throws(NetlinkError) -> AddressRoute {
        guard case .route(let route) = answer else { return answer.isWithoutRoute ? .byDefault() : .none }
        switch route.type {
        case .local: return try loopback(address).map(AddressRoute.local) ?? .none
        case .unicast, .anycast, .multicast: break
        default: return route.destination.length == 0 ? .byDefault() : .none
        }
        if rule.isDefault(route), !isTunnel(on: route, unlike: rule) {
            return .byDefault(route.hops.first { !$0.flags.contains(.dead) }?.interface)
        }
        return try ownRoute(to: address, route).map(AddressRoute.own) ?? .none
    }

    /// Whether a default route leads into a tunnel by which the Internet is not reached, or the Internet is reached by
    /// a tunnel and this address is not: only one half of the addresses may go into a tunnel (0.0.0.0/1), and it may
    /// have come just now.
    private func isTunnel(on route: Route, unlike rule: DefaultRouteRule) -> Bool {
        let usual = rule.interface(of: route.destination.address.family)
        guard let index = route.hops.first?.interface, index != usual else { return false }
        return view.leadsIntoTunnel(index) || (usual.map(view.leadsIntoTunnel) ?? false)
    }

    /// - Returns: `nil` if the link cannot carry packets.
    private func ownRoute(to address: IPAddress, _ route: Route) throws(NetlinkError) -> HostRoute? {
        guard let hop = route.hops.first(where: { !$0.flags.contains(.dead) }), let index = hop.interface,
            let link = view.table.links[index]
        else { return nil }
        // What a route sends to the machine itself arrives nowhere.
        guard !link.flags.contains(.loopback) else { return nil }
        let condition = try view.condition(of: index)
        guard condition.trouble == nil else { return nil }
        let addresses = (view.table.addresses[index] ?? []).filter { $0.address.family == address.family }
        let usable = addresses.filter(\.isUsable)
        let sources = Set((usable.isEmpty ? addresses.filter(\.isReady) : usable).map(\.address))
        // While the only addresses are tentative, the kernel would send from another link's.
        if sources.isEmpty, !addresses.isEmpty { return nil }
        var host = HostRoute(to: address, interface: index, name: link.name)
        host.traits = condition.traits
        host.metric = route.metric ?? 0
        host.gateway = hop.gateway
        host.sources = sources
        return host
    }

    /// The way to this machine itself.
    private func loopback(_ address: IPAddress) throws(NetlinkError) -> HostRoute? {
        // The kernel gives the loopback link the same index in every namespace.
        guard let link = view.table.links[1], link.flags.contains(.loopback), link.isUsable else { return nil }
        var host = HostRoute(to: address, interface: link.index, name: link.name)
        host.traits = try view.condition(of: link.index).traits
        host.isLocal = true
        return host
    }
}
