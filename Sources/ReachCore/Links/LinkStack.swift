/// How the links of a machine stand upon each other: what carries each, and of what class that makes it.
///
/// It needs all links of the namespace: a port that is not held does not count as one.
package struct LinkStack: Sendable {
    package let links: [InterfaceIndex: Link]
    package let traits: [InterfaceIndex: LinkTraits]
    package let policy: LinkPolicy
    let tunnelUnderlay: [InterfaceIndex: InterfaceIndex]

    /// - Parameter tunnelUnderlay: For tunnels whose far end is known, the link that the route to it leads through.
    package init(
        links: [InterfaceIndex: Link], traits: [InterfaceIndex: LinkTraits], policy: LinkPolicy = LinkPolicy(),
        tunnelUnderlay: [InterfaceIndex: InterfaceIndex] = [:]
    ) {
        self.links = links
        self.traits = traits
        self.policy = policy
        self.tunnelUnderlay = tunnelUnderlay
    }

    /// What kind of link carries what is sent through this one; `other` for a link that is not held.
    package func `class`(of index: InterfaceIndex) -> LinkClass { carriage(of: index).linkClass }

    /// Names of the links that carry this one, nearest first.
    package func lowerNames(of index: InterfaceIndex) -> [String] {
        var descent = LinkTraversal(unanswered: Carriage())
        return reach(from: index) { carriage(of: $0, &descent).carriers }.dropFirst().compactMap { links[$0]?.name }
    }

    /// The links whose change may alter this one's class or whether it can be used: itself, and all below.
    ///
    /// A link that becomes a port later is not among them: its controller is.
    package func members(of index: InterfaceIndex) -> [InterfaceIndex] {
        reach(from: index) { links[$0].map(below) ?? [] }
    }

    /// Using the link costs money: by a rule, or because a modem carries it.
    package func isMetered(_ index: InterfaceIndex) -> Bool {
        var carriages = LinkTraversal(unanswered: Carriage())
        var descent = LinkTraversal(unanswered: false)
        return isMetered(index, &carriages, &descent)
    }

    private func isMetered(
        _ index: InterfaceIndex, _ carriages: inout LinkTraversal<Carriage>, _ descent: inout LinkTraversal<Bool>
    ) -> Bool {
        guard let link = links[index] else { return false }
        return descent.answer(for: index) { descent in
            if let said = policy.first(\.isMetered, for: link) { return said }
            let carriage = carriage(of: index, &carriages)
            return carriage.linkClass.isUsuallyMetered
                || carriage.carriers.contains { isMetered($0, &carriages, &descent) }
        }
    }

    /// The link by itself; `other` if it is not held.
    func kind(of link: Link) -> LinkKind {
        LinkClassifier.kind(of: link, traits[link.index] ?? LinkTraits())
    }

    // MARK: - What lies below

    /// All links directly below, whether they carry it now or not.
    func below(_ link: Link) -> [InterfaceIndex] {
        switch kind(of: link) {
        case .carrier: []
        case .stackedOnLower: link.lower.map { [$0] } ?? []
        case .stackedOnPorts: ports(of: link)
        case .tunnel: underlay(of: link).map { [$0] } ?? []
        }
    }

    /// The ports of a link, by index.
    func ports(of link: Link) -> [InterfaceIndex] {
        let own = ports { $0 == link.index }
        guard own.isEmpty, link.kind == Self.openVSwitch else { return own }
        // Open vSwitch makes one link, ovs-system, the controller of all ports of all its bridges. The bridges
        // themselves, such as br-ex, have none, and which ports their flows use the kernel's tables do not tell.
        return ports { links[$0]?.kind == Self.openVSwitch }
    }

    private func ports(where isController: (InterfaceIndex) -> Bool) -> [InterfaceIndex] {
        links.values.filter { $0.controller.map(isController) ?? false }.map(\.index).sorted()
    }

    static let openVSwitch = "openvswitch"

    private func underlay(of link: Link) -> InterfaceIndex? {
        if let given = tunnelUnderlay[link.index] { return given }
        // An XFRM interface has to name some device, often `lo`; the policies, not it, say what carries the packets.
        if let lower = link.lower { return link.kind == "xfrm" ? nil : lower }
        // Sessions are not told apart, so with a second PPP link this may be the one of a modem.
        guard let name = traits[link.index]?.pppoeInterface,
            !links.values.contains(where: { $0.kind == link.kind && $0.index != link.index })
        else { return nil }
        return links.values.first { $0.name == name }?.index
    }

    private func reach(
        from index: InterfaceIndex, _ next: (InterfaceIndex) -> [InterfaceIndex]
    ) -> [InterfaceIndex] {
        var reached = [index]
        var seen = Set(reached)
        var position = 0
        while position < reached.count {
            reached += next(reached[position]).filter { seen.insert($0).inserted }
            position += 1
        }
        return reached
    }

    // MARK: - What carries it

    /// The class of a link, and the links directly below that make it so.
    private struct Carriage {
        var linkClass = LinkClass.virtual
        var carriers: [InterfaceIndex] = []
    }

    private func carriage(of index: InterfaceIndex) -> Carriage {
        var descent = LinkTraversal(unanswered: Carriage())
        return carriage(of: index, &descent)
    }

    private func carriage(of index: InterfaceIndex, _ descent: inout LinkTraversal<Carriage>) -> Carriage {
        guard let link = links[index] else { return Carriage(linkClass: .other) }
        return descent.answer(for: index) { descent in
            var found = carriage(by: link, &descent)
            if let said = policy.first(\.linkClass, for: link) { found.linkClass = said }
            return found
        }
    }

    private func carriage(by link: Link, _ descent: inout LinkTraversal<Carriage>) -> Carriage {
        switch kind(of: link) {
        case .carrier(let linkClass): return Carriage(linkClass: linkClass)
        case .tunnel: return Carriage(linkClass: .tunnel, carriers: below(link))
        case .stackedOnLower:
            // The lower link may be in another namespace, as is that of a container's macvlan.
            guard let lower = link.lower, links[lower] != nil else { return Carriage() }
            return Carriage(linkClass: carriage(of: lower, &descent).linkClass, carriers: [lower])
        case .stackedOnPorts: return carriage(byPortsOf: link, &descent)
        }
    }

    private func carriage(byPortsOf link: Link, _ descent: inout LinkTraversal<Carriage>) -> Carriage {
        let candidates = carryingPorts(of: link)
        let classes = candidates.map { carriage(of: $0, &descent).linkClass }
        for physical in [LinkClass.wired, .wifi, .wwan, .bluetooth] where classes.contains(physical) {
            return Carriage(
                linkClass: physical, carriers: zip(candidates, classes).filter { $1 == physical }.map(\.0))
        }
        // A bond has ports in order to be carried; a bridge's are containers and guests that come and go.
        return Carriage(carriers: ["bond", "team"].contains(link.kind) ? candidates : [])
    }

    private func carryingPorts(of link: Link) -> [InterfaceIndex] {
        let ports = ports(of: link)
        if let active = link.activePort, ports.contains(active) { return [active] }
        let usable = ports.filter { links[$0]?.isUsable == true }
        return usable.isEmpty ? ports : usable
    }
}
