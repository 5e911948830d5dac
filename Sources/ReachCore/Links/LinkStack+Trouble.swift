extension LinkStack {
    /// Why nothing can be sent through the link now, `nil` if nothing is known against it.
    ///
    /// If it is something below that is broken, the reason is that one's.
    package func trouble(with index: InterfaceIndex) -> Reason? {
        var descent = LinkTraversal<Reason?>(unanswered: nil)
        return trouble(with: index, &descent)
    }

    /// The nearest link below that is broken and takes this one with it.
    ///
    /// A bridge or bond without any port is broken itself: there is nothing below it.
    package func firstBroken(below index: InterfaceIndex) -> (link: Link, reason: Reason)? {
        var descent = LinkTraversal<Reason?>(unanswered: nil)
        return links[index].flatMap { firstBroken(below: $0, &descent) }
    }

    private func trouble(with index: InterfaceIndex, _ descent: inout LinkTraversal<Reason?>) -> Reason? {
        guard let link = links[index] else { return nil }
        return descent.answer(for: index) { descent in
            guard link.isUp else { return .linkDown }
            return firstBroken(below: link, &descent)?.reason ?? ownTrouble(of: link)
        }
    }

    func ownTrouble(of link: Link) -> Reason? {
        guard !link.isUsable else { return nil }
        // While a WPA handshake runs the kernel sets neither IFF_RUNNING nor IFF_DORMANT, only this state.
        return link.operationalState == .dormant ? .dormant : .noCarrier
    }

    private func firstBroken(
        below link: Link, _ descent: inout LinkTraversal<Reason?>
    ) -> (link: Link, reason: Reason)? {
        if case .stackedOnPorts = kind(of: link) { return firstBroken(amongPortsOf: link, &descent) }
        for lower in below(link) {
            if let lowerLink = links[lower], let reason = trouble(with: lower, &descent) { return (lowerLink, reason) }
        }
        return nil
    }

    // One usable port will do. A bond that has just lost its active port is about to choose another.
    private func firstBroken(
        amongPortsOf link: Link, _ descent: inout LinkTraversal<Reason?>
    ) -> (link: Link, reason: Reason)? {
        // What Open vSwitch sends through which port only its flows know.
        guard link.kind != Self.openVSwitch else { return nil }
        var broken: [(link: Link, reason: Reason)] = []
        for port in ports(of: link).compactMap({ links[$0] }) {
            guard let reason = trouble(with: port.index, &descent) else { return nil }
            broken.append((port, reason))
        }
        // A bridge that never had a port says it is running, and sends ARP into nothing.
        guard !broken.isEmpty else { return (link, .noCarrier) }
        // The port that comes nearest to working: its reason is what somebody has to mend.
        for reason in [Reason.dormant, .noCarrier] {
            if let port = broken.first(where: { $0.reason == reason }) { return port }
        }
        return broken.first
    }
}
