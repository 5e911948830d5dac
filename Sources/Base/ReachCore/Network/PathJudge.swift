/// Decides from the result of a route lookup and the state of the links whether packets would get anywhere.
///
/// A lookup alone is right in about nine of ten cases. In nearly all others the route is good, but its link cannot
/// carry packets. The judge therefore also checks the link, the links that carry it, the source address and the first
/// hop.
package struct PathJudge {
    private let table: NetworkTable
    private let condition: (InterfaceIndex) -> LinkCondition

    /// Creates a judge.
    ///
    /// - Parameter condition: Returns the condition of a link in `table`.
    package init(table: NetworkTable, condition: @escaping (InterfaceIndex) -> LinkCondition) {
        self.table = table
        self.condition = condition
    }

    /// Creates a judge.
    ///
    /// - Parameter stack: The links of `table` with their kinds.
    package init(table: NetworkTable, stack: LinkStack) {
        self.init(table: table, condition: stack.condition)
    }

    /// The path to `destination` that `answer` describes.
    ///
    /// - Parameters:
    ///   - metric: The metric of the matching route, if it was queried.
    ///   - isInternet: Whether `destination` is a reference address, which is never on this machine nor on its link.
    ///   - isByDefault: Whether the matching route is one for all addresses. It matters where ``dependsOnMatch(_:to:)``
    ///     says so.
    package func path(
        to destination: IPAddress, answer: RouteAnswer, metric: UInt32? = nil, isInternet: Bool = false,
        isByDefault: Bool = false
    ) -> NetworkPath {
        switch answer {
        case .refused(let number): return pathToDownLoopback(destination) ?? Self.path(refusedWith: number)
        case .route(let route):
            if let reason = Self.reason(for: route.type) { return NetworkPath(status: .notReachable, reason: reason) }
            guard let hop = route.hops.first, let index = hop.interface else {
                return NetworkPath(status: .unknown, reason: .cannotObserve)
            }
            let condition = condition(index)
            var path = describe(interface: index, condition)
            path.gateway = hop.gateway
            path.source = route.source
            path.table = route.table
            path.metric = metric ?? route.metric
            let key = Neighbour.Key(interface: index, address: hop.gateway ?? destination)
            path.neighbour = table.neighbours[key]
            path.reason =
                table.links[index] == nil
                ? .noInterface
                : reason(
                    against: route, via: hop, on: index, condition.trouble, to: destination, isInternet: isInternet,
                    isByDefault: isByDefault || isInternet)
            path.status = path.reason == nil ? .reachable : .notReachable
            return path
        }
    }

    /// While the loopback link is down, the kernel has no route to ::1 and says that the network is unreachable. One of
    /// 127.0.0.1 it has.
    private func pathToDownLoopback(_ destination: IPAddress) -> NetworkPath? {
        guard destination.isLoopback,
            let link = table.links.values.first(where: { $0.flags.contains(.loopback) && !$0.flags.contains(.up) })
        else { return nil }
        var path = describe(interface: link.index, condition(link.index))
        (path.status, path.reason) = (.notReachable, .linkDown)
        return path
    }

    /// The path for the target `interface:NAME`: whether the interface is up, has a carrier and a usable address.
    package func path(ofInterface index: InterfaceIndex, family: IPAddress.Family) -> NetworkPath {
        guard table.links[index] != nil else { return NetworkPath(status: .notReachable, reason: .noInterface) }
        let condition = condition(index)
        var path = describe(interface: index, condition)
        let ofFamily = (table.addresses[index] ?? []).filter { $0.address.family == family }
        let isLoopback = table.links[index]?.flags.contains(.loopback) == true
        let usable = isLoopback ? ofFamily.first(where: \.isReady) : ofFamily.bestSource
        path.source = usable?.address
        path.reason = condition.trouble ?? (usable == nil ? .noAddress : nil)
        path.status = path.reason == nil ? .reachable : .notReachable
        return path
    }

    private func describe(interface index: InterfaceIndex, _ condition: LinkCondition) -> NetworkPath {
        var path = NetworkPath(status: .unknown)
        path.interfaceIndex = index
        guard let link = table.links[index] else { return path }
        path.interface = link.name
        path.traits = condition.traits
        path.lower = condition.lower
        return path
    }

    private func reason(
        against route: Route, via hop: NextHop, on index: InterfaceIndex, _ trouble: Reason?,
        to destination: IPAddress, isInternet: Bool, isByDefault: Bool
    ) -> Reason? {
        let isLoopback = table.links[index]?.flags.contains(.loopback) == true
        // What a route sends to the machine itself arrives nowhere, unless the address is the machine's own.
        if isLoopback, isInternet || route.type == .unicast { return .blackhole }
        // connect() refuses the address of all hosts of a network (EACCES).
        if route.type == .broadcast { return .prohibited }
        if let trouble { return trouble }
        if hop.flags.contains(.dead) { return .noCarrier }
        if route.type != .local, !isLoopback, !hasUsableSource(route, to: destination, isByDefault: isByDefault) {
            return .noAddress
        }
        return neighbourTrouble(hop, on: index, to: destination)
    }

    /// Whether the route's source address lets packets reach the destination, by its scope and by its state.
    ///
    /// If all addresses are tentative, the kernel sends from ::1 and nothing leaves the machine. Without an address for
    /// the network it sends IPv6 from a link-local address and IPv4 from 0.0.0.0, which the first router drops.
    package func hasUsableSource(_ route: Route, to destination: IPAddress, isByDefault: Bool) -> Bool {
        guard let source = route.source, !source.isUnspecified, !source.isLoopback,
            SourceScope.reaches(
                destination, from: source, via: route.hops.first?.gateway, isByDefault: isByDefault,
                resolves: resolves(route))
        else { return false }
        guard source.family == .ipv6, !source.isLinkLocal else { return true }
        // Two links may have the same address, and it may be a duplicate on only one of them.
        let entries = table.entries(of: source)
        // A deprecated source works (RFC 4862, 5.5.4). The kernel chooses one only where it has no other (RFC 6724,
        // rule 3).
        return entries.isEmpty || entries.contains(where: \.isReady)
    }

    /// Whether the source reaches the destination by a route for its network, and not by one for all addresses: a
    /// lookup does not say by which it was found.
    package func dependsOnMatch(_ route: Route, to destination: IPAddress) -> Bool {
        route.type == .unicast && hasUsableSource(route, to: destination, isByDefault: false)
            && !hasUsableSource(route, to: destination, isByDefault: true)
    }

    private func resolves(_ route: Route) -> Bool {
        route.hops.first?.interface.flatMap { table.links[$0] }?.resolvesNeighbours ?? true
    }

    private func neighbourTrouble(_ hop: NextHop, on index: InterfaceIndex, to destination: IPAddress) -> Reason? {
        let key = Neighbour.Key(interface: index, address: hop.gateway ?? destination)
        guard table.neighbours[key] == .failed else { return nil }
        return hop.gateway == nil ? .neighbourUnreachable : .gatewayUnreachable
    }

    private static func reason(for type: RouteType) -> Reason? {
        switch type {
        case .blackhole: .blackhole
        case .unreachable: .unreachable
        case .prohibit: .prohibited
        case .throw: .noRoute
        default: nil
        }
    }

    /// The path after a refused lookup. Only the error number distinguishes the reasons (`ip_route_output_key_hash_rcu`
    /// and `fib_props` in the kernel). Any other number means that the query failed, not the network.
    private static func path(refusedWith number: Int32) -> NetworkPath {
        let reason: Reason
        switch number {
        case LinuxError.networkUnreachable: reason = .noRoute
        case LinuxError.hostUnreachable: reason = .unreachable
        case LinuxError.accessDenied: reason = .prohibited
        case LinuxError.invalidArgument: reason = .blackhole
        case LinuxError.networkDown: reason = .linkDown
        case LinuxError.noDevice: reason = .noInterface
        default: return NetworkPath(status: .unknown, reason: .cannotObserve)
        }
        return NetworkPath(status: .notReachable, reason: reason)
    }
}

/// Whether a source can reach a destination, by what their addresses mean: the kernel has a route for either.
///
/// A unique local address (RFC 4193) counts as wide. It reaches the Internet wherever a router or a tunnel's far end
/// translates it, as for containers and by many VPNs, and nothing on this machine shows whether one does.
package enum SourceScope {
    /// - Parameters:
    ///   - isByDefault: Whether the route is one for all addresses, and not for a network that may be on the link.
    ///   - resolves: Whether the link finds hosts by their addresses, as Ethernet does. A tunnel may translate.
    package static func reaches(
        _ destination: IPAddress, from source: IPAddress, via gateway: IPAddress?, isByDefault: Bool, resolves: Bool
    ) -> Bool {
        guard source.isLinkLocal, !destination.isLinkLocal, !destination.isMulticast else { return true }
        // No router forwards it, and the kernel chooses one only where it has no other (RFC 4291, 2.5.6).
        guard source.family == .ipv4 else { return false }
        // An address of 169.254.0.0/16 is what a machine gives itself where no DHCP server answers. Its default route
        // leads to the link itself, on which a private address may be, but no host of the Internet is; and no router
        // forwards it (RFC 3927, 2.7). One with a gateway was configured on purpose: by virtual machines whose host
        // translates it.
        return gateway != nil || !isByDefault || !resolves || destination.scope <= .site
    }
}
