package import ReachCore

/// Whether a probe may be sent by the way that is there now, and which interface it is then bound to.
///
/// Not known is no reason to hold anything back (the state of a target is unknown where the kernel cannot be observed, for
/// instance); an attempt that then has no path says so itself.
package enum ProbeGate: Hashable, Sendable {
    case open(Binding?)
    case closed(ProbePause)

    /// The interface that an attempt is bound to.
    package struct Binding: Hashable, Sendable {
        package let name: String
        /// `nil` where the kernel has not told it.
        package let index: InterfaceIndex?

        package init(name: String, index: InterfaceIndex?) {
            self.name = name
            self.index = index
        }
    }

    /// - Parameters:
    ///   - target: The state of ``ProbeSpecification/watchedTarget``.
    ///   - internet: The Internet's, for names that have never been resolved.
    package static func decide(
        _ way: ProbeSpecification.Way, target: ReachabilityState?, internet: ReachabilityState?
    ) -> ProbeGate {
        let target = target.flatMap { $0.reason == .nameNotResolved ? internet : $0 }
        let isGone = target?.status == .notReachable
        switch way {
        case .any: return isGone ? .closed(.noPath) : .open(nil)
        case .interface(let name):
            return isGone ? .closed(.interface) : .open(Binding(name: name, index: nil))
        case .linkClass(let wanted):
            guard !isGone else { return .closed(.noPath) }
            guard let target, target.status == .reachable, let interface = target.interface else {
                // Its promise is to send by no other class: what is not known to be right is not right.
                return .closed(.linkClass)
            }
            guard target.linkClass == wanted else { return .closed(.linkClass) }
            let path = [target.ipv4, target.ipv6].first { $0.interface == interface }
            return .open(Binding(name: interface, index: path?.interfaceIndex))
        }
    }
}

extension ProbeSpecification {
    /// Whose path decides whether it may be sent.
    package var watchedTarget: Target {
        guard case .interface(let name) = way else { return target.reachabilityTarget }
        // For an address there is a way by a certain interface; a name has as many as it has addresses.
        if case .address(let address, _) = target.host, let bound = try? Target("\(address)%\(name)") { return bound }
        return (try? Target("interface:" + name)) ?? .internet
    }
}

extension ReachabilityState {
    /// Packets go the same way as in `earlier`: an attempt that began then is still about what holds now.
    package func leadsTheSameWay(as earlier: ReachabilityState) -> Bool {
        ipv4.leadsTheSameWay(as: earlier.ipv4) && ipv6.leadsTheSameWay(as: earlier.ipv6)
    }
}
