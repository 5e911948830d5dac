internal import ReachCore

/// The links that carry paths, from one evaluation to the next.
struct CarryingLinks {
    /// The inner `nil` if every link counts, the outer one until they are found.
    private(set) var found: Set<InterfaceIndex>??

    mutating func note(_ links: Set<InterfaceIndex>?) { found = .some(links) }

    mutating func forget() { found = nil }
}

/// What paths rest on.
struct PathSupport {
    var links: Set<InterfaceIndex>
    /// The addresses from which packets are sent. With an address, the kernel removes the routes that prefer it as
    /// source.
    var sources: Set<IPAddress>
}

extension ReachabilityEngine {
    /// The links that carry the paths of watched targets or of the network's snapshot, and all below them; `nil` if
    /// every link counts: for a target that is not reachable, any link may be the root cause, or the way back.
    func findCarryingLinks() -> Set<InterfaceIndex>? {
        guard let carried = findRoutedLinks() else { return nil }
        return observer?.view?.carriers(of: carried.union(network?.links ?? []))
    }

    /// The links of the paths of watched targets and of default routes.
    private func findRoutedLinks() -> Set<InterfaceIndex>? {
        guard observationError == nil, observer?.view != nil, let internet, internet.status == .reachable else {
            return nil
        }
        var carried = Set([internet.ipv4.interfaceIndex, internet.ipv6.interfaceIndex].compactMap(\.self))
        for watch in watches.values {
            let state = watch.machine.state
            guard state.status == .reachable, !state.isHeld, !state.isStale else { return nil }
            for index in [state.ipv4.interfaceIndex, state.ipv6.interfaceIndex] {
                if let index { carried.insert(index) }
            }
            carried.formUnion(state.availableInterfaces.map(\.index))
        }
        for route in network?.routes ?? [] { carried.insert(route.key.interface) }
        return carried
    }

    /// What the paths of watched targets and default routes rest on; `nil` if any change may touch them, or a route
    /// that someone looks up.
    func findPathSupport() -> PathSupport? {
        guard routeWatches.isEmpty, let carried = findRoutedLinks(), let internet,
            let links = observer?.view?.carriers(of: carried)
        else { return nil }
        var sources = Set([internet.ipv4.source, internet.ipv6.source].compactMap(\.self))
        for watch in watches.values {
            sources.formUnion([watch.machine.state.ipv4.source, watch.machine.state.ipv6.source].compactMap(\.self))
        }
        for route in network?.routes ?? [] { sources.formUnion(route.sources) }
        return PathSupport(links: links, sources: sources)
    }

    /// Whether one of these links, or one above it, may carry a default route or the path of a watched target.
    func mayCarry(_ links: Set<InterfaceIndex>, _ routes: [DefaultRoute]) -> Bool {
        guard !links.isEmpty, let view = observer?.view, let internet else { return false }
        var carried = Set(routes.map(\.key.interface))
        carried.formUnion([internet.ipv4.interfaceIndex, internet.ipv6.interfaceIndex].compactMap(\.self))
        for watch in watches.values {
            // A condition may exclude a path by the network behind its link, and the state then has no interface.
            guard watch.condition == nil else { return true }
            let state = watch.machine.state
            carried.formUnion([state.ipv4.interfaceIndex, state.ipv6.interfaceIndex].compactMap(\.self))
        }
        guard !carried.isEmpty else { return false }
        return view.carriers(of: carried).map { !$0.isDisjoint(with: links) } ?? true
    }
}
