/// The reason why a target is not reachable, or why that is unknown.
public enum Reason: String, Hashable, Sendable, CaseIterable {
    /// There is no route to the target (ENETUNREACH).
    case noRoute = "no-route"
    /// A route or rule discards packets silently (EINVAL), or a default route points at the machine itself.
    case blackhole
    /// A route rejects packets as unreachable (EHOSTUNREACH).
    case unreachable
    /// A route or rule prohibits the packets (EACCES).
    case prohibited
    /// The link, or one below it, has no carrier.
    case noCarrier = "no-carrier"
    /// The link has a carrier and waits for authentication, by 802.1X or a WPA handshake.
    case dormant
    /// The link, or one below it, is down.
    case linkDown = "link-down"
    /// No interface has the given name.
    case noInterface = "no-interface"
    /// There is no usable address to send from: only tentative, duplicate or link-local ones, or none.
    case noAddress = "no-address"
    /// The gateway does not answer ARP or neighbour discovery.
    case gatewayUnreachable = "gateway-unreachable"
    /// The target is on this link and does not answer ARP or neighbour discovery.
    case neighbourUnreachable = "neighbour-unreachable"
    /// The name has no address (status `notReachable`), or the resolver gave no answer (status `unknown`).
    case nameNotResolved = "name-not-resolved"
    /// The family does not concern the target: an IPv4 address has no path in IPv6.
    case notAsked = "not-asked"
    /// The kernel or the daemon could not be queried.
    case cannotObserve = "cannot-observe"
}

extension Reason {
    /// The reason in words, for people.
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

    /// The rank of the reason if both families fail; the lowest explains the verdict. The failure nearest to the target
    /// is the most informative: a dead gateway says more than a family that was never configured.
    var rank: Int {
        switch self {
        case .gatewayUnreachable, .neighbourUnreachable: 0
        case .noCarrier, .dormant: 1
        case .linkDown: 2
        case .noAddress: 3
        case .prohibited: 4
        case .unreachable: 5
        case .blackhole: 6
        case .noRoute: 7
        case .noInterface, .nameNotResolved, .cannotObserve, .notAsked: 8
        }
    }

    /// The layer that has failed.
    package var layer: OutageLayer {
        switch self {
        case .noCarrier, .dormant, .linkDown, .noInterface: .link
        case .noAddress: .address
        case .noRoute, .blackhole, .unreachable, .prohibited: .route
        case .gatewayUnreachable, .neighbourUnreachable: .gateway
        case .nameNotResolved: .name
        case .notAsked, .cannotObserve: .target
        }
    }
}
