internal import ReachCore

extension FamilyExplanationBuilder {
    /// The interface by which packets leave.
    func linkSteps(_ index: InterfaceIndex) -> [Step] {
        guard let link = facts.table.links[index], !link.flags.contains(.loopback) else { return [] }
        let (state, text) = condition(of: link)
        let consequence = state == .bad && self.finding != nil && link.isUp ? routeStays : ""
        return [Step(.link, state, text + consequence)]
    }

    /// The problems of all links, if there is no route and no link that could have one.
    var idleLinkSteps: [Step] {
        guard let stack = lookup?.stack else { return [] }
        let links = facts.table.links.values.filter { !$0.flags.contains(.loopback) && $0.controller == nil }
            .sorted { $0.index < $1.index }
        guard links.allSatisfy({ stack.trouble(with: $0.index) != nil }) else { return [] }
        if links.isEmpty { return [Step(.link, .bad, "There is no link but the loopback device.")] }
        return links.prefix(Self.idleLinksShown).map { Step(.link, .bad, condition(of: $0).text) }
    }

    private static var idleLinksShown: Int { 4 }

    /// The links that carry the interface. Of a bridge's ports only those that carry it, and the one that breaks it.
    func lowerSteps(_ index: InterfaceIndex) -> [Step] {
        guard let link = facts.table.links[index], let stack = lookup?.stack else { return [] }
        let name = DisplayText.sanitized(link.name)
        var below = stack.lowerNames(of: index).compactMap { facts.table.link(named: $0) }
        let broken = stack.firstBroken(below: index)
        if let broken, broken.link.index == index {
            let fix = "`ip link set INTERFACE master \(name)` would give it one."
            return [Step(.lower, .bad, "\(name) has no port, so there is nothing that carries it. \(fix)")]
        }
        if let broken, !below.contains(where: { $0.index == broken.link.index }) { below.append(broken.link) }
        if below.isEmpty || stack.needsCarriers(link) && link.remote == nil {
            return guessedLower(link, name, below, isBroken: broken != nil)
        }
        return below.map { lower in
            let (state, text) = condition(of: lower)
            let carried = link.remote.map { "the packets of \(name) to its far end, \($0)" } ?? name
            let consequence = state == .bad && broken != nil ? " \(name) can carry nothing while that lasts." : ""
            return Step(.lower, state, "What carries \(carried): \(text)\(consequence)")
        }
    }

    /// What carries a tunnel whose far end is in no attribute of the link.
    private func guessedLower(_ link: Link, _ name: String, _ below: [Link], isBroken: Bool) -> [Step] {
        guard path.linkClass == .tunnel else { return [] }
        let handshake = handshakeSteps(name)
        guard !below.isEmpty else {
            let text =
                lookup?.stack.hasLostCarriers(link.index) == true
                ? "\(name) is a tunnel, and no link is left that could carry it."
                : "\(name) is a tunnel, and the kernel does not report what carries it."
            return [Step(.lower, isBroken ? .bad : .neutral, text)] + handshake
        }
        let ends = lookup?.wireGuard?.farEnds.map(\.description) ?? []
        let role =
            ends.isEmpty
            ? "What carries \(name), a tunnel whose far end is not known, by the routes of the links"
            : "What carries the packets of \(name) to \(ends.listed)"
        return below.map { lower in
            let (state, text) = condition(of: lower)
            let consequence = isBroken ? " No other link could carry \(name)." : ""
            return Step(.lower, state, "\(role): \(text)\(consequence)")
        } + handshake
    }

    /// What WireGuard says of its peers, where this process may ask.
    private func handshakeSteps(_ name: String) -> [Step] {
        guard let silence = lookup?.tunnelSilence else { return [] }
        let fact = "\(name) is WireGuard, and \(silence.text)"
        guard silence.since == nil else {
            return [Step(.lower, .neutral, "\(fact): if packets were sent into it since, none has arrived.")]
        }
        return [
            Step(
                .lower, .bad,
                "\(fact): nothing passes. The address, the port or a key is wrong, or packets to it are lost. "
                    + "`wg show \(name)` lists its peers.")
        ]
    }

    /// The consequence of a broken link: the kernel keeps the route, so programs keep sending.
    private var routeStays: String {
        " Packets sent now are lost, though the route stays (unless net.\(family == .ipv4 ? "ipv4" : "ipv6").conf.*."
            + "ignore_routes_with_linkdown is set)."
    }

    /// The state of a link by itself, in words.
    private func condition(of link: Link) -> (state: Step.Finding, text: String) {
        let name = DisplayText.sanitized(link.name)
        let linkClass = lookup?.stack.class(of: link.index) ?? .other
        let title = "\(name) (\(linkClass.rawValue))"
        guard link.isUp else {
            return (
                .bad,
                "\(title) is down: it was taken down, or never brought up. `ip link set \(name) up` would bring it up."
            )
        }
        guard !link.isUsable else {
            let carrier = link.operationalState == .up ? " and has a carrier" : ""
            return (.good, "\(title) is up\(carrier).")
        }
        if link.isAwaitingAdmission {
            let what = linkClass == .wifi ? "the access point" : "802.1X or the like"
            return (.bad, "\(title) has a carrier but is dormant: it waits for \(what) to let it in.")
        }
        let waiting = lookup?.stack.waitingPorts(of: link).map { DisplayText.sanitized($0.name) } ?? []
        guard waiting.isEmpty else {
            return (
                .bad,
                "\(title) does not forward yet: \(waiting.listed) \(waiting.count == 1 ? "has" : "have") a carrier, "
                    + "but the spanning tree protocol (STP) still listens there, or blocks it. `bridge link` shows "
                    + "the state."
            )
        }
        return (.bad, "\(title) has no carrier: \(Self.meaning(ofNoCarrier: linkClass, link)).")
    }

    private static func meaning(ofNoCarrier linkClass: LinkClass, _ link: Link) -> String {
        if link.lower != nil { return "what carries it has none" }
        return switch (link.kind, linkClass) {
        case ("veth", _): "its other end is down"
        case ("bridge", _), ("bond", _), ("team", _): "none of its ports has one"
        case ("tun", _): "no program holds its other side"
        case (_, .wired): "the cable or the other end is down"
        case (_, .wifi): "it is connected to no access point"
        case (_, .wwan): "the modem has no data connection"
        case (_, .bluetooth), (_, .tunnel), (_, .virtual), (_, .loopback), (_, .other):
            "there is nothing at its other end"
        }
    }
}
