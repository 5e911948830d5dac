internal import ReachCore

/// What paths rest on, for the observer.
extension ReachabilityEngine {
    /// Says what the paths rest on now. Called whenever a state, the network's snapshot or a watch of routes has
    /// changed.
    func noteSupport() { observer?.support = findSupport() }

    /// `nil` while any change may touch them.
    private func findSupport() -> PathSupport? {
        guard observationError == nil, let internet = internet.verdict, internet.status == .reachable else {
            return nil
        }
        var support = PathSupport(connected: Set(network?.links ?? []), hasRouteWatches: !routeWatches.isEmpty)
        support.add(internet.ipv4)
        support.add(internet.ipv6)
        for watch in watches.values {
            let state = watch.machine.state
            guard state.status == .reachable, !state.isHeld, !state.isStale else { return nil }
            support.add(state.ipv4)
            support.add(state.ipv6)
            support.links.formUnion(state.availableInterfaces.map(\.index))
        }
        for route in network?.routes ?? [] {
            support.links.insert(route.key.interface)
            support.sources.formUnion(route.sources)
        }
        return support
    }

    /// Whether one of these links, or one above it, may carry a default route or the path of a watched target.
    func mayCarry(_ links: Set<InterfaceIndex>, _ routes: [DefaultRoute]) -> Bool {
        guard !links.isEmpty, let view = observer?.view, let internet = internet.verdict else { return false }
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
