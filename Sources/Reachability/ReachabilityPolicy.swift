public import ReachCore

/// What the status of its target means for work that is about to begin.
public enum ReachabilityPolicy: String, Hashable, Sendable, CaseIterable {
    /// It begins whatever the status.
    case ignore
    /// It waits while the target is known to be out of reach. Unknown is not "offline", and holds nothing up.
    case unlessNotReachable
    /// It waits until the target is known to be within reach. Where the kernel cannot be observed, that is for ever.
    case onlyIfReachable

    /// Whether work may begin.
    ///
    /// - Parameter isPaused: Somebody paused it. Then no change of the network lets it go on.
    public func permits(_ status: ReachabilityStatus, isPaused: Bool = false) -> Bool {
        guard !isPaused else { return false }
        return switch self {
        case .ignore: true
        case .unlessNotReachable: status != .notReachable
        case .onlyIfReachable: status == .reachable
        }
    }
}
