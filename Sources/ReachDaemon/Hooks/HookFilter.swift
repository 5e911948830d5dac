package import ReachCore

/// Which events hooks are run for, by the paths that they concern (`[hooks] when`).
package struct HookFilter {
    package var condition: NetworkCondition
    /// The state of the Internet, whose path counts for events that concern no path of their own.
    private var internet: ReachabilityState?

    package init(_ condition: NetworkCondition) { self.condition = condition }

    /// Whether hooks are run for a change: if its path satisfies the condition, or did so before, since the loss of a path concerns it,
    /// too.
    package mutating func wants(_ change: ReachabilityChange) -> Bool {
        if change.state.target == .internet { internet = change.state }
        // The initial state is not an event.
        guard !change.isInitial else { return false }
        return condition == .any || [change.state, change.previous].compactMap(\.self).contains(where: condition.holds)
    }

    /// Whether hooks are run for events of probes and requests.
    package var wantsOthers: Bool { condition == .any || internet.map(condition.holds) == true }
}
