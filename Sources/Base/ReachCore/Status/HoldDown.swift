/// How long a new status must last before it is reported.
///
/// ifplugd waits 5 s and NetworkManager 6 s before reporting a loss. The default here is to report at once. While a
/// status is held back, ``ReachabilityState/isHeld`` is true.
public struct HoldDown: Hashable, Sendable {
    /// The delay before "reachable" is reported.
    public var up: Duration
    /// The delay before "not reachable" or "unknown" is reported.
    public var down: Duration
    /// The longest time for which flapping can hold back a status.
    public var maximum: Duration

    /// Creates a hold-down. Negative delays count as zero.
    ///
    /// - Parameters:
    ///   - up: The delay before "reachable" is reported. Zero reports at once.
    ///   - down: The delay before "not reachable" or "unknown" is reported. Zero reports at once.
    ///   - maximum: The limit for endless flapping; by default ten times the longer of the two.
    public init(up: Duration = .zero, down: Duration = .zero, maximum: Duration? = nil) {
        self.up = max(up, .zero)
        self.down = max(down, .zero)
        self.maximum = maximum ?? max(self.up, self.down) * 10
    }

    func duration(before status: ReachabilityStatus) -> Duration { status == .reachable ? up : down }
}
