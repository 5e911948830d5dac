package import ReachCore

/// Whether a probe may be sent by the current path, and which interface it is then bound to.
///
/// An unknown state holds nothing back: the kernel may not be observable. An attempt that then has no path reports that
/// itself.
package enum ProbeGate: Hashable, Sendable {
    case open(Binding?)
    case closed(ProbePause)

    /// The interface that an attempt is bound to.
    package struct Binding: Hashable, Sendable {
        package let name: String
        /// `nil` if it is not known.
        package let index: InterfaceIndex?

        package init(name: String, index: InterfaceIndex?) {
            self.name = name
            self.index = index
        }
    }

    /// - Parameters:
    ///   - condition: What the path must be: ``ProbeSpecification/condition``.
    ///   - target: The state of ``ProbeSpecification/watchedTarget`` by the kernel's own choice of paths.
    ///   - chosen: Its state by the best path that satisfies ``ProbeSpecification/pathCondition``; `nil` without one.
    ///   - unbound: The state of the probe's target by the kernel's own choice, where
    ///     ``ProbeSpecification/watchedTarget`` is bound to an interface.
    ///   - internet: The state of the Internet, which replaces that of a name that has not been resolved.
    ///   - survey: What checks have proved of each interface; `nil` without checks.
    package static func decide(
        _ condition: NetworkCondition, target: ReachabilityState?, chosen: ReachabilityState? = nil,
        unbound: ReachabilityState? = nil, internet: ReachabilityState?, survey: ConnectivitySurvey? = nil
    ) -> ProbeGate {
        let asked = target.flatMap { $0.reason == .nameNotResolved ? internet : $0 }
        let state = chosen.flatMap { $0.isReachable ? $0 : nil } ?? asked
        if let name = condition.interface, let tunnelled = unbound?.reason == .nameNotResolved ? internet : unbound,
            tunnelled.leadsIntoTunnel(besides: name), state?.passesTunnels != true
        {
            return .closed(.tunnel)
        }
        if state?.status == .notReachable { return .closed(condition.interface == nil ? .noPath : .interface) }
        // The watched target is the path by that interface.
        var others = condition
        others.interface = nil
        if others == .any { return .open(condition.interface.map { Binding(name: $0, index: nil) }) }
        // The probe must not use another path, so an unknown one does not do.
        let proved = state.map { survey?.proving($0) ?? $0 }
        guard let state = proved, let interface = condition.interface(in: state) else {
            return .closed(ProbePause(lacking: condition, proved))
        }
        let path = [state.ipv4, state.ipv6].first { $0.interface == interface }
        return .open(Binding(name: interface, index: path?.interfaceIndex))
    }
}

extension ProbePause {
    /// What a path lacks that does not satisfy a condition. Of several things, the one that another path would mend
    /// comes first.
    fileprivate init(lacking condition: NetworkCondition, _ state: ReachabilityState?) {
        let blocker = state.flatMap { $0.isReachable ? condition.unmet(in: $0) : nil }
        // Of a path that is not known, all that is asked for is missing.
        let unmet = blocker ?? condition.terms
        if unmet.contains(.linkClass) {
            self = .linkClass
        } else if unmet.contains(.network) {
            self = .network
        } else if unmet.contains(.metered) {
            self = .metered
        } else if unmet.contains(.validated) {
            self = .notValidated
        } else if unmet.contains(.quality) {
            self = .quality
        } else {
            self = .noPath
        }
    }
}

extension NetworkCondition {
    fileprivate var terms: Unmet {
        var terms: Unmet = []
        if linkClass != nil || !excludedClasses.isEmpty { terms.insert(.linkClass) }
        if namesNetworks { terms.insert(.network) }
        if isUnmetered { terms.insert(.metered) }
        if isValidated { terms.insert(.validated) }
        if quality != nil { terms.insert(.quality) }
        return terms
    }
}

extension ProbeSpecification {
    /// What a path must be, beyond what the kernel chooses; `nil` where any path does. A destination with a route of
    /// its own has that path only, and otherwise the best of the default routes that satisfy it counts.
    package var pathCondition: NetworkCondition? {
        var needed = condition
        (needed.interface, needed.isValidated, needed.isTargetReachable) = (nil, false, false)
        needed.quality = nil
        return needed == .any || condition.interface != nil ? nil : needed
    }

    /// The target whose path decides whether the probe may be sent.
    package var watchedTarget: Target {
        guard let name = condition.interface else { return target.reachabilityTarget }
        // An address has one path by a given interface. A name has one for each of its addresses, so the interface
        // decides.
        if case .address(let address, _) = target.host, let bound = try? Target("\(address)%\(name)") { return bound }
        return (try? Target("interface:" + name)) ?? .internet
    }
}

extension ReachabilityState {
    /// Whether there is a path to an address of the target, or without one in each family in which the target has any.
    func hasPath(to address: IPAddress?) -> Bool {
        guard isReachable else { return false }
        if let address { return (address.family == .ipv4 ? ipv4 : ipv6).status == .reachable }
        return [ipv4, ipv6].allSatisfy { $0.status == .reachable || $0.reason == .notAsked }
    }

    /// Whether the kernel sends to the target into a tunnel other than this interface.
    fileprivate func leadsIntoTunnel(besides name: String) -> Bool {
        [ipv4, ipv6].contains { (path: NetworkPath) in
            path.traits.isTunnelled && !path.traits.isNamed(name, of: path.interface)
        }
    }

    /// Whether the configuration lets packets leave by the interface past tunnels.
    fileprivate var passesTunnels: Bool { [ipv4, ipv6].contains { $0.traits.passesTunnels } }

    /// Whether packets use the same paths as in `earlier`, so that an attempt that started then is valid for this
    /// state.
    package func leadsTheSameWay(as earlier: ReachabilityState) -> Bool {
        ipv4.leadsTheSameWay(as: earlier.ipv4) && ipv6.leadsTheSameWay(as: earlier.ipv6)
    }
}
