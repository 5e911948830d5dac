/// Whether a target can be reached, as far as the kernel's tables tell. No packet is sent to find out.
public enum ReachabilityStatus: String, Hashable, Sendable, CaseIterable {
    /// Not determined: not asked yet, or it could not be observed. It is not "offline", and should stop nobody.
    case unknown
    /// The kernel has no working path to it.
    case notReachable = "not-reachable"
    /// The kernel has a path to it. That what lies beyond the first hop works is not promised.
    case reachable
}

/// The four values of AFNetworking's reachability manager, with its raw values.
///
/// Everything reachable that is not WWAN counts as Wi-Fi, wired links included, as it did there.
public enum NetworkReachabilityStatus: Int, Hashable, Sendable, CaseIterable {
    /// Not determined.
    case unknown = -1
    /// Not reachable.
    case notReachable = 0
    /// Reachable through a cellular modem.
    case reachableViaWWAN = 1
    /// Reachable through anything else.
    case reachableViaWiFi = 2

    /// AFNetworking's view of a status and the class of link that carries it.
    public init(_ status: ReachabilityStatus, linkClass: LinkClass?) {
        switch status {
        case .unknown: self = .unknown
        case .notReachable: self = .notReachable
        case .reachable: self = linkClass == .wwan ? .reachableViaWWAN : .reachableViaWiFi
        }
    }
}
