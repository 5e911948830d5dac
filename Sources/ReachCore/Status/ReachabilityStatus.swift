/// Whether a target can be reached, as far as the kernel's tables tell. No packet is sent to find out.
public enum ReachabilityStatus: String, Hashable, Sendable, CaseIterable {
    /// Not determined: not asked yet, or it could not be observed. It is not "offline", and should stop nobody.
    case unknown
    /// The kernel has no working path to it.
    case notReachable = "not-reachable"
    /// The kernel has a path to it. That what lies beyond the first hop works is not promised.
    case reachable
}

/// Why a target is not reachable, or why it is not known.
public enum Reason: String, Hashable, Sendable, CaseIterable {
    /// No route leads there (ENETUNREACH).
    case noRoute = "no-route"
    /// A route or rule discards packets silently (EINVAL), or a default route points at the machine itself.
    case blackhole
    /// A route rejects packets as unreachable (EHOSTUNREACH).
    case unreachable
    /// A route or rule forbids it (EACCES).
    case prohibited
    /// The link, or one below it, has no carrier.
    case noCarrier = "no-carrier"
    /// The link has a carrier and waits for something: 802.1X, a WPA handshake.
    case dormant
    /// The link, or one below it, is down.
    case linkDown = "link-down"
    /// No interface has the name that was asked for.
    case noInterface = "no-interface"
    /// No usable address to send from: none, tentative, duplicate, deprecated or good for the link only.
    case noAddress = "no-address"
    /// The gateway does not answer ARP or neighbour discovery.
    case gatewayUnreachable = "gateway-unreachable"
    /// The target is on this link and does not answer ARP or neighbour discovery.
    case neighbourUnreachable = "neighbour-unreachable"
    /// The name has no address, or the resolver could not be asked; the status tells which.
    case nameNotResolved = "name-not-resolved"
    /// The target has nothing to do with this family: an IPv4 address has no path in IPv6.
    case notAsked = "not-asked"
    /// The kernel or the daemon could not be asked.
    case cannotObserve = "cannot-observe"
}

/// What probes have proved about the Internet, in NetworkManager's words.
public enum Connectivity: String, Hashable, Sendable, CaseIterable {
    /// No probe has run.
    case unknown
    /// No probe could even be sent.
    case none
    /// A portal wants a login first.
    case portal
    /// There is a network, but the Internet does not answer.
    case limited
    /// The Internet answers.
    case full
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
