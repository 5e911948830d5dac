/// Everything that is known about a target at one moment.
public struct ReachabilityState: Hashable, Sendable {
    /// The target.
    public var target: Target
    /// Whether it can be reached.
    public var status: ReachabilityStatus = .unknown
    /// Why the target is not reachable, or why that is unknown; `nil` when reachable, and before the first verdict.
    public var reason: Reason?
    /// What broke, and which interface; `nil` when reachable, and where it is not known whether the target is.
    public var rootCause: RootCause?
    /// The class of the link that carries the path; `nil` when not reachable.
    public var linkClass: LinkClass?
    /// The interface of the path; `nil` when not reachable.
    public var interface: String?
    /// Whether using the path costs money or is limited by volume.
    public var isMetered = false
    /// What probes have proved about the Internet; `unknown` if none has run.
    public var connectivity: Connectivity = .unknown
    /// Whether probes run to determine the connectivity. If not, it stays unknown.
    public var isValidated = false
    /// The login page of a captive portal; `nil` if there is none, or its address is unknown.
    public var portal: String?
    /// What the API of the network's portal says; `nil` if the network announces none, or if none answered.
    public var portalSession: PortalSession? {
        get { portalSessionBox?.session }
        set { portalSessionBox = newValue.map(PortalSessionBox.init) }
    }
    var portalSessionBox: PortalSessionBox?
    /// When the current status began, as far as this program has seen.
    public var since: Timestamp
    /// When ``connectivity`` became what it is, as far as this program has seen.
    public var connectivitySince: Timestamp
    /// A counter that starts at 1 and increases whenever the path, source or gateway to the Internet changes.
    public var epoch: UInt64 = 1
    /// Whether this is only the last known state, because the kernel cannot be observed at the moment.
    public var isStale = false
    /// Whether a hold-down is holding back another status until it has lasted long enough.
    public var isHeld = false
    /// How often the target went from reachable to not reachable and back, including the times that a hold-down hid.
    public var flaps = 0
    /// The path in IPv4.
    public var ipv4: NetworkPath = .unknown
    /// The path in IPv6.
    public var ipv6: NetworkPath = .unknown
    /// The interfaces over which the target can be reached, in order of preference: those that the kernel chooses for IPv4
    /// and IPv6, then by metric. Empty when there are none.
    ///
    /// Packets leave over the others only if their socket is bound to the interface (SO_BINDTODEVICE). From a daemon the
    /// list has only the interfaces that the kernel chooses.
    public var availableInterfaces: [AvailableInterface] = []

    /// Creates the state of a target without a verdict.
    package init(target: Target, since: Timestamp) {
        self.target = target
        self.since = since
        connectivitySince = since
    }

    /// Whether the portal's API says the same about both, apart from what time and traffic alone change.
    func hasSamePortalSession(as other: ReachabilityState) -> Bool {
        guard let mine = portalSessionBox, let others = other.portalSessionBox else {
            return portalSessionBox == nil && other.portalSessionBox == nil
        }
        return mine === others || mine.session.isSame(as: others.session)
    }

    /// Adopts the status and the paths of a verdict.
    package mutating func adopt(_ verdict: Verdict) {
        status = verdict.status
        reason = verdict.reason
        rootCause = verdict.rootCause
        linkClass = verdict.linkClass
        interface = verdict.interface
        isMetered = verdict.isMetered
        ipv4 = verdict.ipv4
        ipv6 = verdict.ipv6
        availableInterfaces = verdict.available
    }

    /// The state as AFNetworking's reachability manager would report it.
    public var networkReachabilityStatus: NetworkReachabilityStatus {
        NetworkReachabilityStatus(status, linkClass: linkClass)
    }

    /// Whether a path exists, whatever carries it.
    public var isReachable: Bool { status == .reachable }

    /// Whether there is a path in IPv4.
    public var supportsIPv4: Bool { isReachable && ipv4.status == .reachable }

    /// Whether there is a path in IPv6.
    public var supportsIPv6: Bool { isReachable && ipv6.status == .reachable }

    /// The first hops of ``availableInterfaces``, in the same order, each once.
    public var gateways: [IPAddress] {
        availableInterfaces.flatMap(\.gateways).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// The path that stands for both families: IPv4's where it works, as for the class.
    private var mainPath: NetworkPath { ipv4.status == .reachable ? ipv4 : ipv6 }

    /// The network behind the path: a name from the daemon's configuration, or the private identifier of a network without a
    /// name; `nil` when not reachable, and if the network is not known.
    public var network: String? { isReachable ? mainPath.network : nil }

    /// Whether the daemon's configuration trusts ``network``. Whoever runs a network can pretend to be another one.
    public var isTrusted: Bool { isReachable && mainPath.isTrusted }

    /// Why the path is metered; `nil` if it is not, or if that is not known.
    public var meteredReason: MeteredReason? {
        guard isReachable, isMetered else { return nil }
        return mainPath.meteredReason ?? (ipv6.status == .reachable ? ipv6.meteredReason : nil)
    }

    /// Whether a path leaves over a link of this class, directly or below a tunnel.
    public func uses(_ linkClass: LinkClass) -> Bool {
        guard isReachable else { return false }
        return [ipv4, ipv6].contains { path in
            path.status == .reachable && (path.linkClass == linkClass || path.carrierClass == linkClass)
        }
    }
}
