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
    /// Where the root cause is to be looked for.
    enum Origin: Hashable {
        /// Nothing is broken, or it is not known what.
        case none
        /// The reason is the root cause, and concerns no interface.
        case itself(RootCause.Kind)
        /// The same, of the interface that the kernel names.
        case neighbour(RootCause.Kind)
        /// The same, where the kernel names none: no route helps while no link works.
        case refusal(RootCause.Kind)
        case interface
        case address
        case link
    }

    /// All that is known of a reason but its word, in one row.
    package struct Row: Sendable {
        /// The layer that has failed.
        package let layer: OutageLayer
        /// The rank if both families fail; the lowest explains the verdict. The failure nearest to the target is the
        /// most informative: a dead gateway says more than a family that was never configured.
        let rank: Int
        let origin: Origin
        package let clause: Clause
        /// A short form for a table of links; `nil` for the word.
        package let short: String?

        init(_ layer: OutageLayer, _ rank: Int, _ origin: Origin, _ clause: Clause, short: String? = nil) {
            self.layer = layer
            self.rank = rank
            self.origin = origin
            self.clause = clause
            self.short = short
        }
    }

    package var row: Row {
        switch self {
        case .gatewayUnreachable: Row(.gateway, 0, .neighbour(.gatewayUnreachable), "the gateway does not answer")
        case .neighbourUnreachable:
            Row(.gateway, 0, .neighbour(.neighbourUnreachable), "the host does not answer on its own link")
        case .noCarrier: Row(.link, 1, .link, "the link has no carrier", short: "no carrier")
        case .dormant: Row(.link, 1, .link, "the link waits for authentication")
        case .linkDown: Row(.link, 2, .link, "the link is down", short: "lower link down")
        case .noAddress: Row(.address, 3, .address, "no usable address to send from")
        case .prohibited: Row(.route, 4, .refusal(.prohibited), "a route or rule forbids it")
        case .unreachable: Row(.route, 5, .refusal(.unreachable), "a route rejects the packets as unreachable")
        case .blackhole: Row(.route, 6, .refusal(.blackhole), "a route discards the packets")
        case .noRoute: Row(.route, 7, .link, "no route")
        case .noInterface: Row(.link, 8, .interface, "no interface has that name")
        case .nameNotResolved: Row(.name, 8, .itself(.nameNotResolved), "the name could not be resolved")
        case .notAsked: Row(.target, 8, .none, "not asked")
        case .cannotObserve: Row(.target, 8, .none, "it cannot be observed")
        }
    }

    /// The reason in words, for people.
    package var sentence: String { row.clause.text }

    package var layer: OutageLayer { row.layer }
}

/// The part of the way to a target that failed. The raw values are words of the interface.
package enum OutageLayer: String, Hashable, Sendable, CaseIterable {
    /// The link is down, has no carrier, waits for authentication, or is gone.
    case link
    /// There is no usable address to send from.
    case address
    /// There is no route, or one that rejects or discards packets.
    case route
    /// The gateway, or the host itself on this machine's own link, does not answer.
    case gateway
    /// The name has no address.
    case name
    /// A login page answers instead of the Internet.
    case portal
    /// There is a path, but nothing answered behind it: the provider failed, or something behind the provider.
    case internet
    /// What a probe tests did not answer as it should.
    case target

    var isBelowRoutes: Bool {
        switch self {
        case .link, .address: true
        case .route, .gateway, .name, .portal, .internet, .target: false
        }
    }
}

/// Who can mend a fault. The raw values are words of the interface.
package enum ResponsibleParty: String, Hashable, Sendable, CaseIterable {
    case thisMachine = "this-machine"
    case localNetwork = "local-network"
    case provider
    case nameServer = "name-server"
    case proxy
    case server
    /// Two or more remain, and only another fact would decide: ``Diagnosis/Blame/between``.
    case undecided
}
