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
