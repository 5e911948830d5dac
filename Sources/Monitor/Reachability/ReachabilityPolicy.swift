public import ReachCore

/// How work that is about to begin depends on the status of its target.
public enum ReachabilityPolicy: String, Hashable, Sendable, CaseIterable {
    /// Work begins whatever the status.
    case ignore
    /// Work waits while the target is known to be unreachable. Unknown is not "offline", and delays nothing.
    case unlessNotReachable
    /// Work waits until the target is known to be reachable. If the kernel cannot be observed, it waits indefinitely.
    case onlyIfReachable

    /// Whether work may begin.
    ///
    /// - Parameter isPaused: Whether a user paused the work. Then it may not begin, whatever the status.
    public func permits(_ status: ReachabilityStatus, isPaused: Bool = false) -> Bool {
        guard !isPaused else { return false }
        return switch self {
        case .ignore: true
        case .unlessNotReachable: status != .notReachable
        case .onlyIfReachable: status == .reachable
        }
    }
}
