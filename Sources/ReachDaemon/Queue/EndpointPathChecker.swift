internal import ReachCore
internal import ReachLoop
internal import ReachProbe
internal import ReachQueue
internal import ReachQueueRuntime
internal import ReachTransfer

/// Finds out whether a path works by asking the endpoints of `[connectivity]` over it, whatever the validator believes.
final class EndpointPathChecker: PathChecker {
    private let loop: EventLoop
    private let transfers: SharedTransfers
    private var endpoints: [ConnectivityEndpoint] = []
    /// Made when it is first needed, as what it sends by is.
    private var made: PathProbe?
    /// Called when a path turns out not to work.
    var onBrokenPath: () -> Void = {}

    /// A little less than the scheduler waits.
    private static let limit: Duration = .milliseconds(2800)

    init(loop: EventLoop, transfers: SharedTransfers) {
        self.loop = loop
        self.transfers = transfers
    }

    /// Where none are, nothing can be said.
    func use(_ endpoints: [ConnectivityEndpoint]) {
        guard endpoints != self.endpoints else { return }
        self.endpoints = endpoints
        made = nil
    }

    private var probe: PathProbe? {
        if made == nil, !endpoints.isEmpty, let engine = try? transfers.engine() {
            made = PathProbe(loop: loop, endpoints: endpoints, transfers: engine)
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
            var route = DefaultRoute(
                key: key, name: path.interface, linkClass: path.linkClass, isMetered: path.isMetered)
            route.source = path.sources.first { $0.family == family }
            probe.ask(by: route, within: Self.limit) { [weak self] works in
                missing -= 1
                if let works { best = best == true || works }
                guard missing == 0 else { return }
                reply(best)
                if best == false { self?.onBrokenPath() }
            }
        }
    }
}
