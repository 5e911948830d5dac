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

/// Something about a target changed.
public struct ReachabilityChange: Hashable, Sendable {
    /// What can differ between two states and is worth telling.
    public enum Aspect: String, Hashable, Sendable, CaseIterable {
        /// The status. Path, class and meter differ with it and are not listed then.
        case status
        /// The interface, gateway, source or table of a family's path, or why there is none.
        case path
        /// The class of the link.
        case linkClass = "class"
        /// What probes prove.
        case connectivity
        /// Whether the path is metered.
        case metered
    }

    /// Goes up by one with every change of one monitor; the same for everybody who is told.
    public internal(set) var sequenceNumber: UInt64 = 0
    /// When it was decided.
    public let time: Timestamp
    /// When it was decided, on the clock that never jumps.
    public let bootTime: BootTime
    /// It is the state that was in force when the watch began, and no difference.
    public let isInitial: Bool
    /// What brought it about.
    public let cause: Cause
    /// What differs. Empty for the initial state.
    public let aspects: [Aspect]
    /// What held before; `nil` for the initial state.
    public let previous: ReachabilityState?
    /// What holds now.
    public let state: ReachabilityState

    package init(
        at moment: Instant, cause: Cause, aspects: [Aspect], previous: ReachabilityState?, state: ReachabilityState
    ) {
        time = moment.wall
        bootTime = moment.boot
        isInitial = previous == nil
        self.cause = cause
        self.aspects = aspects
        self.previous = previous
        self.state = state
    }

    /// The same change with its place in a monitor's series.
    package func numbered(_ number: UInt64) -> ReachabilityChange {
        var copy = self
        copy.sequenceNumber = number
        return copy
    }
}
