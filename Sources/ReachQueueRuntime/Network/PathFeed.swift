internal import ReachCore
internal import ReachQueue

/// Turns the default routes, and what probes have proved, into the queue's set of paths and its epoch. Confined to the loop.
final class PathFeed {
    private let onChange: (PathSet) -> Void
    private var routes: [DefaultRoute]?
    /// What probes have proved behind interfaces.
    private var proved: [String: Connectivity] = [:]
    private var links: [UInt32] = []
    private var tunnels: [String] = []
    private var epoch: UInt64 = 1
    /// The last set; `nil` before the first.
    private(set) var last: PathSet?

    /// - Parameter onChange: Called when the set or its epoch differs from the one before.
    init(onChange: @escaping (PathSet) -> Void) { self.onChange = onChange }

    /// - Parameter network: `nil` while the kernel cannot be observed. A path that is not known is no path.
    func update(network: NetworkSnapshot?) {
        let fresh = network?.routes.filter(\.isUsable) ?? []
        if let routes, Set(routes.map(Way.init)) != Set(fresh.map(Way.init)) { epoch += 1 }
        routes = fresh
        links = (network?.links ?? []).map(UInt32.init(bitPattern:))
        tunnels = network?.tunnels ?? []
        update()
    }

    /// - Parameter survey: What probes have proved; `nil` where none run.
    func update(survey: ConnectivitySurvey?) {
        proved = (survey?.interfaces ?? [:]).mapValues(\.combined)
        update()
    }

    /// The path to a host in this state; `nil` while there is none.
    func path(to state: ReachabilityState) -> QueuePath? { QueuePath(to: state, proved) }

    /// How a destination is reached by these routes to its addresses.
    ///
    /// - Parameter isNamed: The addresses come from name servers, and not from the request.
    func route(to destination: Destination, by routes: [AddressRoute], isNamed: Bool) -> DestinationRoute {
        let hosts = Dictionary(grouping: routes.compactMap(\.host), by: \.interface).values
        let own = hosts.map { path(by: $0, isNamed: isNamed) }.sorted { $0.isPreferred(to: $1) }
        return DestinationRoute(destination, own: own, isByDefault: routes.contains(.byDefault))
    }

    /// The path by routes of a host's own, over one interface.
    func path(by routes: [HostRoute], isNamed: Bool) -> QueuePath {
        var path = QueuePath(
            interfaceIndex: UInt32(bitPattern: routes[0].interface), interface: routes[0].name,
            traits: routes[0].traits)
        let connectivity = proved[path.interface] ?? .unknown
        path.isValidated = connectivity == .full
        // Name servers of a portal name a host on the link for anything, and its router may claim that any address is there.
        let isNeighbour = !isNamed && routes.allSatisfy(\.isNeighbour)
        path.isDoubted = connectivity.isDoubt && !isNeighbour && !routes[0].isLocal
        path.families = Set(routes.map(\.family))
        path.metric = routes.map(\.metric).min() ?? 0
        path.sources = routes.reduce(into: []) { $0.formUnion($1.sources) }
        return path
    }

    /// Begins an epoch, since no connection outlives the machine's sleep.
    func wake() {
        epoch += 1
        update()
    }

    private func update() {
        guard let routes else { return }
        let byInterface = Dictionary(grouping: routes, by: \.key.interface).sorted { $0.key < $1.key }
        let paths = byInterface.compactMap { QueuePath($0.value, proved) }
        let set = PathSet(paths, epoch: epoch, links: links, tunnels: tunnels)
        guard set != last else { return }
        last = set
        onChange(set)
    }

    /// The parts of a route whose change ends connections over it.
    private struct Way: Hashable {
        let key: DefaultRoute.Key
        let gateway: IPAddress?
        let sources: Set<IPAddress>

        init(_ route: DefaultRoute) { (key, gateway, sources) = (route.key, route.gateway, route.sources) }
    }
}

extension QueuePath {
    /// The path by the routes of one interface; `nil` without routes.
    init?(_ routes: [DefaultRoute], _ proved: [String: Connectivity]) {
        guard let first = routes.first else { return nil }
        self.init(
            interfaceIndex: UInt32(bitPattern: first.key.interface), interface: first.name, traits: first.traits)
        let connectivity = proved[first.name] ?? .unknown
        isValidated = connectivity == .full
        isDoubted = connectivity.isDoubt
        hasPortal = connectivity == .portal
        families = Set(routes.map(\.key.family))
        metric = routes.map(\.metric).min() ?? first.metric
        sources = routes.reduce(into: []) { $0.formUnion($1.sources) }
    }

    /// The path to a host in this state; `nil` while the host is not reachable.
    ///
    /// If its families use different interfaces, IPv4's counts, as for the state's class.
    init?(to state: ReachabilityState, _ proved: [String: Connectivity]) {
        guard state.status == .reachable else { return nil }
        let reachable = [(IPAddress.Family.ipv4, state.ipv4), (.ipv6, state.ipv6)].filter { $0.1.status == .reachable }
        guard let first = reachable.first?.1, let index = first.interfaceIndex, let name = first.interface else {
            return nil
        }
        self.init(interfaceIndex: UInt32(bitPattern: index), interface: name, traits: first.traits)
        let connectivity = proved[name] ?? .unknown
        isValidated = connectivity == .full
        // A portal answers for what is behind a gateway, and not for a host on the link itself; but its name servers may name
        // a host on the link for anything.
        isDoubted = connectivity.isDoubt && (first.gateway != nil || !state.target.isAddress)
        hasPortal = connectivity == .portal && first.gateway != nil
        families = Set(reachable.filter { $0.1.interfaceIndex == index }.map(\.0))
        metric = first.metric ?? 0
        sources = Set(reachable.filter { $0.1.interfaceIndex == index }.compactMap(\.1.source))
    }
}

extension Connectivity {
    /// Whether probes have proved something else than the Internet.
    fileprivate var isDoubt: Bool { self != .full && self != .unknown }
}

extension Target {
    /// Whether no name server has a say in where it is.
    fileprivate var isAddress: Bool { if case .name = subject { false } else { true } }
}
