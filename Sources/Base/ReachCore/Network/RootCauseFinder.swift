/// Finds the root cause of a verdict: the lowest thing that is broken on the way to the target.
///
/// It is found again for each state. Where the kernel names no interface and no rule or route refuses the packets, the
/// links that carried the path before show which of the links that could carry it is meant. Where something refuses
/// them, they do not matter. If no link works at all, that comes before a route or a rule that refuses, since without a
/// link nothing else helps.
package struct RootCauseFinder {
    package enum Radio: Hashable, Sendable {
        case blockedBySoftware, blockedByHardware
    }

    package var table: NetworkTable
    package var stack: LinkStack
    /// Returns the links with the traits of all of them; `nil` if ``stack`` has these. Called only where any link could
    /// be the cause: it takes long where there are thousands.
    package var completeStack: () -> LinkStack? = { nil }
    /// The links that carried the path before.
    package var memory = PathMemory()
    package var admissions = AdmissionCounter()
    /// The links that may carry the path.
    package var condition = NetworkCondition.any
    /// Returns what switched the radio of a link off; `nil` if it is on. Called only for links that cannot carry
    /// packets.
    package var radio: (Link) -> Radio? = { _ in nil }
    /// Whether the kernel's settings disable IPv6 on a link. Called only where an IPv6 address is missing.
    package var isIPv6Disabled: (Link) -> Bool = { _ in false }
    /// Returns what refuses the packets of a family, or hides a route from them, where the kernel's error does not say
    /// it.
    package var refusal: (IPAddress.Family) -> RootCause.Kind? = { _ in nil }

    // Every loss comes through here before it is printed, and a set would hash.
    struct Families: OptionSet {
        let rawValue: UInt8
        static let ipv4 = Families(.ipv4)
        static let ipv6 = Families(.ipv6)

        init(rawValue: UInt8) { self.rawValue = rawValue }
        init(_ family: IPAddress.Family) { rawValue = family == .ipv4 ? 1 : 2 }

        func contains(_ family: IPAddress.Family) -> Bool { contains(Families(family)) }
    }

    /// - Parameter stack: The links of `table`, with the traits of those that a verdict or the memory names, and of
    ///   those below.
    package init(table: NetworkTable, stack: LinkStack) {
        self.table = table
        self.stack = stack
    }

    /// The root cause of a verdict; `nil` if the target is reachable, or if it is not known whether it is.
    package func rootCause(of verdict: Verdict) -> RootCause? {
        guard verdict.status == .notReachable, let reason = verdict.reason else { return nil }
        let asked = verdict.families { $0 != .notAsked }
        let failed = asked.intersection(verdict.families { $0 == reason })
        guard !failed.isEmpty else { return nil }
        let path = failed.contains(.ipv4) ? verdict.ipv4 : verdict.ipv6
        // A default route that leads back to this machine is a way to forbid the Internet.
        let index = reason == .blackhole ? nil : path.interfaceIndex
        switch reason.row.origin {
        case .none: return nil
        case .itself(let kind): return RootCause(kind)
        case .interface: return missingInterface(path)
        case .neighbour(let kind) where index != nil: return RootCause(kind, interface: path.interface)
        case .address, .link, .neighbour, .refusal:
            guard let index else { return withoutPath(reason, failed, asked: asked) }
            return withPath(reason, on: index, path, failed)
        }
    }

    // MARK: - The kernel names the interface

    private func withPath(
        _ reason: Reason, on index: InterfaceIndex, _ path: NetworkPath, _ families: Families
    ) -> RootCause? {
        if reason.row.origin == .address {
            return addressCause(of: index, families) ?? RootCause(.noAddress, interface: path.interface)
        }
        return lostCarrierCause(of: index) ?? linkCause(of: index)
            ?? RootCause(reason == .linkDown ? .linkDown : .noCarrier, interface: path.interface)
    }

    /// What happened to the link that carried a tunnel for which none is left.
    private func lostCarrierCause(of index: InterfaceIndex) -> RootCause? {
        guard stack.hasLostCarriers(index),
            let carrier = memory.carriers.first(where: { $0.index == index && !$0.lower.isEmpty })
        else { return nil }
        let cause = causeBelow(carrier)
        // Its link works, so what is missing is the route.
        return cause.interface == carrier.name
            ? RootCause(.noDefaultRoute, interface: carrier.lower.last ?? carrier.name) : cause
    }

    private func missingInterface(_ path: NetworkPath) -> RootCause {
        if let carrier = memory.carriers.first { return RootCause(.interfaceGone, interface: carrier.name) }
        let kind: RootCause.Kind = path.interfaceIndex == nil ? .noInterface : .interfaceGone
        return RootCause(kind, interface: path.interface)
    }

    // MARK: - The kernel names none

    private func withoutPath(
        _ reason: Reason, _ families: Families, asked: Families
    ) -> RootCause {
        let refused = refusalCause(reason, families)
        var carriers = memory.carriers.filter { asked.contains($0.family) }
        // What refuses the packets refuses them by whatever link, so which one carried them before does not matter. A
        // tunnel that is gone does: what refuses them may be there because of it.
        if refused != nil { carriers.removeAll { $0.lower.isEmpty || link($0) != nil } }
        if let cause = cause(ofCarriers: carriers) { return cause }
        let candidate = carriers.isEmpty ? closestCandidate(asked) : nil
        // Without a link that works, no route helps.
        if let candidate, candidate.progress < .usable { return candidate.cause }
        if let refused { return refused }
        for carrier in carriers {
            if let link = link(carrier) { return RootCause(.noDefaultRoute, interface: link.name) }
        }
        return candidate?.cause ?? RootCause(.noLinks)
    }

    /// The rule or the route that refuses the packets, or hides a route from them; `nil` if none does.
    private func refusalCause(_ reason: Reason, _ families: Families) -> RootCause? {
        for family in IPAddress.Family.allCases where families.contains(family) {
            if let kind = refusal(family) { return RootCause(kind) }
        }
        if case .refusal(let kind) = reason.row.origin { return RootCause(kind) }
        return nil
    }

    /// What is wrong with the links that carried the path; `nil` if they work.
    private func cause(ofCarriers carriers: [PathMemory.Carrier]) -> RootCause? {
        for carrier in carriers {
            guard let link = link(carrier) else { return causeBelow(carrier) }
            if let cause = linkCause(of: link.index) ?? addressCause(of: link.index, Families(carrier.family)) {
                return cause
            }
        }
        return nil
    }

    /// The link that carried the path, or one that has come back with its name: an adapter that was plugged in again
    /// has another index.
    private func link(_ carrier: PathMemory.Carrier) -> Link? {
        if let link = table.links[carrier.index], link.name == carrier.name { return link }
        return table.link(named: carrier.name) ?? table.links[carrier.index]
    }

    /// A tunnel that is gone went because of what carried it, if that does not work either.
    private func causeBelow(_ carrier: PathMemory.Carrier) -> RootCause {
        for name in carrier.lower.reversed() {
            guard let lower = table.link(named: name) else { return RootCause(.interfaceGone, interface: name) }
            if let cause = linkCause(of: lower.index) { return cause }
        }
        return RootCause(.interfaceGone, interface: carrier.name)
    }
}

extension Verdict {
    // Projections, since a path is large and would be copied.
    fileprivate func families(where holds: (Reason?) -> Bool) -> RootCauseFinder.Families {
        var families: RootCauseFinder.Families = []
        if holds(ipv4.reason) { families.insert(.ipv4) }
        if holds(ipv6.reason) { families.insert(.ipv6) }
        return families
    }
}
