extension ReachabilityState {
    /// What is proved of the Internet over the one way to this target; `nil` unless it is proved that the Internet does
    /// not answer there. The kernel has a path, and nothing beyond its gateway can be used.
    ///
    /// - Parameter internet: The state of the Internet.
    package func provedOutage(by internet: ReachabilityState) -> Connectivity? {
        guard isReachable, internet.isReachable, target != .internet, !isNear else { return nil }
        let ways = [(ipv4, internet.ipv4), (ipv6, internet.ipv6)].filter { $0.0.status == .reachable }
        let isCommon = ways.allSatisfy { own, common in
            own.gateway != nil && own.interfaceIndex == common.interfaceIndex && own.gateway == common.gateway
        }
        guard isCommon else { return nil }
        // Where only names are not resolved, whoever has an address is answered.
        guard internet.connectivityReason == nil else { return nil }
        switch internet.connectivity {
        case .limited, .portal: return internet.connectivity
        case .unknown, .none, .full: return nil
        }
    }

    /// The state with what is proved of its one way by the checks of the Internet: what history, page and metrics show
    /// of a target.
    ///
    /// - Parameter internet: The state of the Internet; `nil` if it is not known.
    package func proved(by internet: ReachabilityState?) -> ReachabilityState {
        guard let internet, let proof = provedOutage(by: internet) else { return self }
        var state = self
        (state.connectivity, state.isValidated) = (proof, true)
        state.connectivitySince = max(internet.connectivitySince, since)
        return state
    }

    /// Whether the target is of this machine or of a private network, which may be behind the gateway without the
    /// Internet.
    private var isNear: Bool {
        switch target.subject {
        case .interface: true
        case .address(let address, _): address.scope <= .site
        case .prefix(let prefix): prefix.address.scope <= .site
        case .internet, .name: false
        }
    }
}
