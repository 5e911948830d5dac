package import ReachCore

extension QueuePath: ConditionedPath {}

/// What the paths of a moment mean for a condition.
package enum ConditionVerdict: Hashable, Sendable {
    /// The best of the paths that satisfy it.
    case met(QueuePath)
    /// What the path that comes nearest lacks. Never empty.
    case unmet(Blocker)

    package var path: QueuePath? {
        if case .met(let path) = self { path } else { nil }
    }
}

extension NetworkCondition {
    /// - Parameter paths: With ``isTargetReachable`` the path to the host, or none.
    package func verdict(on paths: [QueuePath]) -> ConditionVerdict {
        var best: QueuePath?
        var nearest: Unmet?
        for path in paths {
            let unmet = unmet(on: path)
            if unmet.isEmpty {
                if best.map({ path.isPreferred(to: $0, in: family) }) ?? true { best = path }
            } else if nearest.map({ unmet.rawValue.nonzeroBitCount < $0.rawValue.nonzeroBitCount }) ?? true {
                nearest = unmet
            }
        }
        if let best { return .met(best) }
        return .unmet(Blocker(nearest ?? unmetWithoutPath))
    }
}
