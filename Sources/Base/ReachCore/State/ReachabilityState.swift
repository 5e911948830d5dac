/// Everything that is known about a target at one moment.
///
/// Copies share their storage until one of them changes, so a state costs little to hand on and to keep.
public struct ReachabilityState: Hashable, Sendable {
    /// The target.
    public var target: Target
    /// The name that the daemon's configuration gives to the target; `nil` without one, and without a daemon.
    public var name: String?
    /// All but the target, in storage that copies share.
    private var shared: Shared<Values>

    /// Whether it can be reached.
    public var status: ReachabilityStatus {
        get { shared.value.status }
        set { shared.value.status = newValue }
    }
    /// Why the target is not reachable, or why that is unknown; `nil` when reachable, and before the first verdict.
    public var reason: Reason? {
        get { shared.value.reason }
        set { shared.value.reason = newValue }
    }
    /// What broke, and which interface; `nil` when reachable, and where it is not known whether the target is.
    public var rootCause: RootCause? {
        get { shared.value.rootCause }
        set { shared.value.rootCause = newValue }
    }
    /// The class of the link that carries the path; `nil` when not reachable.
    public var linkClass: LinkClass? {
        get { shared.value.linkClass }
        set { shared.value.linkClass = newValue }
    }
    /// The interface of the path; `nil` when not reachable.
    public var interface: String? {
        get { shared.value.interface }
        set { shared.value.interface = newValue }
    }
    /// Whether using the path costs money or is limited by volume.
    public var isMetered: Bool {
        get { shared.value.isMetered }
        set { shared.value.isMetered = newValue }
    }
    /// What probes have proved about the Internet; `unknown` if none has run.
    public var connectivity: Connectivity {
        get { shared.value.connectivity }
        set { shared.value.connectivity = newValue }
    }
    /// Whether probes run to determine the connectivity. If not, it stays unknown.
    public var isValidated: Bool {
        get { shared.value.isValidated }
        set { shared.value.isValidated = newValue }
    }
    /// Whether the daemon measures what lines are like. If not, ``quality`` stays `nil`.
    public var measuresQuality: Bool {
        get { shared.value.measuresQuality }
        set { shared.value.measuresQuality = newValue }
    }
    /// The login page of a captive portal; `nil` if there is none, or its address is unknown.
    public var portal: String? {
        get { shared.value.portal }
        set { shared.value.portal = newValue }
    }
    /// What the API of the network's portal says; `nil` if the network announces none, or if none answered.
    public var portalSession: PortalSession? {
        get { shared.value.portalSession?.value }
        set { shared.value.portalSession = newValue.map { Shared($0) } }
    }
    /// When the current status began, as far as this program has seen.
    public var since: Timestamp {
        get { shared.value.since }
        set { shared.value.since = newValue }
    }
    /// When ``connectivity`` became what it is, as far as this program has seen.
    public var connectivitySince: Timestamp {
        get { shared.value.connectivitySince }
        set { shared.value.connectivitySince = newValue }
    }
    /// A counter that starts at 1 and increases whenever the path, source or gateway to the Internet changes.
    public var epoch: UInt64 {
        get { shared.value.epoch }
        set { shared.value.epoch = newValue }
    }
    /// Whether this is only the last known state, because the kernel cannot be observed at the moment.
    public var isStale: Bool {
        get { shared.value.isStale }
        set { shared.value.isStale = newValue }
    }
    /// Whether a hold-down is holding back another status until it has lasted long enough, or the connectivity of a
    /// path that is back until a check has decided it.
    public var isHeld: Bool {
        get { shared.value.isHeld }
        set { shared.value.isHeld = newValue }
    }
    /// What broke, while a hold-down is holding back that the target is not reachable; otherwise `nil`.
    public var heldCause: RootCause? {
        get { shared.value.heldCause }
        set { shared.value.heldCause = newValue }
    }
    /// How often the target went from reachable to not reachable and back, including the times that a hold-down hid.
    public var flaps: Int {
        get { shared.value.flaps }
        set { shared.value.flaps = newValue }
    }
    /// The path in IPv4.
    public var ipv4: NetworkPath {
        _read { yield shared.value.ipv4 }
        set { shared.value.ipv4 = newValue }
    }
    /// The path in IPv6.
    public var ipv6: NetworkPath {
        _read { yield shared.value.ipv6 }
        set { shared.value.ipv6 = newValue }
    }
    /// The interfaces over which the target can be reached, in order of preference: those that the kernel chooses for
    /// IPv4 and IPv6, then by metric. Empty when there are none.
    ///
    /// Packets leave over the others only if their socket is bound to the interface (SO_BINDTODEVICE). From a daemon
    /// the list has only the interfaces that the kernel chooses.
    public var availableInterfaces: [AvailableInterface] {
        _read { yield shared.value.availableInterfaces }
        set { shared.value.availableInterfaces = newValue }
    }

    /// Creates the state of a target without a verdict.
    package init(target: Target, since: Timestamp) {
        self.target = target
        shared = Shared(Values(since: since, connectivitySince: since))
    }

    /// Whether both say the same, whatever their targets.
    func hasSameValues(as other: ReachabilityState) -> Bool {
        shared == other.shared
    }

    /// Whether the portal's API says the same about both, apart from what time and traffic alone change.
    func hasSamePortalSession(as other: ReachabilityState) -> Bool {
        guard let mine = shared.value.portalSession, let others = other.shared.value.portalSession else {
            return shared.value.portalSession == nil && other.shared.value.portalSession == nil
        }
        return mine.value.isSame(as: others.value)
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

    /// Adopts a verdict whose paths lead the same way, about which the same is believed as before.
    mutating func adopt(_ verdict: Verdict, keepingProof: Bool) {
        let (proved4, proved6) = (ipv4.connectivity, ipv6.connectivity)
        let (quality4, quality6) = (ipv4.quality, ipv6.quality)
        adopt(verdict)
        guard keepingProof else { return }
        shared.value.ipv4.connectivity = proved4
        shared.value.ipv6.connectivity = proved6
        shared.value.ipv4.quality = quality4
        shared.value.ipv6.quality = quality6
    }

    /// The state of the path up to the target: see ``NetworkPath/upToTarget``. What a test of the target found is not
    /// charged to the path.
    package var upToTarget: ReachabilityState {
        guard [ipv4, ipv6].contains(where: { $0.reason == .neighbourUnreachable }) else { return self }
        var state = self
        state.adopt(Verdict(ipv4: ipv4.upToTarget, ipv6: ipv6.upToTarget))
        return state
    }

    /// When it began that the target can be used as it can, or not: by what is proved, where something is.
    package var useSince: Timestamp { isReachable && connectivity != .unknown ? connectivitySince : since }

    /// The state as AFNetworking's reachability manager would report it. A tunnel counts as what carries it.
    public var networkReachabilityStatus: NetworkReachabilityStatus {
        NetworkReachabilityStatus(status, linkClass: linkClass == .tunnel ? mainPath.carrierClass : linkClass)
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

    /// The network behind the path: a name from the daemon's configuration, or the private identifier of a network
    /// without a name; `nil` when not reachable, and if the network is not known.
    public var network: String? { isReachable ? mainPath.network : nil }

    /// Whether the daemon's configuration trusts ``network``. Whoever runs a network can pretend to be another one.
    public var isTrusted: Bool { isReachable && mainPath.isTrusted }

    /// Why the path is metered; `nil` if it is not, or if that is not known.
    public var meteredReason: MeteredReason? {
        guard isReachable, isMetered else { return nil }
        return mainPath.meteredReason ?? (ipv6.status == .reachable ? ipv6.meteredReason : nil)
    }

    /// What the line of the path is like; `nil` when not reachable, and where it is not measured.
    public var quality: LineQuality? { isReachable ? mainPath.quality : nil }

    /// The names of the links below the path's, nearest first.
    package var carriers: [String] { mainPath.lower }

    /// Whether a path leaves over a link of this class, directly or below a tunnel.
    public func uses(_ linkClass: LinkClass) -> Bool {
        guard isReachable else { return false }
        return [ipv4, ipv6].contains { path in
            path.status == .reachable && (path.linkClass == linkClass || path.carrierClass == linkClass)
        }
    }
}

extension ReachabilityState {
    /// What a state consists of, apart from the target.
    fileprivate struct Values: Hashable, Sendable {
        var status: ReachabilityStatus = .unknown
        var reason: Reason?
        var rootCause: RootCause?
        var linkClass: LinkClass?
        var interface: String?
        var isMetered: Bool = false
        var connectivity: Connectivity = .unknown
        var isValidated: Bool = false
        var measuresQuality: Bool = false
        var portal: String?
        /// Shared, since few states have one.
        var portalSession: Shared<PortalSession>?
        var since: Timestamp
        var connectivitySince: Timestamp
        var epoch: UInt64 = 1
        var isStale: Bool = false
        var isHeld: Bool = false
        var heldCause: RootCause?
        var flaps: Int = 0
        var ipv4: NetworkPath = .unknown
        var ipv6: NetworkPath = .unknown
        var availableInterfaces: [AvailableInterface] = []

        init(since: Timestamp, connectivitySince: Timestamp) {
            self.since = since
            self.connectivitySince = connectivitySince
        }
    }
}
