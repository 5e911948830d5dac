package import ReachCore

/// Which events hooks are run for, by the paths that they concern (`[hooks] when`).
///
/// The loss of a path concerns that path. So while a target is not reachable, its last path counts, in the network that
/// was known last.
package struct HookFilter {
    package var condition: NetworkCondition {
        didSet { if condition != oldValue { reached = reached.filter { $0.key == .internet } } }
    }
    /// The state of the Internet, whose path counts for events that concern no path of their own.
    private var internet: ReachabilityState?
    /// The last state of each target in which it was reachable; of the Internet alone where no condition asks for the
    /// others.
    private var reached: [Target: ReachabilityState] = [:]

    package init(_ condition: NetworkCondition) { self.condition = condition }

    /// Whether hooks are run for a change: if its path satisfies the condition, or did so before.
    package mutating func wants(_ change: ReachabilityChange) -> Bool {
        let state = change.state
        if state.target == .internet {
            internet = state
        } else if condition == .any {
            return !change.isInitial
        }
        note(change.previous)
        let last = state.isReachable ? nil : reached[state.target]
        note(state)
        // The initial state is not an event.
        guard !change.isInitial else { return false }
        return condition == .any || [state, change.previous, last].compactMap(\.self).contains(where: condition.holds)
    }

    /// A network that is not known at the moment is the one that was known, as long as the path is the same.
    private mutating func note(_ state: ReachabilityState?) {
        guard let state, state.isReachable else { return }
        let last = reached[state.target]
        if state.network == nil, let last, last.network != nil, last.isSameWay(as: state) { return }
        reached[state.target] = state
    }

    /// Whether hooks are run for events of probes and requests.
    package var wantsOthers: Bool {
        guard condition != .any, let internet else { return condition == .any }
        if condition.holds(in: internet) { return true }
        return !internet.isReachable && reached[.internet].map(condition.holds) == true
    }
}

extension ReachabilityState {
    fileprivate func isSameWay(as other: ReachabilityState) -> Bool {
        ipv4.leadsTheSameWay(as: other.ipv4) && ipv6.leadsTheSameWay(as: other.ipv6)
    }
}
