extension Rule {
    /// The rule that refuses a packet; `nil` if none does, or if a route does before.
    ///
    /// The kernel reports only an error, which is the same for a rule and for a route.
    ///
    /// - Parameters:
    ///   - rules: All rules, in the kernel's order.
    ///   - reason: Why the lookup failed.
    ///   - interface: The interface to which the sender is bound.
    ///   - source: The source of the packets, where it decides about rules.
    ///   - user: The user who sends.
    ///   - routes: Returns the routes of a type in all tables. Called only if a rule could be the one.
    package static func refusing(
        _ destination: IPAddress, because reason: Reason, among rules: [Rule], mark: UInt32?, interface: String? = nil,
        source: IPAddress? = nil, user: UInt32? = nil, routes: (RouteType) -> [Route]
    ) -> Rule? {
        let (number, type): (Int32, RouteType?)
        switch reason {
        // The kernel has no other error for a rule of the type `unreachable`; of IPv6 it reports the type.
        case .noRoute, .unreachable: (number, type) = (LinuxError.networkUnreachable, nil)
        case .prohibited: (number, type) = (LinuxError.accessDenied, .prohibit)
        case .blackhole: (number, type) = (LinuxError.invalidArgument, .blackhole)
        default: return nil
        }
        let family = destination.family
        // By their places, since a rule is large and would be copied: each loss asks.
        let canRefuse = rules.indices.contains {
            rules[$0].family == family && rules[$0].action.errorNumber == number
        }
        guard canRefuse else { return nil }
        let packet = RuleTraversal.Packet(
            destination: destination, source: source, mark: mark ?? 0, interface: interface, user: user)
        let walk = RuleTraversal(rules, packet: packet, end: .refusal(errno: number))
        // An error that only a rule or a route of that type gives is that of a rule which may match, if no such route
        // is there.
        guard let last = walk.last ?? (type == nil ? nil : walk.uncertain.first) else { return nil }
        let tables = Set(walk.passed.map(\.table))
        let refuses = { (route: Route) in tables.contains(route.table) && route.destination.contains(destination) }
        return type.map { routes($0).contains(where: refuses) } == true ? nil : last
    }

    /// What keeps a packet without a route from routes of the tables that its rules name.
    package enum Hindrance: Sendable {
        /// A route of the type `throw` ends the search in its table, which has another route for the packet.
        case thrown(Route)
        /// The rule (`suppress_prefixlength`) ignores the route, and no other rule leads to its table.
        case ignored(Route, by: Rule)
    }

    /// What keeps a packet from a route, where the kernel has none for it and no rule refuses it; `nil` if there is no
    /// route to be kept from.
    ///
    /// - Parameters:
    ///   - rules: All rules, in the kernel's order.
    ///   - interface: The interface to which the sender is bound.
    ///   - source: The source of the packets, where it decides about rules.
    ///   - user: The user who sends.
    ///   - routes: Returns the routes of a type in all tables. Called for all routes only if a rule or another route
    ///     hides some.
    package static func hindrance(
        to destination: IPAddress, among rules: [Rule], mark: UInt32?, interface: String? = nil,
        source: IPAddress? = nil, user: UInt32? = nil, routes: (RouteType) -> [Route]
    ) -> Hindrance? {
        let thrown = routes(.throw)
        // By their places, since a rule is large and would be copied: each loss asks.
        guard !thrown.isEmpty || rules.indices.contains(where: { rules[$0].suppressedPrefixLength != nil }) else {
            return nil
        }
        let packet = RuleTraversal.Packet(
            destination: destination, source: source, mark: mark ?? 0, interface: interface, user: user)
        let walk = RuleTraversal(rules, packet: packet, end: .refusal(errno: LinuxError.networkUnreachable))
        guard walk.last == nil else { return nil }
        let tables = Set(walk.passed.map(\.table))
        func covering(_ routes: [Route]) -> [Route] {
            routes.filter { tables.contains($0.table) && $0.destination.contains(destination) }
        }
        if let route = covering(thrown).max(by: { $0.destination.length < $1.destination.length }),
            route.isOfMainDefault || covering(routes(.unicast)).contains(where: { $0.table == route.table })
        {
            return .thrown(route)
        }
        let ignoring = walk.passed.filter { rule in
            rule.suppressedPrefixLength != nil
                && !walk.passed.contains { $0.table == rule.table && $0.suppressedPrefixLength == nil }
        }
        guard !ignoring.isEmpty else { return nil }
        let ignored = covering(routes(.unicast))
        for rule in ignoring {
            guard let route = ignored.first(where: { $0.table == rule.table }) else { continue }
            return .ignored(route, by: rule)
        }
        return nil
    }
}

extension Route {
    /// Whether it stands where the machine's default route usually does.
    fileprivate var isOfMainDefault: Bool { destination.length == 0 && table == 254 }
}
