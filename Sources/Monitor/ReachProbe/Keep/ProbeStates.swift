internal import ReachCore

/// What a probe knows of its paths: by them it is decided whether it tries, and what an attempt costs. All states are
/// those of paths up to the target: ``ReachabilityState/upToTarget``.
struct ProbeStates {
    /// What a watched state is about.
    enum Watched {
        /// The target, by the path on which the probe is.
        case target
        /// The same by the best path that satisfies the probe's condition.
        case chosen
        /// The same by the kernel's own choice, of a probe that is bound to an interface.
        case unbound
        case internet
    }

    private var states: [Watched: ReachabilityState] = [:]

    subscript(watched: Watched) -> ReachabilityState? { states[watched] }

    mutating func note(_ state: ReachabilityState, of watched: Watched) { states[watched] = state.upToTarget }

    /// By which choice of paths an attempt leaves.
    var choice: Watched { states[.chosen]?.isReachable == true ? .chosen : .target }

    /// The state of the paths by which an attempt leaves; those of the Internet while the target's name is not
    /// resolved.
    private var leaving: ReachabilityState? {
        guard choice == .target else { return states[.chosen] }
        return states[.target].flatMap { $0.reason == .nameNotResolved ? states[.internet] : $0 }
    }

    /// Whether an attempt now costs money, or may.
    var mayBeMetered: Bool { leaving?.isMetered ?? true }

    /// The paths by which attempts leave, if they lead beyond this machine's own networks.
    var farPaths: [(family: IPAddress.Family, interface: String)] {
        guard let state = leaving, state.isReachable else { return [] }
        return [(IPAddress.Family.ipv4, state.ipv4), (.ipv6, state.ipv6)].compactMap { family, path in
            guard path.status == .reachable, let interface = path.interface, path.linkClass != .loopback else {
                return nil
            }
            // Without a gateway only a link to a single far end leads anywhere. An interface's own path tells of no
            // gateway.
            let isFar = path.gateway != nil || path.linkClass == .tunnel || path.linkClass == .wwan
            return isFar || state.target.isInterface ? (family, interface) : nil
        }
    }
}

extension Target {
    fileprivate var isInterface: Bool { if case .interface = subject { true } else { false } }
}
