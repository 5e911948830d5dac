/// Whether a target can be reached according to the kernel's tables. No packet is sent to find out.
public enum ReachabilityStatus: String, Hashable, Sendable, CaseIterable {
    /// Not determined yet, or the kernel could not be observed. This does not mean offline: programs should try anyway.
    case unknown
    /// The kernel has no working path to the target.
    case notReachable = "not-reachable"
    /// The kernel has a path to the target. Whether it works beyond the first hop is unknown.
    case reachable
}
