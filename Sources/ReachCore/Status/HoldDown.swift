/// How long a new status must last before it is told.
///
/// Peers wait 5 s (ifplugd) or 6 s (NetworkManager) before they believe a loss; here the kernel is believed at once
/// unless the user says otherwise, and what is held back shows in the status.
public struct HoldDown: Hashable, Sendable {
    /// Before "reachable" is told.
    public var up: Duration
    /// Before "not reachable" or "unknown" is told.
    public var down: Duration
    /// However much it flaps, nothing is held back longer than this.
    public var maximum: Duration

    /// - Parameters:
    ///   - up: Before "reachable" is told. Zero tells at once.
    ///   - down: Before "not reachable" or "unknown" is told. Zero tells at once.
    ///   - maximum: The bound for endless flapping; by default ten times the longer of the two.
    public init(up: Duration = .zero, down: Duration = .zero, maximum: Duration? = nil) {
        self.up = max(up, .zero)
        self.down = max(down, .zero)
        self.maximum = maximum ?? max(self.up, self.down) * 10
    }

    func duration(before status: ReachabilityStatus) -> Duration { status == .reachable ? up : down }
}
