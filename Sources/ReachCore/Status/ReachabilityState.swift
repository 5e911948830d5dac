/// All that is known of a target at one moment.
public struct ReachabilityState: Hashable, Sendable {
    /// What was asked about.
    public var target: Target
    /// Whether it can be reached.
    public var status: ReachabilityStatus = .unknown
    /// Why not, or why it is not known; `nil` when reachable, and before the first look.
    public var reason: Reason?
    /// What kind of link carries the path; `nil` when not reachable.
    public var linkClass: LinkClass?
    /// The interface of the path; `nil` when not reachable.
    public var interface: String?
    /// The path costs money or is capped.
    public var isMetered = false
    /// What probes have proved of the Internet; `unknown` where none has run.
    public var connectivity: Connectivity = .unknown
    /// Probes run to find that out. Where they do not, it stays unknown.
    public var isValidated = false
    /// The page on which a portal wants a login; `nil` where there is none, or its address is not known.
    public var portal: String?
    /// Since when the status has been what it is, as far as this program has seen.
    public var since: Timestamp
    /// Goes up whenever path, source or gateway of the Internet change; starts at 1.
    public var epoch: UInt64 = 1
    /// The kernel cannot be observed at the moment: this is what was last known.
    public var isStale = false
    /// The status differs from this one now, and a hold-down is waiting to see whether it lasts.
    public var isHeld = false
    /// How many times the target went from reachable to not reachable and back, those that a hold-down hid included.
    public var flaps = 0
    /// The path in IPv4.
    public var ipv4: NetworkPath = .unknown
    /// The path in IPv6.
    public var ipv6: NetworkPath = .unknown

    /// The state of a target that has not been looked at.
    package init(target: Target, since: Timestamp) {
        self.target = target
        self.since = since
    }

    /// Takes over what a verdict says.
    package mutating func adopt(_ verdict: Verdict) {
        status = verdict.status
        reason = verdict.reason
        linkClass = verdict.linkClass
        interface = verdict.interface
        isMetered = verdict.isMetered
        ipv4 = verdict.ipv4
        ipv6 = verdict.ipv6
    }

    /// AFNetworking's view of it.
    public var networkReachabilityStatus: NetworkReachabilityStatus {
        NetworkReachabilityStatus(status, linkClass: linkClass)
    }

    /// A path exists, whatever carries it.
    public var isReachable: Bool { status == .reachable }
}
