extension LinkStack {
    /// Why the link cannot carry packets now; `nil` if no problem is known.
    ///
    /// If a link below is broken, the reason is that link's.
    package func trouble(with index: InterfaceIndex) -> Reason? {
        var traversal = LinkTraversal<Reason?>(fallback: nil)
        return trouble(with: index, &traversal)
    }

    /// The nearest broken link below that breaks this one, too.
    ///
    /// A bridge or bond without a port is itself the broken link, because nothing is below it.
    package func firstBroken(below index: InterfaceIndex) -> (link: Link, reason: Reason)? {
        var traversal = LinkTraversal<Reason?>(fallback: nil)
        return links[index].flatMap { firstBroken(below: $0, &traversal) }
    }

    private func trouble(with index: InterfaceIndex, _ traversal: inout LinkTraversal<Reason?>) -> Reason? {
        guard let link = links[index] else { return nil }
        // Nothing is below most links.
        if case .carrier = kind(of: link) { return link.isUp ? ownTrouble(of: link) : .linkDown }
        return traversal.answer(for: index) { traversal in
            guard link.isUp else { return .linkDown }
            return firstBroken(below: link, &traversal)?.reason ?? ownTrouble(of: link)
        }
    }

    /// The ports of a bridge that work while the bridge does not: the spanning tree protocol listens by them, or blocks
    /// them.
    package func waitingPorts(of link: Link) -> [Link] {
        guard link.kind == "bridge", link.isUp, !link.isUsable else { return [] }
        return ports(of: link).filter { trouble(with: $0) == nil }.compactMap { links[$0] }
    }

    func ownTrouble(of link: Link) -> Reason? {
        guard !link.isUsable else { return nil }
        return link.isAwaitingAdmission ? .dormant : .noCarrier
    }

    private func firstBroken(
        below link: Link, _ traversal: inout LinkTraversal<Reason?>
    ) -> (link: Link, reason: Reason)? {
        switch kind(of: link) {
        case .stackedOnPorts: return firstBroken(amongPortsOf: link, &traversal)
        case .tunnel:
            let carriers = tunnelCarriers[link.index]
            if carriers?.isUnknown == true { return nil }
            if carriers?.isLost == true { return (link, .noCarrier) }
            return firstBroken(among: underlay(of: link), &traversal)
        case .carrier, .stackedOnLower: break
        }
        for lower in below(link) {
            guard let lowerLink = links[lower], let reason = trouble(with: lower, &traversal) else { continue }
            return (lowerLink, reason)
        }
        return nil
    }

    // One usable port is enough. A bond that has just lost its active port is about to choose another.
    private func firstBroken(
        amongPortsOf link: Link, _ traversal: inout LinkTraversal<Reason?>
    ) -> (link: Link, reason: Reason)? {
        // Only the flows of Open vSwitch determine which port it sends through.
        guard link.kind != Self.openVSwitch else { return nil }
        // A bridge that never had a port reports that it is running, although its packets go nowhere.
        let ports = ports(of: link)
        guard ports.contains(where: { links[$0] != nil }) else { return (link, .noCarrier) }
        return firstBroken(among: ports, &traversal)
    }

    /// Of links of which one is enough, the one that is closest to working; `nil` if one works.
    private func firstBroken(
        among others: [InterfaceIndex], _ traversal: inout LinkTraversal<Reason?>
    ) -> (link: Link, reason: Reason)? {
        var broken: [(link: Link, reason: Reason)] = []
        for other in others.compactMap({ links[$0] }) {
            guard let reason = trouble(with: other.index, &traversal) else { return nil }
            broken.append((other, reason))
        }
        // It has the reason that is easiest to fix.
        for reason in [Reason.dormant, .noCarrier] {
            if let other = broken.first(where: { $0.reason == reason }) { return other }
        }
        return broken.first
    }

    /// The names of the links that carry this one and cannot, although this one works: a bridge's cable is out, and a
    /// container's port keeps the bridge up.
    func brokenCarriers(of index: InterfaceIndex) -> [String] {
        lowerLinks(of: index).filter { trouble(with: $0.index) != nil }.map(\.name)
    }
}
