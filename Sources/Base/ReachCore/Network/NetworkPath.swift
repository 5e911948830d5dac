/// The path by which the kernel would send to a target in one family, or the reason why there is none.
public struct NetworkPath: Hashable, Sendable {
    /// Whether the path works.
    public package(set) var status: ReachabilityStatus
    /// Why the path does not work; `nil` when reachable.
    public package(set) var reason: Reason?
    /// The interface by which packets would leave.
    public package(set) var interface: String?
    /// That interface's index.
    public package(set) var interfaceIndex: InterfaceIndex?
    /// What conditions look at.
    package var traits = PathTraits()
    /// The names of the links below a stacked or tunnel link, nearest first.
    public package(set) var lower: [String] = []
    /// The first hop, if the target is not on the link itself. It can be of the other family.
    public package(set) var gateway: IPAddress?
    /// The proxy that the path leads to, where no default route leads to the Internet and a proxy answers for it;
    /// `nil` on all other paths.
    public package(set) var proxy: IPAddress?
    /// The address from which the kernel would send.
    public package(set) var source: IPAddress?
    /// The routing table with the route; 254 is `main`.
    public package(set) var table: UInt32?
    /// The route's metric (priority); lower is preferred.
    public package(set) var metric: UInt32?
    /// The neighbour entry of the gateway, or of the target if it is on the link.
    public package(set) var neighbour: NeighbourState?
    /// What probes have proved about the path; `unknown` if none has run.
    public package(set) var connectivity: Connectivity = .unknown
    /// What the line is like; `nil` where the daemon does not measure it, or not yet.
    public package(set) var quality: LineQuality? {
        get { sharedQuality?.value }
        set { sharedQuality = newValue.map { Shared($0) } }
    }
    /// Shared, since few paths have one.
    private var sharedQuality: Shared<LineQuality>?

    /// Creates a path of which only status and reason are known.
    package init(status: ReachabilityStatus, reason: Reason? = nil) {
        self.status = status
        self.reason = reason
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
        var mine = self
        mine.neighbour = other.neighbour
        mine.connectivity = other.connectivity
        mine.sharedQuality = other.sharedQuality
        mine.traits.alternativeNames = other.traits.alternativeNames
        return mine == other
    }
}
