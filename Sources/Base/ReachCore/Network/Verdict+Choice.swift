// A program may accept only paths that satisfy a condition: of one class, or not of another. The kernel chooses without
// regard to that, so the verdict for such a program is that of the best path among those it accepts.

extension Verdict {
    /// The verdict for a program that accepts only paths that satisfy a condition, with the list of their interfaces.
    ///
    /// In each family the kernel's own path counts if it satisfies the condition, whether or not it works. Otherwise
    /// the accepted route with the lowest metric counts; sockets use it if they are bound to its interface. If the
    /// kernel has only other paths, there is no route.
    ///
    /// - Parameter routes: All routes to the target, one for each interface and family.
    package func choosing(from routes: [DefaultRoute], where condition: NetworkCondition) -> Verdict {
        let accepted = routes.filter { $0.isUsable && condition.unmet(on: $0).isEmpty }
        var chosen = self
        if condition != .any {
            chosen = Verdict(
                ipv4: ipv4.choosing(from: accepted, .ipv4, where: condition),
                ipv6: ipv6.choosing(from: accepted, .ipv6, where: condition))
        }
        let preferred = [chosen.ipv4, chosen.ipv6].map { $0.status == .reachable ? $0.interfaceIndex : nil }
        chosen.available = AvailableInterface.list(accepted, first: preferred)
        return chosen
    }
}

extension NetworkPath {
    fileprivate func choosing(
        from routes: [DefaultRoute], _ family: IPAddress.Family, where condition: NetworkCondition
    ) -> NetworkPath {
        guard let interface else {
            // The kernel names no interface, but a rule may send what is bound to one over it.
            return routes.best(in: family).map(NetworkPath.init) ?? self
        }
        let kernelPath = ChosenPath(
            interface: interface, traits: traits, isValidated: connectivity == .full, quality: quality?.word,
            families: [family])
        if condition.unmet(on: kernelPath).isEmpty { return self }
        return routes.best(in: family).map(NetworkPath.init) ?? NetworkPath(status: .notReachable, reason: .noRoute)
    }

    /// The path by a route that is usable.
    fileprivate init(_ route: DefaultRoute) {
        self.init(status: .reachable)
        interface = route.name
        interfaceIndex = route.key.interface
        traits = route.traits
        lower = route.lower
        gateway = route.gateway
        source = route.source
        metric = route.metric
        neighbour = route.neighbour
    }
}

extension [DefaultRoute] {
    fileprivate func best(in family: IPAddress.Family) -> DefaultRoute? {
        filter { $0.key.family == family }.min { $0.precedes($1) }
    }
}

extension DefaultRoute: ConditionedPath {
    package var interface: String { name }
    /// Routes know nothing of probes.
    package var isValidated: Bool { false }
    package var quality: LineQuality.Word? { nil }
    package var families: Set<IPAddress.Family> { [key.family] }
}

private struct ChosenPath: ConditionedPath {
    let interface: String
    let traits: PathTraits
    let isValidated: Bool
    let quality: LineQuality.Word?
    let families: Set<IPAddress.Family>
}
