public import ReachCore
internal import ReachLoop

/// The current state. Callbacks receive changes in their order; these properties are always the newest, and may be
/// ahead of the change that a callback is about.
extension ReachabilityMonitor {
    /// The complete state as of the last change. Its status is unknown until it is determined after the first start.
    public var state: ReachabilityState { dispatcher.held }

    /// Whether the target can be reached.
    public var status: ReachabilityStatus { state.status }

    /// Whether the target can be reached, as one of AFNetworking's four values.
    public var networkReachabilityStatus: NetworkReachabilityStatus { state.networkReachabilityStatus }

    /// Whether the target can be reached, through any link.
    public var isReachable: Bool { state.isReachable }

    /// Whether the target can be reached through a cellular modem.
    public var isReachableViaWWAN: Bool { networkReachabilityStatus == .reachableViaWWAN }

    /// Whether the target can be reached through any other link: Wi-Fi and, as in AFNetworking, cable.
    public var isReachableViaWiFi: Bool { networkReachabilityStatus == .reachableViaWiFi }

    /// The status for people: "Unknown", "Not Reachable", "Reachable via WWAN" or "Reachable via WiFi", as translated
    /// by ``ReachabilityOptions/translation``.
    public var localizedStatusDescription: String { options.translation(networkReachabilityStatus.displayText) }

    /// The class of the link that carries the path; `nil` when not reachable.
    public var linkClass: LinkClass? { state.linkClass }

    /// The interface of the path; `nil` when not reachable.
    public var interface: String? { state.interface }

    /// The IPv4 path.
    public var ipv4: NetworkPath { state.ipv4 }

    /// The IPv6 path.
    public var ipv6: NetworkPath { state.ipv6 }

    /// Why the target is not reachable, or why that is unknown; `nil` when reachable.
    public var reason: Reason? { state.reason }

    /// Whether the path costs money or has a data cap: NWPath's `isExpensive`. Linux has nothing like its
    /// `isConstrained`.
    public var isMetered: Bool { state.isMetered }
}

extension PortalSession {
    /// Whole seconds until the session ends; 0 after its end; `nil` if it has no end, or if the portal does not say.
    public var secondsRemaining: Int64? { secondsRemaining(at: SystemClock.boot) }
}
