/// The links that carried a target's paths when it was last reachable. A route that is gone does not say which link it
/// used.
package struct PathMemory: Hashable, Sendable {
    package struct Carrier: Hashable, Sendable {
        package let family: IPAddress.Family
        package let index: InterfaceIndex
        package let name: String
        /// The names of the links below, nearest first.
        package let lower: [String]
        package let traits: PathTraits
    }

    /// The carriers, IPv4 before IPv6; empty if the target was never reachable.
    package private(set) var carriers: [Carrier] = []

    package init() {}

    /// The memory of an observer that says only what broke, and of which link.
    ///
    /// Whether the link carried one family or both is not said, and a link lacks nothing in a family that it never
    /// carried. So it is remembered in those with which the cause is found again that the observer says.
    package init(
        of cause: RootCause, on index: InterfaceIndex, where found: (PathMemory) -> RootCause?
    ) {
        var path = NetworkPath(status: .reachable)
        (path.interface, path.interfaceIndex) = (cause.interface, index)
        let all = [(path, path), (path, .notAsked), (.notAsked, path)].map { ipv4, ipv6 in
            var memory = PathMemory()
            memory.remember(ipv4, ipv6)
            return memory
        }
        self = all.first { found($0) == cause } ?? all[0]
    }

    /// Remembers the paths that work. Without any, what is known stays.
    package mutating func remember(_ ipv4: NetworkPath, _ ipv6: NetworkPath) {
        let working = [Self.carrier(of: .ipv4, ipv4), Self.carrier(of: .ipv6, ipv6)].compactMap { $0 }
        if !working.isEmpty { carriers = working }
    }

    // Packets to this machine itself leave by no link.
    private static func carrier(of family: IPAddress.Family, _ path: NetworkPath) -> Carrier? {
        guard path.status == .reachable, path.linkClass != .loopback, let index = path.interfaceIndex,
            let name = path.interface
        else { return nil }
        return Carrier(family: family, index: index, name: name, lower: path.lower, traits: path.traits)
    }

    /// The carriers that a condition allows.
    package func allowed(by condition: NetworkCondition) -> PathMemory {
        guard condition != .any else { return self }
        var memory = self
        memory.carriers = carriers.filter { condition.wouldAllow($0.traits, of: $0.name) }
        return memory
    }
}

/// What an observer knows beyond the kernel's present state, from which a root cause may follow. A single query has
/// none of it.
package struct RootCauseMemory: Hashable, Sendable {
    /// The links that carried the target's paths before.
    package var paths = PathMemory()
    /// How often access points have refused links.
    package var admissions = AdmissionCounter()
    package var links = ObservedLinks()

    package init(
        paths: PathMemory = PathMemory(), admissions: AdmissionCounter = AdmissionCounter(),
        links: ObservedLinks = ObservedLinks()
    ) {
        self.paths = paths
        self.admissions = admissions
        self.links = links
    }
}

/// What an observer has seen of links, and the kernel does not show.
package struct ObservedLinks: Hashable, Sendable {
    /// When links became usable.
    package var usableSince: [InterfaceIndex: BootTime] = [:]
    /// The tunnels whose far end is not known that some link could carry.
    package var carriedTunnels: Set<InterfaceIndex> = []
    /// Those that received while no such link worked: something else carries them.
    package var independentTunnels: Set<InterfaceIndex> = []

    package init() {}
}
