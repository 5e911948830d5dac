internal import ReachCore
internal import ReachQueue

/// Turns the default routes, and what probes have proved, into the queue's set of paths and its epoch. Confined to the
/// loop.
final class PathFeed {
    private let onChange: (PathSet) -> Void
    private var routes: [DefaultRoute]?
    /// What probes have proved behind interfaces.
    private var proved: [String: Proof] = [:]
    private var links: [UInt32] = []
    private var tunnels: [String] = []
    private var epoch: UInt64 = 1
    /// The last set; `nil` before the first.
    private(set) var last: PathSet?

    /// - Parameter onChange: Called when the set or its epoch differs from the one before.
    init(onChange: @escaping (PathSet) -> Void) { self.onChange = onChange }

    /// - Parameter network: `nil` while the kernel cannot be observed. A path that is not known is no path.
    func update(network: NetworkSnapshot?) {
        // What goes by the proxy has the proxy's path, and what does not has no default route.
        let usable = network?.routes.filter { $0.isUsable && !$0.isToProxy } ?? []
        if let routes, !Self.carry(usable, connectionsOf: routes) { epoch += 1 }
        routes = usable
        links = (network?.links ?? []).map(UInt32.init(bitPattern:))
        tunnels = network?.tunnels ?? []
        update()
    }

    /// - Parameter survey: What probes have proved; `nil` where none run.
    func update(survey: ConnectivitySurvey?) {
        proved = (survey?.interfaces ?? [:]).mapValues(Proof.init)
        update()
    }

    /// The path to a host in this state; `nil` while there is none.
    func path(to state: ReachabilityState) -> QueuePath? { QueuePath(to: state, proved) }

    /// How a destination is reached by these routes to its addresses.
    ///
    /// - Parameters:
    ///   - addresses: The addresses, in the order of their routes.
    ///   - isNamed: The addresses come from name servers, and not from the request.
    ///   - doubt: Whether a portal may have given the addresses.
    func route(
        to destination: Destination, by routes: [AddressRoute], of addresses: [IPAddress], isNamed: Bool,
        doubt: AddressDoubt
    ) -> DestinationRoute {
        let hosts = Dictionary(grouping: routes.compactMap(\.host), by: \.interface).values
        var hostPaths = hosts.map { path(by: $0, isNamed: isNamed, doubt: doubt) }
        // What a default route would carry to a portal's private address waits like what it would carry to the portal.
        let byDefault = zip(addresses, routes).filter(\.1.isByDefault).map(\.0)
        let doubted = byDefault.filter { address in doubt.concerns(address) && !hasUndoubtedPath(address.family) }
        for family in Set(doubted.map(\.family)) {
            hostPaths += (last?.paths ?? []).filter { $0.families.contains(family) }.map(doubt.applied)
        }
        return DestinationRoute(
            destination, own: hostPaths.sorted { $0.isPreferred(to: $1) },
            defaultFamilies: Set(byDefault.map(\.family)).subtracting(doubted.map(\.family)))
    }

    private func hasUndoubtedPath(_ family: IPAddress.Family) -> Bool {
        last?.paths.contains { $0.families.contains(family) && !$0.isDoubted } ?? false
    }

    /// The path by routes of a host's own, over one interface.
    ///
    /// - Parameter doubt: Whether a portal may have given the addresses.
    func path(by routes: [HostRoute], isNamed: Bool, doubt: AddressDoubt = AddressDoubt(false)) -> QueuePath {
        var path = QueuePath(
            interfaceIndex: UInt32(bitPattern: routes[0].interface), interface: routes[0].name,
            traits: routes[0].traits)
        let connectivity = path.adopt(proved[path.interface])
        // Name servers of a portal name a host on the link for anything, and its router may claim that any address is
        // there.
        let isNeighbour = !isNamed && routes.allSatisfy(\.isNeighbour)
        path.isDoubted = connectivity.isDoubt && !isNeighbour && !routes[0].isLocal
        path.families = Set(routes.map(\.family))
        // The kernel sends to each address by one path.
        for family in path.families { path.rank[family] = 0 }
        path.sources = routes.reduce(into: []) { $0.formUnion($1.sources) }
        return routes.allSatisfy { doubt.concerns($0) } ? doubt.applied(to: path) : path
    }

    /// Begins an epoch, since no connection outlives the machine's sleep.
    func wake() {
        epoch += 1
        update()
    }

    private func update() {
        guard let routes else { return }
        let byInterface = Dictionary(grouping: routes, by: \.key.interface).sorted { $0.key < $1.key }
        let ranks = Self.ranks(of: routes)
        let paths = byInterface.compactMap { QueuePath($0.value, proved, ranks[$0.key] ?? PathRank()) }
        let set = PathSet(paths, epoch: epoch, links: links, tunnels: tunnels)
        guard set != last else { return }
        last = set
        onChange(set)
    }

    /// The places of interfaces in the kernel's order. Without the kernel's own choice, which does not work, none is
    /// the first.
    private static func ranks(of routes: [DefaultRoute]) -> [InterfaceIndex: PathRank] {
        var ranks: [InterfaceIndex: PathRank] = [:]
        for family in IPAddress.Family.allCases {
            var place: UInt32 = 0
            for route in routes.filter({ $0.key.family == family }).sorted(by: { $0.precedes($1) }) {
                if place == 0, !route.isPreferred { place = 1 }
                ranks[route.key.interface, default: PathRank()][family] = place
                place += 1
            }
        }
        return ranks
    }

    /// Whether connections over these routes may go on over the fresh ones: the routes have the same gateways, and no
    /// address of theirs is gone. One that is added, as by a router that renumbers its network, ends none.
    private static func carry(_ fresh: [DefaultRoute], connectionsOf routes: [DefaultRoute]) -> Bool {
        guard fresh.count == routes.count else { return false }
        return routes.allSatisfy { old in
            fresh.contains { $0.leadsToSameNetwork(as: old) && $0.sources.isSuperset(of: old.sources) }
        }
    }
}

extension PathFeed {
    /// What is known of what lies behind an interface.
    struct Proof {
        let connectivity: Connectivity
        let quality: LineQuality.Word?

        init(_ report: ConnectivityReport) {
            connectivity = report.combined
            quality = (report.qualities[.ipv4] ?? report.qualities[.ipv6])?.word
        }
    }
}

extension QueuePath {
    /// Adopts what is known of what lies behind it.
    ///
    /// - Returns: What is proved of the Internet there.
    fileprivate mutating func adopt(_ proof: PathFeed.Proof?) -> Connectivity {
        let connectivity = proof?.connectivity ?? .unknown
        isValidated = connectivity == .full
        quality = proof?.quality
        return connectivity
    }

    /// The path by the routes of one interface; `nil` without routes.
    fileprivate init?(_ routes: [DefaultRoute], _ proved: [String: PathFeed.Proof], _ rank: PathRank) {
        guard let first = routes.first else { return nil }
        self.init(
            interfaceIndex: UInt32(bitPattern: first.key.interface), interface: first.name, traits: first.traits)
        let connectivity = adopt(proved[first.name])
        isDoubted = connectivity.isDoubt
        hasPortal = connectivity == .portal
        families = Set(routes.map(\.key.family))
        self.rank = rank
        sources = routes.reduce(into: []) { $0.formUnion($1.sources) }
    }

    /// The path to a host in this state; `nil` while the host is not reachable.
    ///
    /// If its families use different interfaces, IPv4's counts, as for the state's class.
    init?(to state: ReachabilityState, _ proved: [String: PathFeed.Proof]) {
        guard state.status == .reachable else { return nil }
        let reachable = [(IPAddress.Family.ipv4, state.ipv4), (.ipv6, state.ipv6)].filter { $0.1.status == .reachable }
        guard let first = reachable.first?.1, let index = first.interfaceIndex, let name = first.interface else {
            return nil
        }
        self.init(interfaceIndex: UInt32(bitPattern: index), interface: name, traits: first.traits)
        let connectivity = adopt(proved[name])
        // A portal answers for what is behind a gateway, and not for a host on the link itself; but its name servers
        // may name a host on the link for anything.
        isDoubted = connectivity.isDoubt && (first.gateway != nil || !state.target.isAddress)
        hasPortal = connectivity == .portal && first.gateway != nil
        families = Set(reachable.filter { $0.1.interfaceIndex == index }.map(\.0))
        for family in families { rank[family] = 0 }
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

/// Whether a name's addresses may be a portal's, which gives all names its own: a value.
struct AddressDoubt {
    private let mayBeImpersonated: Bool

    /// - Parameter mayBeImpersonated: Whether a portal could answer unnoticed, by giving a public name another address:
    ///   the request goes in the clear. `false` for addresses that no name server gave.
    init(_ mayBeImpersonated: Bool) { self.mayBeImpersonated = mayBeImpersonated }

    /// - Parameter server: The host that connections go to: a proxy's address is no answer about the destination.
    init(of destination: Destination, at server: Target.Subject?) {
        guard case .name(let name)? = server, !destination.isSecure, PublicName.isPublic(name) else {
            self.init(false)
            return
        }
        self.init(server == destination.target?.subject)
    }

    /// Whether a public name has this address in a portal's network rather than in the Internet.
    func concerns(_ address: IPAddress) -> Bool { mayBeImpersonated && PublicName.isPrivate(address) }

    /// As ``concerns(_:)-(IPAddress)``; what is on the link itself is in a portal's network, too.
    func concerns(_ route: HostRoute) -> Bool {
        mayBeImpersonated && !route.isLocal && (route.gateway == nil || PublicName.isPrivate(route.address))
    }

    /// The path as one to a portal, if something else than the Internet is known to answer behind it.
    func applied(to path: QueuePath) -> QueuePath {
        var path = path
        path.hasPortal = path.hasPortal || path.isDoubted
        return path
    }
}
