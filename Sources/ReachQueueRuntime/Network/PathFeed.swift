internal import ReachCore
internal import ReachLoop
internal import ReachQueue

/// Makes of what is seen of the network what the queue is told: the set of paths, and its epoch. Confined to the loop.
final class PathFeed {
    private let loop: EventLoop
    private let tell: (PathSet) -> Void
    private var paths: [DefaultPath]?
    /// Interfaces behind which probes have proved the Internet.
    private var validated: Set<String> = []
    /// Those behind which they have proved something else.
    private var doubted: Set<String> = []
    private var epoch: UInt64 = 1
    private var told: PathSet?
    private var patience: TimerQueue.ID?

    /// How long what was last seen counts when the kernel cannot be observed: as long as the statuses that it gives.
    private static let blindPatience: Duration = .seconds(10)

    /// - Parameter tell: Called when the set or its epoch differs from what was told.
    init(loop: EventLoop, tell: @escaping (PathSet) -> Void) {
        self.loop = loop
        self.tell = tell
    }

    deinit { if let patience { loop.cancel(patience) } }

    /// - Parameter fresh: `nil` while the kernel cannot be observed.
    func take(_ fresh: [DefaultPath]?) {
        guard let fresh else { return beBlind() }
        if let patience { loop.cancel(patience) }
        patience = nil
        if let paths, paths.map(Self.way) != fresh.map(Self.way) { epoch += 1 }
        paths = fresh
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

    /// The machine slept: whatever was connected is not any more.
    func wake() {
        epoch += 1
        update()
    }

    private func beBlind() {
        guard patience == nil else { return }
        patience = loop.schedule(at: SystemClock.boot + Self.blindPatience) { [unowned self] in
            patience = nil
            // Nobody knows; and what is not known is no path.
            paths = []
            update()
        }
    }

    private func update() {
        guard let paths else { return }
        let set = PathSet(
            paths.map { QueuePath($0, validated, doubted: doubted) }, epoch: epoch)
        guard set != told else { return }
        told = set
        tell(set)
    }

    /// What makes a path another one: its connections do not outlive a change of these.
    private struct Way: Hashable {
        let interface: InterfaceIndex
        let families: Set<IPAddress.Family>
        let sources: Set<IPAddress>
        let gateways: Set<IPAddress>
    }

    private static func way(_ path: DefaultPath) -> Way {
        Way(interface: path.interface, families: path.families, sources: path.sources, gateways: path.gateways)
    }
}

extension QueuePath {
    init(_ path: DefaultPath, _ validated: Set<String>, doubted: Set<String>) {
        self.init(
            interfaceIndex: UInt32(bitPattern: path.interface), interface: path.name, linkClass: path.linkClass)
        carrierClass = path.carrierClass
        isMetered = path.isMetered
        isValidated = validated.contains(path.name)
        isDoubted = doubted.contains(path.name)
        families = path.families
        metric = path.metric
        sources = path.sources
    }

    /// The way to a host, as its state tells it; `nil` while it is not reachable.
    ///
    /// Where its families go by different interfaces, IPv4's is taken, as the state's class is that one's.
    init?(to state: ReachabilityState, _ validated: Set<String>, doubted: Set<String>) {
        guard state.status == .reachable else { return nil }
        let reachable = [(IPAddress.Family.ipv4, state.ipv4), (.ipv6, state.ipv6)].filter { $0.1.status == .reachable }
        guard let first = reachable.first?.1, let index = first.interfaceIndex, let name = first.interface else {
            return nil
        }
        self.init(
            interfaceIndex: UInt32(bitPattern: index), interface: name, linkClass: first.linkClass ?? .other)
        carrierClass = first.carrierClass
        isMetered = first.isMetered
        isValidated = validated.contains(name)
        // A portal answers for what is behind a gateway, and not for a host on the link itself.
        isDoubted = doubted.contains(name) && first.gateway != nil
        families = Set(reachable.filter { $0.1.interfaceIndex == index }.map(\.0))
        metric = first.metric ?? 0
        sources = Set(reachable.filter { $0.1.interfaceIndex == index }.compactMap(\.1.source))
    }
}
