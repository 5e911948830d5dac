/// The links of a machine and their dependencies: which links carry each link, and which class that gives it.
///
/// It needs all links of the namespace, because it finds the ports of a link by their controller.
package struct LinkStack: Sendable {
    package let links: [InterfaceIndex: Link]
    let index: LinkIndex
    package let traits: [InterfaceIndex: LinkTraits]
    package let policy: LinkPolicy
    /// What is known of the networks behind links.
    let identities: [InterfaceIndex: NetworkIdentity]
    /// What carries the tunnels, as far as it is known.
    let tunnelCarriers: [InterfaceIndex: TunnelCarriers]

    /// - Parameter index: The index of these links; `nil` to make it.
    package init(
        links: [InterfaceIndex: Link], index: LinkIndex? = nil, traits: [InterfaceIndex: LinkTraits],
        policy: LinkPolicy = LinkPolicy(), tunnelCarriers: [InterfaceIndex: TunnelCarriers] = [:],
        identities: [InterfaceIndex: NetworkIdentity] = [:]
    ) {
        self.links = links
        self.index = index ?? LinkIndex(links.values)
        self.traits = traits
        self.policy = policy
        self.tunnelCarriers = tunnelCarriers
        self.identities = identities
    }

    /// The class of the link that carries this one's packets; `other` for an unknown link.
    package func `class`(of index: InterfaceIndex) -> LinkClass { carriage(of: index).linkClass }

    /// Names of the links that carry this one, nearest first.
    package func lowerNames(of index: InterfaceIndex) -> [String] { lowerLinks(of: index).map(\.name) }

    /// The links that carry this one, nearest first.
    func lowerLinks(of index: InterfaceIndex) -> [Link] {
        var traversal = LinkTraversal(fallback: Carriage())
        return reach(from: index) { carriage(of: $0, &traversal).carriers }.dropFirst().compactMap { links[$0] }
    }

    /// The class of the lowest link that carries this one; `nil` if none is known.
    package func carrierClass(of index: InterfaceIndex) -> LinkClass? {
        var traversal = LinkTraversal(fallback: Carriage())
        let carriers = reach(from: index) { carriage(of: $0, &traversal).carriers }.dropFirst()
        return carriers.last { links[$0] != nil }.map { self.class(of: $0) }
    }

    /// The links that can affect this one's class or condition: the link itself and all links below it.
    ///
    /// A link that becomes a port later is not among them, but its controller is.
    package func members(of index: InterfaceIndex) -> [InterfaceIndex] {
        reach(from: index) { links[$0].map { below($0) } ?? [] }
    }

    /// Whether the link is metered: by a rule, by the network behind it, or because a metered link carries it.
    package func isMetered(_ index: InterfaceIndex) -> Bool { meteredReason(of: index) != nil }

    /// Why the link is metered; `nil` if it is not.
    package func meteredReason(of index: InterfaceIndex) -> MeteredReason? {
        var carriages = LinkTraversal(fallback: Carriage())
        var traversal = LinkTraversal<MeteredReason?>(fallback: nil)
        return meteredReason(of: index, &carriages, &traversal)
    }

    private func meteredReason(
        of index: InterfaceIndex, _ carriages: inout LinkTraversal<Carriage>,
        _ traversal: inout LinkTraversal<MeteredReason?>
    ) -> MeteredReason? {
        guard let link = links[index] else { return nil }
        return traversal.answer(for: index) { traversal in
            if let isMetered = isMeteredByUser(link) { return isMetered ? .configuration : nil }
            let carriage = carriage(of: index, &carriages)
            if let reason = ownMeteredReason(of: link, as: carriage.linkClass) { return reason }
            if case .tunnel = kind(of: link) { return meteredReason(ofTunnel: link, &carriages, &traversal) }
            for carrier in carriage.carriers {
                if let reason = meteredReason(of: carrier, &carriages, &traversal) { return reason }
            }
            return nil
        }
    }

    /// A tunnel is metered if every link that could carry it is: of those that work, if any does.
    private func meteredReason(
        ofTunnel link: Link, _ carriages: inout LinkTraversal<Carriage>,
        _ traversal: inout LinkTraversal<MeteredReason?>
    ) -> MeteredReason? {
        let carriers = underlay(of: link)
        let working = carriers.filter { trouble(with: $0) == nil }
        let counting = working.isEmpty ? carriers : working
        for carrier in counting where meteredReason(of: carrier, &carriages, &traversal) == nil { return nil }
        return counting.isEmpty ? nil : .carriedBy
    }

    /// Why a link with nothing below it is metered.
    func meteredReason(of link: Link, as linkClass: LinkClass) -> MeteredReason? {
        if let isMetered = isMeteredByUser(link) { return isMetered ? .configuration : nil }
        return ownMeteredReason(of: link, as: linkClass)
    }

    private func isMeteredByUser(_ link: Link) -> Bool? {
        policy.first(\.isMetered, for: link) ?? membership(of: link.index).isMetered
    }

    private func ownMeteredReason(of link: Link, as linkClass: LinkClass) -> MeteredReason? {
        if linkClass.isUsuallyMetered { return .wwan }
        guard let identity = identities[link.index] else { return nil }
        if identity.isAndroidHotspot { return .androidHotspot }
        return linkClass.mayLeadToPhone && identity.isAppleHotspot ? .appleHotspot : nil
    }

    // MARK: - Networks

    /// The network behind a link. A link that others carry, tunnels too, is in the network of those.
    func membership(of index: InterfaceIndex) -> NetworkMembership {
        guard !identities.isEmpty else { return NetworkMembership() }
        return policy.networks.membership(of: identity(of: index))
    }

    /// What is known of the network behind a link and behind those that carry it.
    package func identity(of index: InterfaceIndex) -> NetworkIdentity {
        var identity = identities[index] ?? NetworkIdentity()
        if let link = links[index], case .carrier = kind(of: link) { return identity }
        // What only may carry a tunnel does not say in which network it is.
        if let carriers = tunnelCarriers[index], carriers.links.count != 1 { return identity }
        var traversal = LinkTraversal(fallback: Carriage())
        for lower in reach(from: index, { carriage(of: $0, &traversal).carriers }).dropFirst() {
            if let known = identities[lower] { identity.merge(known) }
        }
        return identity
    }

    /// The kind of a link by itself.
    func kind(of link: Link) -> LinkKind {
        // A modem, unless a session of PPPoE carries it.
        if Self.isPPP(link), let traits = traits[link.index], traits.pppoeSessions == 0 { return .carrier(.wwan) }
        return LinkClassifier.kind(of: link, traits[link.index] ?? LinkTraits())
    }

    // MARK: - Links below

    /// All links directly below, whether or not they carry the link now.
    func below(_ link: Link) -> [InterfaceIndex] {
        switch kind(of: link) {
        case .carrier: []
        case .stackedOnLower: link.lower.map { [$0] } ?? []
        case .stackedOnPorts: ports(of: link)
        case .tunnel: underlay(of: link)
        }
    }

    /// What it takes to know what carries a link.
    package enum Need {
        /// The links that it names itself.
        case below
        /// Its ports, which name it.
        case ports
        /// Any link may carry it.
        case anyLink
    }

    package func need(of link: Link) -> Need {
        if Self.isPPP(link) || link.kind == Self.openVSwitch { return .anyLink }
        return switch kind(of: link) {
        case .carrier, .stackedOnLower: .below
        case .stackedOnPorts: .ports
        case .tunnel: .anyLink
        }
    }

    /// The ports of a link, by index.
    func ports(of link: Link) -> [InterfaceIndex] {
        let direct = index.ports(of: link.index).sorted()
        guard direct.isEmpty, link.kind == Self.openVSwitch else { return direct }
        // Open vSwitch makes one link, ovs-system, the controller of all ports of all its bridges. The bridges
        // themselves, such as br-ex, have no ports, and the kernel's tables do not show which ports their flows use.
        return index.links(ofKind: Self.openVSwitch).flatMap(index.ports(of:)).sorted()
    }

    package static let openVSwitch = "openvswitch"

    /// The links that may carry a tunnel, the likeliest first.
    func underlay(of link: Link) -> [InterfaceIndex] {
        if let given = tunnelCarriers[link.index] { return given.links }
        // An XFRM interface has to name some device, often `lo`, but the policies determine what carries its packets.
        if let lower = link.lower { return link.kind == "xfrm" ? [] : [lower] }
        // Sessions cannot be matched with links, so if there is a second PPP link, this one may belong to a modem.
        guard let name = traits[link.index]?.pppoeInterface,
            index.links(ofKind: "ppp").allSatisfy({ $0 == link.index })
        else { return [] }
        return index.link(named: name).map { [$0] } ?? []
    }

    private func reach(
        from index: InterfaceIndex, _ next: (InterfaceIndex) -> [InterfaceIndex]
    ) -> [InterfaceIndex] {
        let first = next(index)
        guard !first.isEmpty else { return [index] }
        var seen: Set = [index]
        var reached = [index] + first.filter { seen.insert($0).inserted }
        var position = 1
        while position < reached.count {
            reached += next(reached[position]).filter { seen.insert($0).inserted }
            position += 1
        }
        return reached
    }

    // MARK: - Carriers

    /// The class of a link, and the links directly below that determine it.
    private struct Carriage {
        var linkClass = LinkClass.virtual
        var carriers: [InterfaceIndex] = []
    }

    private func carriage(of index: InterfaceIndex) -> Carriage {
        var traversal = LinkTraversal(fallback: Carriage())
        return carriage(of: index, &traversal)
    }

    private func carriage(of index: InterfaceIndex, _ traversal: inout LinkTraversal<Carriage>) -> Carriage {
        guard let link = links[index] else { return Carriage(linkClass: .other) }
        return traversal.answer(for: index) { traversal in
            var found = carriage(by: link, &traversal)
            if let linkClass = policy.first(\.linkClass, for: link) { found.linkClass = linkClass }
            return found
        }
    }

    private func carriage(by link: Link, _ traversal: inout LinkTraversal<Carriage>) -> Carriage {
        switch kind(of: link) {
        case .carrier(let linkClass): return Carriage(linkClass: linkClass)
        case .tunnel: return Carriage(linkClass: .tunnel, carriers: Array(below(link).prefix(1)))
        case .stackedOnLower:
            // The lower link may be in another namespace, as it is for a container's macvlan.
            guard let lower = link.lower, links[lower] != nil else { return Carriage() }
            return Carriage(linkClass: carriage(of: lower, &traversal).linkClass, carriers: [lower])
        case .stackedOnPorts: return carriage(byPortsOf: link, &traversal)
        }
    }

    private func carriage(byPortsOf link: Link, _ traversal: inout LinkTraversal<Carriage>) -> Carriage {
        let candidates = carryingPorts(of: link)
        // A bridge whose hardware has lost its carrier stays what it was, though a container's port keeps it up: its
        // packets for others leave by that port or not at all.
        let all = ports(of: link)
        for ports in candidates == all ? [all] : [candidates, all] {
            let classes = ports.map { carriage(of: $0, &traversal).linkClass }
            for physical in [LinkClass.wired, .wifi, .wwan, .bluetooth] where classes.contains(physical) {
                return Carriage(
                    linkClass: physical, carriers: zip(ports, classes).filter { $1 == physical }.map(\.0))
            }
        }
        // A bond's ports always carry it. A bridge's virtual ports are containers and guests that it connects.
        return Carriage(carriers: ["bond", "team"].contains(link.kind) ? candidates : [])
    }

    private func carryingPorts(of link: Link) -> [InterfaceIndex] {
        let ports = ports(of: link)
        if let active = link.activePort, ports.contains(active) { return [active] }
        let usable = ports.filter { links[$0]?.isUsable == true }
        return usable.isEmpty ? ports : usable
    }
}

/// A recursive traversal of a link stack that computes one answer for each link, however often the link is reached.
///
/// The kernel nests links at most eight deep (MAX_NEST_DEV) and without cycles. The table may violate both for a
/// moment, while the notices of one change arrive one after the other; the traversal ends nevertheless.
struct LinkTraversal<Answer> {
    private static var depthLimit: Int { 32 }

    private var answers: [InterfaceIndex: Answer] = [:]
    private var depth = 0
    private let fallback: Answer

    /// - Parameter fallback: The answer where the stack has a cycle or is too deep.
    init(fallback: Answer) { self.fallback = fallback }

    /// The answer for a link: the known one, or the result of `decide`, which may ask about the links below.
    mutating func answer(for index: InterfaceIndex, _ decide: (inout LinkTraversal) -> Answer) -> Answer {
        if let known = answers[index] { return known }
        guard depth < Self.depthLimit else { return fallback }
        answers[index] = fallback
        depth += 1
        let answer = decide(&self)
        depth -= 1
        answers[index] = answer
        return answer
    }
}
