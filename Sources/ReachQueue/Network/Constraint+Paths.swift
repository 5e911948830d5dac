internal import ReachCore

/// What the paths of a moment are to a constraint.
package enum ConstraintVerdict: Hashable, Sendable {
    /// The best of the paths that satisfy it.
    case met(QueuePath)
    /// What the path that comes nearest lacks. Never empty.
    case unmet(Blocker)

    package var path: QueuePath? {
        if case .met(let path) = self { path } else { nil }
    }
}

extension Constraint {
    /// - Parameter paths: With ``isTargetReachable`` the path to the host, or none.
    package func verdict(on paths: [QueuePath]) -> ConstraintVerdict {
        var best: QueuePath?
        var nearest: Blocker?
        for path in paths {
            let lacking = lacking(in: path)
            if lacking.isEmpty {
                if best.map({ path.isPreferred(to: $0) }) ?? true { best = path }
            } else if nearest.map({ lacking.rawValue.nonzeroBitCount < $0.rawValue.nonzeroBitCount }) ?? true {
                nearest = lacking
            }
        }
        if let best { return .met(best) }
        return .unmet(nearest ?? (isTargetReachable ? .target : .linkClass))
    }

    /// What keeps a path from satisfying it; empty when nothing does.
    package func lacking(in path: QueuePath) -> Blocker {
        var lacking: Blocker = []
        if let linkClass, !path.isCarried(by: linkClass) { lacking.insert(.linkClass) }
        if excludedClasses.contains(where: path.isCarried) { lacking.insert(.linkClass) }
        if let interface, interface != path.interface { lacking.insert(.linkClass) }
        if isUnmetered, path.isMetered { lacking.insert(.metered) }
        if isValidated, !path.isValidated { lacking.insert(.validated) }
        if let family { if !path.families.contains(family) { lacking.insert(.family) } }
        if path.families.isEmpty { lacking.insert(.family) }
        return lacking
    }
}
