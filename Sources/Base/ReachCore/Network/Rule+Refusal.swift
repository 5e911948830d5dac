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
    ///   - routes: Returns the routes of a type in all tables. Called only if a rule could be the one.
    package static func refusing(
        _ destination: IPAddress, because reason: Reason, among rules: [Rule], mark: UInt32?, interface: String? = nil,
        source: IPAddress? = nil, routes: (RouteType) -> [Route]
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
            destination: destination, source: source, mark: mark ?? 0, interface: interface)
        let walk = RuleTraversal(rules, packet: packet, end: .refusal(errno: number))
        guard let last = walk.last else { return nil }
        let tables = Set(walk.passed.map(\.table))
        let refuses = { (route: Route) in tables.contains(route.table) && route.destination.contains(destination) }
        return type.map { routes($0).contains(where: refuses) } == true ? nil : last
    }
}
