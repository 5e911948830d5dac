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
