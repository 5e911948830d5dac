internal import ReachCore
internal import ReachQueue

/// Turns the default routes, and what probes have proved, into the queue's set of paths and its epoch. Confined to the loop.
final class PathFeed {
    private let onChange: (PathSet) -> Void
    private var routes: [DefaultRoute]?
    /// Interfaces behind which probes have proved the Internet.
    private var validated: Set<String> = []
    /// Those behind which they have proved something else.
    private var doubted: Set<String> = []
    private var epoch: UInt64 = 1
    private var last: PathSet?

    /// - Parameter onChange: Called when the set or its epoch differs from the one before.
    init(onChange: @escaping (PathSet) -> Void) { self.onChange = onChange }

    /// - Parameter network: `nil` while the kernel cannot be observed. A path that is not known is no path.
    func update(network: NetworkSnapshot?) {
        let fresh = network?.routes.filter(\.isUsable) ?? []
        if let routes, Set(routes.map(Way.init)) != Set(fresh.map(Way.init)) { epoch += 1 }
        routes = fresh
        update()
    }

    /// - Parameter survey: What probes have proved; `nil` where none run.
    func update(survey: ConnectivitySurvey?) {
        let proved = (survey?.interfaces ?? [:]).mapValues(\.combined)
        validated = Set(proved.filter { $0.value == .full }.keys)
        doubted = Set(proved.filter { $0.value != .full && $0.value != .unknown }.keys)
        update()
    }

    /// The path to a host in this state; `nil` while there is none.
    func path(to state: ReachabilityState) -> QueuePath? { QueuePath(to: state, validated, doubted: doubted) }

    /// Begins an epoch, since no connection outlives the machine's sleep.
    func wake() {
        epoch += 1
        update()
    }

    private func update() {
        guard let routes else { return }
        let byInterface = Dictionary(grouping: routes, by: \.key.interface).sorted { $0.key < $1.key }
        let set = PathSet(byInterface.compactMap { QueuePath($0.value, validated, doubted: doubted) }, epoch: epoch)
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
    init?(_ routes: [DefaultRoute], _ validated: Set<String>, doubted: Set<String>) {
        guard let first = routes.first else { return nil }
        self.init(
            interfaceIndex: UInt32(bitPattern: first.key.interface), interface: first.name, traits: first.traits)
        isValidated = validated.contains(first.name)
        isDoubted = doubted.contains(first.name)
        families = Set(routes.map(\.key.family))
        metric = routes.map(\.metric).min() ?? first.metric
        sources = routes.reduce(into: []) { $0.formUnion($1.sources) }
    }

    /// The path to a host in this state; `nil` while the host is not reachable.
    ///
    /// If its families use different interfaces, IPv4's counts, as for the state's class.
    init?(to state: ReachabilityState, _ validated: Set<String>, doubted: Set<String>) {
        guard state.status == .reachable else { return nil }
        let reachable = [(IPAddress.Family.ipv4, state.ipv4), (.ipv6, state.ipv6)].filter { $0.1.status == .reachable }
        guard let first = reachable.first?.1, let index = first.interfaceIndex, let name = first.interface else {
            return nil
        }
        self.init(interfaceIndex: UInt32(bitPattern: index), interface: name, traits: first.traits)
        isValidated = validated.contains(name)
        // A portal answers for what is behind a gateway, and not for a host on the link itself.
        isDoubted = doubted.contains(name) && first.gateway != nil
        families = Set(reachable.filter { $0.1.interfaceIndex == index }.map(\.0))
        metric = first.metric ?? 0
        sources = Set(reachable.filter { $0.1.interfaceIndex == index }.compactMap(\.1.source))
    }
}
