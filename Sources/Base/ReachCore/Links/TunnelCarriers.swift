/// The links that carry a tunnel's packets: with a known far end those of the routes to it, else all that could.
package struct TunnelCarriers: Hashable, Sendable {
    /// The likeliest first. Empty if none is known.
    package var links: [InterfaceIndex]
    /// Whether links of this namespace carried the tunnel before, and none can now.
    package var isLost: Bool
    /// Whether nothing shows that any of these links carries it: something else may, such as a serial line or USB.
    package var isUnknown = false

    package init(_ links: [InterfaceIndex] = [], isLost: Bool = false) {
        self.links = links
        self.isLost = isLost
    }
}

/// A link that could carry a tunnel whose far end is not known.
package struct CarrierCandidate: Hashable, Sendable {
    package let index: InterfaceIndex
    /// Whether hardware carries it.
    package let isHardware: Bool
    /// Whether it can carry packets now.
    package let works: Bool
    /// Whether it has an address of its own: then it is in use, or was before it broke.
    package let isInUse: Bool
    /// The metric of its route to the Internet; `nil` without one.
    package let metric: UInt32?

    package init(index: InterfaceIndex, isHardware: Bool, works: Bool, isInUse: Bool, metric: UInt32?) {
        self.index = index
        self.isHardware = isHardware
        self.works = works
        self.isInUse = isInUse
        self.metric = metric
    }
}

extension TunnelCarriers {
    /// The links that could carry a tunnel: those with a route to the Internet, whether or not they work at the moment.
    /// VPN programs may replace that route by one to their server, and a link that is down has no route: then hardware
    /// counts, and without hardware any link.
    package init(among candidates: [CarrierCandidate]) {
        let routed = candidates.filter { $0.metric != nil }
        let hardware = candidates.filter(\.isHardware)
        let chosen = !routed.isEmpty ? routed : !hardware.isEmpty ? hardware : candidates
        let sorted = chosen.sorted {
            ($0.works ? 0 : 1, $0.metric ?? 0, $0.index) < ($1.works ? 0 : 1, $1.metric ?? 0, $1.index)
        }
        self.init(sorted.map(\.index))
        isUnknown = !chosen.contains { $0.works || $0.isInUse }
    }
}

extension LinkStack {
    /// Whether what leaves by a link goes into a tunnel through another network, also below a VLAN and the like.
    ///
    /// It is the kind of the link that counts, not its configured class. PPPoE is how a provider is reached, and no
    /// tunnel. Other PPP may be a VPN or a modem, which the kernel does not distinguish: it counts as a tunnel unless
    /// its class is configured.
    package func leadsIntoTunnel(_ index: InterfaceIndex) -> Bool {
        var next = index
        // As deep as the kernel nests links.
        for _ in 0..<8 {
            guard let link = links[next] else { return false }
            if Self.isPPP(link) { return !isPPPoE(link) && policy.first(\.linkClass, for: link) == nil }
            switch kind(of: link) {
            case .tunnel: return true
            case .carrier, .stackedOnPorts: return false
            case .stackedOnLower:
                guard let lower = link.lower else { return false }
                next = lower
            }
        }
        return false
    }

    /// Whether a link could carry tunnels whose far end is not known: hardware, or what stands for it in a container.
    /// Ports carry what their controller sends, and tunnels need another link themselves.
    package func couldCarryTunnels(_ link: Link) -> Bool {
        guard !link.flags.contains(.loopback), link.kind != "vrf", link.controller == nil else { return false }
        switch kind(of: link) {
        case .tunnel: return Self.isPPP(link)
        case .carrier(let linkClass): return linkClass != .virtual || ["veth", "netkit"].contains(link.kind)
        case .stackedOnLower: return !leadsIntoTunnel(link.index)
        // A bridge without hardware connects containers and guests to each other.
        case .stackedOnPorts: return isHardware(link.index)
        }
    }

    /// Whether it takes routes to say what carries a link. A link that the tunnel itself names carries it, and PPP has
    /// no far end.
    package func needsCarriers(_ link: Link) -> Bool {
        guard case .tunnel = kind(of: link), !Self.isPPP(link) else { return false }
        return link.remote != nil || link.lower == nil || link.kind == "xfrm"
    }

    /// Whether a link, or one that carries it, needs another link by a route.
    package func carriesTunnels(_ index: InterfaceIndex) -> Bool {
        members(of: index).contains { links[$0].map(needsCarriers) ?? false }
    }

    /// Whether links of this namespace carried a tunnel before, and none is left.
    package func hasLostCarriers(_ index: InterfaceIndex) -> Bool { tunnelCarriers[index]?.isLost == true }

    /// Whether hardware carries a link.
    package func isHardware(_ index: InterfaceIndex) -> Bool {
        switch self.class(of: index) {
        case .wired, .wifi, .wwan, .bluetooth: true
        case .tunnel: links[index].map(isPPPoE) ?? false
        case .virtual, .loopback, .other: false
        }
    }

    static func isPPP(_ link: Link) -> Bool { link.kind == "ppp" }

    /// Whether a session of PPPoE carries a link. Sessions cannot be matched with links: where there are more PPP links
    /// than sessions, it may be any of them.
    private func isPPPoE(_ link: Link) -> Bool {
        guard Self.isPPP(link) else { return false }
        let all = index.links(ofKind: "ppp")
        return (all.compactMap { traits[$0]?.pppoeSessions }.max() ?? 0) >= all.count
    }
}
