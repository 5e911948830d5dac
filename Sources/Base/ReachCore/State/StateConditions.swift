extension NetworkCondition {
    /// Whether it holds for a target. A stale or unknown state satisfies nothing: waiting ends on what is known.
    package func holds(in state: ReachabilityState) -> Bool {
        guard !state.isStale, unreadable == nil else { return false }
        if isTargetUnreachable { return state.status == .notReachable }
        return interface(in: state) != nil
    }

    /// The interface of the first path to a target that satisfies it, IPv4 before IPv6. It is empty where the state
    /// names none, and `nil` if no path satisfies the condition.
    package func interface(in state: ReachabilityState) -> String? {
        guard state.isReachable else { return nil }
        return StatePath.all(of: state).first { unmet(on: $0).isEmpty }?.interface
    }

    /// What keeps the path to a target that comes closest from satisfying it.
    package func unmet(in state: ReachabilityState) -> Unmet {
        guard state.isReachable else { return unmetWithoutPath }
        let unmet = StatePath.all(of: state).map { self.unmet(on: $0) }
        return unmet.min { $0.rawValue.nonzeroBitCount < $1.rawValue.nonzeroBitCount } ?? unmetWithoutPath
    }

    /// Whether a link that cannot send at the moment would satisfy it if it could.
    package func wouldAllow(_ link: LinkReport, among links: [LinkReport]) -> Bool {
        let carrier = link.linkClass == .tunnel ? link.lower.last : nil
        var traits = PathTraits(
            linkClass: link.linkClass, carrierClass: links.first { $0.link.name == carrier }?.linkClass,
            isMetered: link.isMetered)
        traits.alternativeNames = link.link.alternativeNames
        return wouldAllow(traits, of: link.link.name)
    }
}

/// The path of a state in one family. Class, meter and proof are those of the state as a whole, and only the network is
/// its own.
private struct StatePath: ConditionedPath {
    let interface: String
    private(set) var traits: PathTraits
    let isValidated: Bool
    private(set) var quality: LineQuality.Word?
    let families: Set<IPAddress.Family>

    private init(_ state: ReachabilityState, _ interface: String?, _ families: Set<IPAddress.Family>) {
        self.interface = interface ?? ""
        // Those of IPv4 where both families work, as for the class.
        var traits = (state.ipv4.status == .reachable ? state.ipv4 : state.ipv6).traits
        traits.linkClass = state.linkClass
        traits.isMetered = state.isMetered
        self.traits = traits
        isValidated = state.connectivity == .full
        quality = state.quality?.word
        self.families = families
    }

    /// The path of one family, which has a network of its own.
    private init(_ state: ReachabilityState, _ path: NetworkPath, _ family: IPAddress.Family) {
        self.init(state, path.interface, [family])
        traits.network = path.network
        traits.alternativeNames = path.traits.alternativeNames
        quality = path.quality?.word
    }

    static func all(of state: ReachabilityState) -> [StatePath] {
        let working = [(IPAddress.Family.ipv4, state.ipv4), (.ipv6, state.ipv6)].filter { $0.1.status == .reachable }
        guard !working.isEmpty else { return [StatePath(state, state.interface, [.ipv4, .ipv6])] }
        return working.map { StatePath(state, $0.1, $0.0) }
    }
}
