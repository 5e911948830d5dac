/// Everything that is known about a target at one moment.
///
/// Copies share their storage until one of them changes, so a state costs little to hand on and to keep.
public struct ReachabilityState: Hashable, Sendable {
    /// The target.
    public package(set) var target: Target
    /// The name that the daemon's configuration gives to the target; `nil` without one, and without a daemon.
    public package(set) var name: String?
    /// All but the target, in storage that copies share.
    private var shared: Shared<Values>

    /// Whether it can be reached.
    public package(set) var status: ReachabilityStatus {
        get { shared.value.verdict.status }
        set { shared.value.verdict.status = newValue }
    }
    /// Why the target is not reachable, or why that is unknown; `nil` when reachable, and before the first verdict.
    public package(set) var reason: Reason? {
        get { shared.value.verdict.reason }
        set { shared.value.verdict.reason = newValue }
    }
    /// What broke, and which interface; `nil` when reachable, and where it is not known whether the target is.
    public package(set) var rootCause: RootCause? {
        get { shared.value.verdict.rootCause }
        set { shared.value.verdict.rootCause = newValue }
    }
    /// The class of the link that carries the path; `nil` when not reachable.
    public package(set) var linkClass: LinkClass? {
        get { shared.value.verdict.linkClass }
        set { shared.value.verdict.linkClass = newValue }
    }
    /// The interface of the path; `nil` when not reachable.
    public package(set) var interface: String? {
        get { shared.value.verdict.interface }
        set { shared.value.verdict.interface = newValue }
    }
    /// Whether using the path costs money or is limited by volume.
    public package(set) var isMetered: Bool {
        get { shared.value.verdict.isMetered }
        set { shared.value.verdict.isMetered = newValue }
    }
    /// What probes have proved about the Internet; `unknown` if none has run.
    public package(set) var connectivity: Connectivity {
        get { shared.value.connectivity }
        set { shared.value.connectivity = newValue }
    }
    /// Why the Internet does not answer although there is a path, where checks have proved more than that:
    /// ``Reason/nameNotResolved`` if only names are not resolved. Otherwise `nil`.
    public package(set) var connectivityReason: Reason? {
        get { shared.value.connectivityReason }
        set { shared.value.connectivityReason = newValue }
    }
    /// Whether probes run to determine the connectivity. If not, it stays unknown.
    public package(set) var isValidated: Bool {
        get { shared.value.isValidated }
        set { shared.value.isValidated = newValue }
    }
    /// Whether the daemon measures what lines are like. If not, ``quality`` stays `nil`.
    public package(set) var measuresQuality: Bool {
        get { shared.value.measuresQuality }
        set { shared.value.measuresQuality = newValue }
    }
    /// The login page of a captive portal; `nil` if there is none, or its address is unknown.
    public package(set) var portal: String? {
        get { shared.value.portal }
        set { shared.value.portal = newValue }
    }
    /// What the API of the network's portal says; `nil` if the network announces none, or if none answered.
    public package(set) var portalSession: PortalSession? {
        get { shared.value.portalSession?.value }
        set { shared.value.portalSession = newValue.map { Shared($0) } }
    }
    /// When the current status began, as far as this program has seen.
    public package(set) var since: Timestamp {
        get { shared.value.since }
        set { shared.value.since = newValue }
    }
    /// When ``connectivity`` became what it is, as far as this program has seen.
    public package(set) var connectivitySince: Timestamp {
        get { shared.value.connectivitySince }
        set { shared.value.connectivitySince = newValue }
    }
    /// A counter that starts at 1 and increases whenever the path, source or gateway to the Internet changes.
    package var epoch: UInt64 {
        get { shared.value.epoch }
        set { shared.value.epoch = newValue }
    }
    /// Whether this is only the last known state, because the kernel cannot be observed at the moment.
    public package(set) var isStale: Bool {
        get { shared.value.isStale }
        set { shared.value.isStale = newValue }
    }
    /// Whether a hold-down is holding back another status until it has lasted long enough, or the connectivity of a
    /// path that is back until a check has decided it.
    public package(set) var isHeld: Bool {
        get { shared.value.isHeld }
        set { shared.value.isHeld = newValue }
    }
    /// What broke, while a hold-down is holding back that the target is not reachable; otherwise `nil`.
    package var heldCause: RootCause? {
        get { shared.value.heldCause }
        set { shared.value.heldCause = newValue }
    }
    /// How often the target went from reachable to not reachable and back, including the times that a hold-down hid.
    package var flaps: Int {
        get { shared.value.flaps }
        set { shared.value.flaps = newValue }
    }
    /// The path in IPv4.
    public package(set) var ipv4: NetworkPath {
        _read { yield shared.value.verdict.ipv4 }
        set { shared.value.verdict.ipv4 = newValue }
    }
    /// The path in IPv6.
    public package(set) var ipv6: NetworkPath {
        _read { yield shared.value.verdict.ipv6 }
        set { shared.value.verdict.ipv6 = newValue }
    }
    /// The interfaces over which the target can be reached, in order of preference: those that the kernel chooses for
    /// IPv4 and IPv6, then by metric. Empty when there are none.
    ///
    /// Packets leave over the others only if their socket is bound to the interface (SO_BINDTODEVICE). From a daemon
    /// the list has only the interfaces that the kernel chooses.
    public package(set) var availableInterfaces: [AvailableInterface] {
        _read { yield shared.value.verdict.available }
        set { shared.value.verdict.available = newValue }
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
    package mutating func adopt(_ verdict: Verdict) { shared.value.verdict = verdict }

    /// Adopts a verdict whose paths lead the same way, about which the same is believed as before.
    mutating func adopt(_ verdict: Verdict, keepingProof: Bool) {
        let (proved4, proved6) = (ipv4.connectivity, ipv6.connectivity)
        let (quality4, quality6) = (ipv4.quality, ipv6.quality)
        adopt(verdict)
        guard keepingProof else { return }
        shared.value.verdict.ipv4.connectivity = proved4
        shared.value.verdict.ipv6.connectivity = proved6
        shared.value.verdict.ipv4.quality = quality4
        shared.value.verdict.ipv6.quality = quality6
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
        isReachable && (ipv4.uses(linkClass) || ipv6.uses(linkClass))
    }
}

extension ReachabilityState {
    /// What a state consists of, apart from the target.
    fileprivate struct Values: Hashable, Sendable {
        /// What the kernel's tables say, with what is proved of its paths.
        var verdict = Verdict(ipv4: .unknown, ipv6: .unknown)
        var connectivity: Connectivity = .unknown
        var connectivityReason: Reason?
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

        init(since: Timestamp, connectivitySince: Timestamp) {
            self.since = since
            self.connectivitySince = connectivitySince
        }
    }
}

extension ReachabilityState {
    /// The state for a program that accepts only paths that satisfy a condition, where no other paths are known than
    /// those of this state: from a daemon, which reports the kernel's own choice.
    package func choosing(where condition: NetworkCondition) -> ReachabilityState {
        let routes = [(IPAddress.Family.ipv4, ipv4), (.ipv6, ipv6)].compactMap { family, path in
            path.status == .reachable ? DefaultRoute(preferred: path, family, addresses: []) : nil
        }
        let verdict = Verdict(ipv4: ipv4, ipv6: ipv6).choosing(from: routes, where: condition)
        var state = self
        if verdict.ipv4 != ipv4 || verdict.ipv6 != ipv6 { state.adopt(verdict) }
        state.availableInterfaces = verdict.available
        // What broke is known of the kernel's own choice, whose link the condition may not allow.
        if condition != .any { state.rootCause = nil }
        return state
    }
}

extension ReachabilityState: CustomDebugStringConvertible {
    /// The state in one line, for logs of developers; its form may change: `internet: reachable by eth0 (wired),
    /// metered; IPv4 eth0 via 192.0.2.1 from 192.0.2.2; IPv6 not reachable (no-route)`.
    public var debugDescription: String {
        var text = "\(target): \(status.rawValue)"
        if let interface { text += " by \(interface)" }
        if let linkClass { text += " (\(linkClass.rawValue))" }
        if let reason { text += " (\(reason.rawValue))" }
        if let rootCause { text += ", since \(rootCause.sentence)" }
        if isMetered { text += ", metered" }
        if isStale { text += ", stale" }
        if isHeld { text += ", held" }
        let others = availableInterfaces.map(\.name).filter { $0 != interface }
        if !others.isEmpty { text += ", also by \(others.joined(separator: " "))" }
        return text + "; IPv4 \(ipv4.debugDescription); IPv6 \(ipv6.debugDescription)"
    }
}

extension NetworkPath: CustomDebugStringConvertible {
    /// The path in a few words, for logs of developers; its form may change: `eth0 via 192.0.2.1 from 192.0.2.2`.
    public var debugDescription: String {
        guard status == .reachable else {
            return status.rawValue + (reason.map { " (\($0.rawValue))" } ?? "")
        }
        let parts = [interface, gateway.map { "via \($0)" }, source.map { "from \($0)" }]
        return parts.compactMap(\.self).joined(separator: " ")
    }
}

/// The four values of AFNetworking's reachability manager, with its raw values.
///
/// As in AFNetworking, everything reachable that is not WWAN counts as Wi-Fi, including wired links.
public enum NetworkReachabilityStatus: Int, Hashable, Sendable, CaseIterable {
    /// Not determined.
    case unknown = -1
    /// Not reachable.
    case notReachable = 0
    /// Reachable through a cellular modem.
    case reachableViaWWAN = 1
    /// Reachable through anything else.
    case reachableViaWiFi = 2

    /// Creates the value for a status and the class of the link that carries the path.
    public init(_ status: ReachabilityStatus, linkClass: LinkClass?) {
        switch status {
        case .unknown: self = .unknown
        case .notReachable: self = .notReachable
        case .reachable: self = linkClass == .wwan ? .reachableViaWWAN : .reachableViaWiFi
        }
    }
}
