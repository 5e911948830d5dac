public import ReachCore

/// What is known at the moment. Callbacks are told of changes in their order; these are always the newest, and may be
/// ahead of the change that a callback is about.
extension ReachabilityMonitor {
    /// All that is known, as of the last change. Unknown until the first start has determined it.
    public var state: ReachabilityState { announcer.held }

    /// Whether the target can be reached.
    public var status: ReachabilityStatus { state.status }

    /// Whether the target can be reached, in AFNetworking's four values.
    public var networkReachabilityStatus: NetworkReachabilityStatus { state.networkReachabilityStatus }

    /// The target can be reached, through whatever link.
    public var isReachable: Bool { state.isReachable }

    /// The target can be reached through a cellular modem.
    public var isReachableViaWWAN: Bool { networkReachabilityStatus == .reachableViaWWAN }

    /// The target can be reached through anything that is no cellular modem: Wi-Fi and, as in AFNetworking, cable.
    public var isReachableViaWiFi: Bool { networkReachabilityStatus == .reachableViaWiFi }

    /// The status for people: "Unknown", "Not Reachable", "Reachable via WWAN" or "Reachable via WiFi", or what
    /// ``ReachabilityOptions/translation`` makes of it.
    public var localizedStatusDescription: String { options.translation(networkReachabilityStatus.displayText) }

    /// What kind of link carries the path; `nil` when not reachable.
    public var linkClass: LinkClass? { state.linkClass }

    /// The interface of the path; `nil` when not reachable.
    public var interface: String? { state.interface }

    /// The path in IPv4.
    public var ipv4: NetworkPath { state.ipv4 }

    /// The path in IPv6.
    public var ipv6: NetworkPath { state.ipv6 }

    /// Why it is not reachable, or not known; `nil` when reachable.
    public var reason: Reason? { state.reason }

    /// The path costs money or is capped.
    public var isMetered: Bool { state.isMetered }
}
