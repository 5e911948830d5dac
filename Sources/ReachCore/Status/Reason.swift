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

extension Reason {
    /// What it means, for people.
    package var sentence: String {
        switch self {
        case .noRoute: "no route"
        case .blackhole: "a route discards the packets"
        case .unreachable: "a route rejects the packets as unreachable"
        case .prohibited: "a route or rule forbids it"
        case .noCarrier: "the link has no carrier"
        case .dormant: "the link waits for authentication"
        case .linkDown: "the link is down"
        case .noInterface: "no interface has that name"
        case .noAddress: "no usable address to send from"
        case .gatewayUnreachable: "the gateway does not answer"
        case .neighbourUnreachable: "the host does not answer on its own link"
        case .nameNotResolved: "the name could not be resolved"
        case .notAsked: "not asked"
        case .cannotObserve: "it cannot be observed"
        }
    }
}
