internal import ReachCore
internal import ReachQueue
internal import ReachTransfer

/// Chooses the path to each address of an attempt: the one that the kernel would take, unless that does not work and
/// the request may go by another default route. Confined to the loop.
struct AttemptRouter {
    let network: any QueueNetwork
    let feed: PathFeed
    let order: AttemptOrder
    /// What is sent to the addresses.
    let flow: PacketFlow
    /// The addresses come from name servers.
    let isNamed: Bool
    /// Whether they may be a portal's.
    let doubt: AddressDoubt

    struct Choice {
        /// The ways to the addresses that the request may take, in the order of the addresses.
        var ways: [TransferWay] = []
        /// The path of the first of them.
        var path: QueuePath?
        /// How the order's destination is reached; `nil` where the addresses are another host's.
        var destination: DestinationRoute?
    }

    /// - Returns: `nil` while routes are not known: the attempt then goes by the ordered path.
    ///
    /// - Parameter isDestination: Whether the addresses are those of the order's destination, or of its proxy.
    func choose(among addresses: [IPAddress], zone: String?, isDestination: Bool) -> Choice? {
        guard let routes = network.routes(to: addresses.map { RoutedAddress($0, zone: zone, flow: flow) }) else {
            return nil
        }
        var choice = Choice()
        if isDestination {
            choice.destination = feed.route(
                to: order.destination, by: routes, of: addresses, isNamed: isNamed, doubt: doubt)
        }
        for (address, route) in zip(addresses, routes) {
            guard let (path, interface) = way(to: address, by: route) else { continue }
            choice.ways.append(TransferWay(address, by: interface))
            if choice.path == nil { choice.path = path }
        }
        return choice
    }

    private func way(to address: IPAddress, by route: AddressRoute) -> (QueuePath, InterfaceBinding?)? {
        switch route {
        case .none: return nil
        case .local(let host):
            // Routing alone finds this machine: an address of another of its interfaces is not on this one.
            let path = feed.path(by: [host], isNamed: isNamed)
            return allows(path) ? (path, nil) : nil
        case .own(let host):
            let path = feed.path(by: [host], isNamed: isNamed, doubt: doubt)
            return allows(path) ? (path, InterfaceBinding(path)) : nil
        case .byDefault(let chosen):
            return defaultPath(to: address, chosen: chosen).map { ($0, InterfaceBinding($0)) }
        }
    }

    /// The kernel's own choice for this address, as long as nothing speaks against it; else the ordered path, if it is
    /// a default route, or else the best one.
    private func defaultPath(to address: IPAddress, chosen: InterfaceIndex?) -> QueuePath? {
        let familyPaths = (feed.last?.paths ?? []).filter { $0.families.contains(address.family) }
        let paths = (doubt.concerns(address) ? familyPaths.map(doubt.applied) : familyPaths).filter(allows)
        // Where a way was silent, the scheduler has decided which one is taken.
        if !order.path.isUncertain, let chosen = chosen.map(UInt32.init(bitPattern:)),
            let path = paths.first(where: { $0.interfaceIndex == chosen }), !path.isDoubted
        {
            return path
        }
        if let ordered = paths.first(where: { $0.interfaceIndex == order.path.interfaceIndex }) { return ordered }
        return paths.min { $0.isPreferred(to: $1, in: address.family) }
    }

    private func allows(_ path: QueuePath) -> Bool {
        var condition = order.condition
        // The gate has looked at the host itself.
        condition.isTargetReachable = false
        return condition.unmet(on: path).isEmpty && path.takes(exposesSecrets: order.exposesSecrets)
            && !order.bar.bars(path)
    }
}

extension InterfaceBinding {
    fileprivate init(_ path: QueuePath) { self.init(name: path.interface, index: path.interfaceIndex) }
}
