internal import ReachCore

extension FamilyExplanationBuilder {
    /// The step for the source address of a route.
    func sourceSteps(_ route: Route, on index: InterfaceIndex, to destination: IPAddress) -> [Step] {
        guard route.type != .local, let stack = lookup?.stack,
            facts.table.links[index]?.flags.contains(.loopback) == false
        else { return [] }
        let judge = PathJudge(table: facts.table, stack: stack)
        let isByDefault = facts.target.subject == .internet || lookup?.matched?.destination.length == 0
        guard judge.hasUsableSource(route, to: destination, isByDefault: isByDefault), let source = route.source else {
            return [Step(.source, .bad, badSource(route.source, on: index))]
        }
        let holder = facts.table.addresses.first { $0.value.contains { $0.address == source } }
        let owner = holder.map { ", an address of \(text.name(of: $0.key))" } ?? ""
        let isDeprecated = holder?.value.contains { $0.address == source && $0.flags.contains(.deprecated) } == true
        let sent = "It is sent from \(source)\(owner)"
        if source.isUniqueLocal, destination.scope > .site {
            return [
                Step(
                    .source, .neutral,
                    sent + ": it is unique local (RFC 4193), so answers come only where a router or tunnel "
                        + "translates it.")
            ]
        }
        guard isDeprecated else { return [Step(.source, .good, sent + ".")] }
        return [
            Step(
                .source, .neutral,
                sent
                    + ", which is deprecated: its preferred lifetime is over. It works until it expires, and there "
                    + "is no other. The router or DHCP server that gave it would have to renew it.")
        ]
    }

    /// The step for the address of a target that is an interface.
    func ownAddressSteps(_ index: InterfaceIndex) -> [Step] {
        guard let source = path.source else { return [Step(.source, .bad, lack(on: index))] }
        return [Step(.source, .good, "\(text.name(of: index)) has the address \(source) to send from.")]
    }

    private func badSource(_ source: IPAddress?, on index: InterfaceIndex) -> String {
        let lack = lack(on: index)
        guard let source, !source.isUnspecified else { return lack + " Packets would have no sender." }
        if source.isLoopback { return lack + " The kernel would send from \(source), and nothing leaves the machine." }
        let own = facts.table.addresses[index] ?? []
        if own.contains(where: { $0.address == source }) { return lack }
        return lack + " The kernel would send from \(source)."
    }

    /// Why the interface has no usable address: what is wrong with the address that is closest to usable.
    private func lack(on index: InterfaceIndex) -> String {
        let name = text.name(of: index)
        let own = (facts.table.addresses[index] ?? []).filter { $0.address.family == family }
        let wide = own.filter { $0.scope < InterfaceAddress.linkScope }
        func list(_ addresses: [InterfaceAddress]) -> String { addresses.map(\.address.description).listed }
        let tentative = wide.filter { $0.flags.contains(.tentative) && !$0.isReady && !$0.flags.contains(.duplicate) }
        if !tentative.isEmpty {
            return
                "\(list(tentative)) on \(name) is still tentative: duplicate address detection has not ended, which "
                + "takes a second or two, and does not end while the link has no carrier."
        }
        let duplicate = wide.filter { $0.flags.contains(.duplicate) }
        if !duplicate.isEmpty {
            return
                "\(list(duplicate)) on \(name) is in use by another host on the link (duplicate address detection "
                + "failed). One of the two needs another address."
        }
        let fix =
            "`ip address add ADDRESS/LENGTH dev \(name)`, or "
            + (family == .ipv4 ? "DHCP, would give it one." : "a router's advertisement, would give it one.")
        if !own.isEmpty {
            return "\(name) has only \(list(own)), which is good for the link and no further. \(fix)"
        }
        return "\(name) has no \(family.title) address. \(fix)"
    }

    // MARK: - The first hop

    /// The step for the neighbour entry of the gateway, or of the target if it is on the link.
    func neighbourSteps(_ hop: NextHop, on index: InterfaceIndex, to destination: IPAddress) -> [Step] {
        let address = hop.gateway ?? destination
        guard let state = facts.table.neighbours[Neighbour.Key(interface: index, address: address)] else { return [] }
        let title = hop.gateway == nil ? "\(address), on this link," : "The gateway \(address)"
        let step = neighbourStep(state, of: address, title)
        guard let device = lookup?.neighbourDevice else { return [step] }
        return [Step(step.subject, step.finding, step.text + " Its hardware address is \(device).")]
    }

    private func neighbourStep(_ state: NeighbourState, of address: IPAddress, _ title: String) -> Step {
        let asking = address.family.neighbourProtocol
        let command = "\(address.family.command) neighbour show \(address)"
        switch state {
        case .reachable: return Step(.neighbour, .good, "\(title) answered \(asking) a short while ago.")
        case .permanent, .noarp: return Step(.neighbour, .good, "\(title) needs no \(asking) (\(state.rawValue)).")
        case .stale:
            return Step(
                .neighbour, .neutral,
                "\(title) answered \(asking) once, and the kernel has not confirmed that recently (stale). That does "
                    + "not count against it: the kernel asks again only when there is something to send.")
        case .delay, .probe:
            return Step(
                .neighbour, .neutral,
                "\(title) is being asked again by \(asking) (\(state.rawValue)); until that fails it counts.")
        case .none:
            return Step(
                .neighbour, .neutral,
                "The kernel has not asked for \(address) by \(asking): nothing was sent to it recently. "
                    + "That says nothing against it."
            )
        case .incomplete:
            return Step(
                .neighbour, .neutral,
                "\(title) is being asked for by \(asking) and has not answered yet; soon that counts as failure.")
        case .failed:
            return Step(
                .neighbour, .bad,
                "\(title) does not answer \(asking) (failed): it is off, not on this link, or the address is wrong. "
                    + "`\(command)` shows when that changes.")
        }
    }
}
