internal import ReachCore
internal import ReachLoop
package import ReachQueue
internal import ReachTransfer

/// Routes to destinations.
extension QueueEngine {
    package func followRoute(_ destination: Destination) { routes.follow(destination) }

    package func unfollowRoute(_ destination: Destination) { routes.unfollow(destination) }

    package func lookUp(_ destination: Destination, for owner: UInt32) {
        guard case .name(let name) = server(of: destination) else {
            // The proxy's address is known without a lookup.
            return loop.afterEvents { [weak self] in self?.lookedUp(destination, self?.addresses(of: destination)) }
        }
        names.newEpoch()
        _ = names.resolve(NameQuestion(name, owner: owner), within: Self.lookupLimit) { [weak self] answer in
            self?.lookedUp(destination, try? answer.get())
        }
    }

    private static let lookupLimit = Duration.seconds(15)

    private func addresses(of destination: Destination) -> [IPAddress]? {
        if case .address(let address, _) = server(of: destination) { [address] } else { nil }
    }

    private func lookedUp(_ destination: Destination, _ addresses: [IPAddress]?) {
        guard let addresses,
            let found = network.routes(to: addresses.map { RoutedAddress($0, flow: flow(to: destination)) })
        else {
            return driver.send(.lookedUp(destination, nil))
        }
        routes.learn(addresses, of: destination)
        let route = feed.route(
            to: destination, by: found, of: addresses, isNamed: true,
            doubt: AddressDoubt(of: destination, at: server(of: destination)))
        driver.send(.lookedUp(destination, route))
    }

    /// The host that a connection for a destination goes to: the proxy, where there is one.
    func server(of destination: Destination) -> Target.Subject? {
        if let url = try? TransferURL(destination.origin + "/"),
            let proxy = attempts.proxy(for: url, destination.proxy).url
        {
            return (try? Target(proxy.description))?.subject
        }
        return destination.target?.subject
    }

    /// What is sent to that host.
    func flow(to destination: Destination) -> PacketFlow? {
        guard let url = try? TransferURL(destination.origin + "/") else { return nil }
        return .tcp((attempts.proxy(for: url, destination.proxy).url ?? url).port)
    }

    func choose(
        _ order: AttemptOrder, _ target: RouteTarget, among addresses: [IPAddress]
    ) -> AttemptRouter.Choice? {
        let proxy = target.proxy.url
        let address = proxy == nil ? target.url.address : proxy?.address
        var zone: String?
        // Only an IPv6 address has one.
        if address?.family == .ipv6,
            case .address(_, let given)? = (try? Target((proxy ?? target.url).description))?.subject
        {
            zone = given
        }
        if let remembered = memo.choice(for: order, target, addresses, zone: zone, at: moment) { return remembered }
        let isNamed = address == nil
        // Of a proxy's address no more is asked.
        let doubt = AddressDoubt(
            isNamed && proxy == nil && !target.url.isSecure && PublicName.isPublic(target.url.host))
        let router = AttemptRouter(
            network: network, feed: feed, order: order, flow: .tcp((proxy ?? target.url).port), isNamed: isNamed,
            doubt: doubt)
        let isDestination = order.destination.isOrigin(of: target.url)
        let choice = router.choose(among: addresses, zone: zone, isDestination: isDestination)
        if isDestination, isNamed, choice?.destination?.needsOwnGroup(besides: feed.last?.paths ?? []) == true {
            routes.learn(addresses, of: order.destination)
        }
        // Only now: the lookup may have found that the network has changed.
        memo.note(
            choice, in: RouteSituation(order, target, addresses, zone: zone), at: moment,
            isReported: network.reportsRoutes(to: addresses))
        return choice
    }

    private var moment: RouteMemo.Moment {
        RouteMemo.Moment(turn: loop.turn, version: network.routesVersion, now: SystemClock.boot)
    }

    /// The interface for queries to a name server.
    ///
    /// - Throws: Where the server's own route cannot be used.
    func interface(
        for server: ResolverConfiguration.Server, boundTo bound: InterfaceBinding
    ) throws(SystemError) -> InterfaceBinding? {
        let isMetered = feed.last?[interfaceIndex: bound.index]?.isMetered ?? false
        return try NameServerRoute(to: server, boundTo: bound, isMetered: isMetered, routes: network.routes)
            .interface()
    }
}

extension Destination {
    /// Whether the URL is one of this destination.
    fileprivate func isOrigin(of url: TransferURL) -> Bool {
        let origin = origin
        // Mostly it is, and need not be read again.
        return origin == "\(url.scheme)://\(url.host):\(url.port)"
            || (try? Destination(url: url.description))?.origin == origin
    }
}
