internal import ReachCore
internal import ReachLoop
internal import ReachProbe
internal import ReachQueue
internal import ReachQueueRuntime
internal import ReachTransfer

/// Finds out whether a path works: asks the endpoints of `[connectivity]` over it, whatever the validator has proved.
final class EndpointPathChecker: PathChecker {
    private let loop: EventLoop
    private let transfers: SharedTransfers
    private var endpoints: [ConnectivityEndpoint] = []
    private var proxies = TransferProxies.none
    /// Created at the first check, as the transfer engine is.
    private var made: PathProbe?
    /// Called when a path turns out not to work.
    var onBrokenPath: () -> Void = {}
    /// Returns how long a check over an interface may take: as long as those of the validator.
    var patience: (_ interface: String, IPAddress.Family) -> Duration = { _, _ in Configuration().connectivity.timeout }

    init(loop: EventLoop, transfers: SharedTransfers) {
        self.loop = loop
        self.transfers = transfers
    }

    /// Uses these endpoints, by these proxies. Without any endpoints, checks prove nothing.
    func use(_ endpoints: [ConnectivityEndpoint], by proxies: TransferProxies = .none) {
        guard endpoints != self.endpoints || proxies != self.proxies else { return }
        self.endpoints = endpoints
        self.proxies = proxies
        made = nil
    }

    private var probe: PathProbe? {
        if made == nil, !endpoints.isEmpty, let engine = try? transfers.engine() {
            made = PathProbe(loop: loop, endpoints: endpoints, proxies: proxies, transfers: engine)
        }
        return made
    }

    /// Any family that works is enough.
    func check(_ path: QueuePath, reply: @escaping (Bool?) -> Void) {
        guard let probe, !path.families.isEmpty else { return loop.afterEvents { reply(nil) } }
        var missing = path.families.count
        var best: Bool?
        for family in path.families {
            let key = DefaultRoute.Key(family: family, interface: InterfaceIndex(bitPattern: path.interfaceIndex))
            var route = DefaultRoute(key: key, name: path.interface, traits: path.traits)
            route.source = path.sources.first { $0.family == family }
            probe.ask(by: route, within: patience(path.interface, family)) { [weak self] works in
                missing -= 1
                if let works { best = best == true || works }
                guard missing == 0 else { return }
                reply(best)
                if best == false { self?.onBrokenPath() }
            }
        }
    }
}
