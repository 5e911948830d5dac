extension Cause {
    /// The weightiest cause that affects one of these interfaces; otherwise the weightiest of all.
    ///
    /// What takes a path away does not make a target reachable, and what brings one does not end that: a route that was
    /// added, deleted and added at once is a route that was added. Such a cause counts only if there is no other.
    package static func weightiest(
        of effects: [NetworkTable.Effect], touching interfaces: [InterfaceIndex],
        from before: ReachabilityStatus, to after: ReachabilityStatus
    ) -> Cause? {
        if effects.count == 1 { return effects[0].cause }
        let near = effects.filter { effect in effect.interface.map(interfaces.contains) ?? true }
        let causes = (near.isEmpty ? effects : near).map(\.cause)
        let fitting = before == after ? causes : causes.filter { $0.direction != (after == .reachable ? .loss : .gain) }
        return (fitting.isEmpty ? causes : fitting).min { $0.weight < $1.weight }
    }

    private enum Direction {
        case loss, gain
    }

    /// What the cause does to paths; `nil` where it may do either, as a rule that forbids does.
    private var direction: Direction? {
        switch self {
        case .cannotObserve, .linkRemoved, .linkDown, .carrierLost, .addressRemoved, .nexthopRemoved, .routeRemoved:
            .loss
        case .linkUp, .carrierGained, .linkAdded, .addressAdded, .nexthopAdded, .routeAdded: .gain
        case .start, .resync, .wake, .addressChanged, .ruleRemoved, .ruleAdded, .routeReplaced, .neighbour, .roam,
            .network, .linkChanged, .setting, .router, .name, .probe, .holdElapsed, .configuration, .poll:
            nil
        }
    }

    private var weight: Int { Self.weights[self] ?? .max }

    private static let weights = Dictionary(
        uniqueKeysWithValues: allCases.enumerated().map { ($0.element, $0.offset) })
}
