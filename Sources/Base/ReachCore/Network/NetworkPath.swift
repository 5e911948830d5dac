/// The path by which the kernel would send to a target in one family, or the reason why there is none.
///
/// Copies share their storage until one of them changes: verdicts, states and surveys hand paths on
/// (contrib/bench/bounds.md).
public struct NetworkPath: Hashable, Sendable {
    private var shared: Shared<Values>

    /// What a path consists of.
    private struct Values: Hashable, Sendable {
        var status: ReachabilityStatus
        var reason: Reason?
        var interface: String?
        var interfaceIndex: InterfaceIndex?
        var traits = PathTraits()
        var lower: [String] = []
        var gateway: IPAddress?
        var proxy: IPAddress?
        var source: IPAddress?
        var table: UInt32?
        var metric: UInt32?
        var neighbour: NeighbourState?
        var connectivity: Connectivity = .unknown
        /// Shared, since few paths have one.
        var quality: Shared<LineQuality>?
    }

    /// Whether the path works.
    public package(set) var status: ReachabilityStatus {
        get { shared.value.status }
        set { shared.value.status = newValue }
    }
    /// Why the path does not work; `nil` when reachable.
    public package(set) var reason: Reason? {
        get { shared.value.reason }
        set { shared.value.reason = newValue }
    }
    /// The interface by which packets would leave.
    public package(set) var interface: String? {
        get { shared.value.interface }
        set { shared.value.interface = newValue }
    }
    /// That interface's index.
    public package(set) var interfaceIndex: InterfaceIndex? {
        get { shared.value.interfaceIndex }
        set { shared.value.interfaceIndex = newValue }
    }
    /// What conditions look at.
    package var traits: PathTraits {
        _read { yield shared.value.traits }
        _modify { yield &shared.value.traits }
    }
    /// The names of the links below a stacked or tunnel link, nearest first.
    public package(set) var lower: [String] {
        get { shared.value.lower }
        set { shared.value.lower = newValue }
    }
    /// The first hop, if the target is not on the link itself. It can be of the other family.
    public package(set) var gateway: IPAddress? {
        get { shared.value.gateway }
        set { shared.value.gateway = newValue }
    }
    /// The proxy that the path leads to, where no default route leads to the Internet and a proxy answers for it;
    /// `nil` on all other paths.
    public package(set) var proxy: IPAddress? {
        get { shared.value.proxy }
        set { shared.value.proxy = newValue }
    }
    /// The address from which the kernel would send.
    public package(set) var source: IPAddress? {
        get { shared.value.source }
        set { shared.value.source = newValue }
    }
    /// The routing table with the route; 254 is `main`.
    public package(set) var table: UInt32? {
        get { shared.value.table }
        set { shared.value.table = newValue }
    }
    /// The route's metric (priority); lower is preferred.
    public package(set) var metric: UInt32? {
        get { shared.value.metric }
        set { shared.value.metric = newValue }
    }
    /// The neighbour entry of the gateway, or of the target if it is on the link.
    public package(set) var neighbour: NeighbourState? {
        get { shared.value.neighbour }
        set { shared.value.neighbour = newValue }
    }
    /// What probes have proved about the path; `unknown` if none has run.
    public package(set) var connectivity: Connectivity {
        get { shared.value.connectivity }
        set { shared.value.connectivity = newValue }
    }
    /// What the line is like; `nil` where the daemon does not measure it, or not yet.
    public package(set) var quality: LineQuality? {
        get { shared.value.quality?.value }
        set { shared.value.quality = newValue.map { Shared($0) } }
    }

    /// Creates a path of which only status and reason are known.
    package init(status: ReachabilityStatus, reason: Reason? = nil) {
        shared = Shared(Values(status: status, reason: reason))
    }

    /// The class of the link that carries the path.
    public package(set) var linkClass: LinkClass? {
        get { traits.linkClass }
        set { traits.linkClass = newValue }
    }

    /// The class of the link that carries a tunnel; `nil` if that is unknown, and for all other classes.
    public package(set) var carrierClass: LinkClass? {
        get { traits.carrierClass }
        set { traits.carrierClass = newValue }
    }

    /// Whether using the path costs money or is limited by volume.
    public package(set) var isMetered: Bool {
        get { traits.isMetered }
        set { traits.isMetered = newValue }
    }

    /// Why the path is metered; `nil` if it is not, or if that is not known.
    public package(set) var meteredReason: MeteredReason? {
        get { traits.meteredReason }
        set { traits.meteredReason = newValue }
    }

    /// The network behind the link: a name from the daemon's configuration, or the private identifier of a network
    /// without a name; `nil` if the network is not known.
    public package(set) var network: String? {
        get { traits.network }
        set { traits.network = newValue }
    }

    /// Whether the daemon's configuration trusts ``network``. Whoever runs a network can pretend to be another one.
    public package(set) var isTrusted: Bool {
        get { traits.isTrusted }
        set { traits.isTrusted = newValue }
    }

    /// The access point of a Wi-Fi link; `nil` for other links.
    public package(set) var accessPoint: HardwareAddress? {
        get { traits.accessPoint }
        set { traits.accessPoint = newValue }
    }

    /// Whether the path works, and leaves over a link of this class, directly or below a tunnel.
    func uses(_ wanted: LinkClass) -> Bool { status == .reachable && (linkClass == wanted || carrierClass == wanted) }

    /// A path that has not been determined yet.
    public static let unknown = NetworkPath(status: .unknown)

    /// The path in a family in which the target has no address.
    package static let notAsked = NetworkPath(status: .unknown, reason: .notAsked)

    /// The path up to the target, whether the target itself answers on its link or not. A device that is switched off
    /// has not lost its path.
    package var upToTarget: NetworkPath {
        guard reason == .neighbourUnreachable else { return self }
        var path = self
        (path.status, path.reason) = (.reachable, nil)
        return path
    }

    /// Whether an attempt that began by the other path goes on by this one. What was learnt of the network meanwhile,
    /// which may come from the attempt's own first packet, makes no other way, nor does another access point of the
    /// network.
    package func leadsTheSameWay(as other: NetworkPath) -> Bool {
        var mine = self
        (mine.network, mine.isTrusted) = (other.network, other.isTrusted)
        (mine.meteredReason, mine.accessPoint) = (other.meteredReason, other.accessPoint)
        return mine.isSamePath(as: other)
    }

    /// Whether packets take the same path. A neighbour entry that aged makes no other path, nor does a result of a
    /// probe, what the line is like, or another name of the link.
    package func isSamePath(as other: NetworkPath) -> Bool {
        let others = other.shared.value
        var mine = shared.value
        mine.neighbour = others.neighbour
        mine.connectivity = others.connectivity
        mine.quality = others.quality
        mine.traits.alternativeNames = others.traits.alternativeNames
        return mine == others
    }
}
