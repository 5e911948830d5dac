internal import ReachCore
internal import ReachKernel

extension ReachabilityState {
    /// The state with what the kernel says now of the gateways, where people read of them (`StatusText`). The daemon's
    /// knowledge may be some seconds old: the kernel reports no change of an entry that it begins to doubt while it is
    /// used.
    var withPresentGateways: ReachabilityState {
        guard status == .reachable, connectivity == .limited || connectivity == .none,
            [ipv4, ipv6].contains(where: { $0.gateway != nil && $0.neighbour == .reachable }),
            let queries = try? KernelQueries()
        else { return self }
        var state = self
        state.ipv4.askGateway(queries)
        state.ipv6.askGateway(queries)
        return state
    }
}

extension NetworkPath {
    fileprivate mutating func askGateway(_ queries: KernelQueries) {
        guard let gateway, let interfaceIndex, neighbour == .reachable else { return }
        neighbour = try? queries.neighbour(Neighbour.Key(interface: interfaceIndex, address: gateway))
    }
}
