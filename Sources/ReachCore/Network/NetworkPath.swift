/// How the kernel would send to a target in one family, or why it would not.
public struct NetworkPath: Hashable, Sendable {
    /// Whether the path works.
    public var status: ReachabilityStatus
    /// Why it does not; `nil` when reachable.
    public var reason: Reason?
    /// The interface a packet would leave by.
    public var interface: String?
    /// That interface's index.
    public var interfaceIndex: InterfaceIndex?
    /// What kind of link carries it.
    public var linkClass: LinkClass?
    /// Names of the links below a stacked or tunnel link, nearest first.
    public var lower: [String] = []
    /// The first hop, if the target is not on the link itself. May be of the other family.
    public var gateway: IPAddress?
    /// The address the kernel would send from.
    public var source: IPAddress?
    /// The routing table that answered: 254 is `main`.
    public var table: UInt32?
    /// The route's metric (priority); lower is preferred.
    public var metric: UInt32?
    /// What the kernel knows of the gateway, or of the target where it is on the link.
    public var neighbour: NeighbourState?
    /// The path costs money or is capped.
    public var isMetered = false
    /// What probes have proved of it; `unknown` where none has run.
    public var connectivity: Connectivity = .unknown

    /// A path of the given status, with nothing else known of it.
    public init(status: ReachabilityStatus, reason: Reason? = nil) {
        self.status = status
        self.reason = reason
    }

    /// The path has not been looked at.
    public static let unknown = NetworkPath(status: .unknown)

    /// The target has nothing to do with this family.
    package static let notAsked = NetworkPath(status: .unknown, reason: .notAsked)

    /// The same way for a packet: a neighbour entry that merely aged is no other path, nor is one that was tried.
    package func leadsTheSameWay(as other: NetworkPath) -> Bool {
        var mine = self
        mine.neighbour = other.neighbour
        mine.connectivity = other.connectivity
        return mine == other
    }
}
