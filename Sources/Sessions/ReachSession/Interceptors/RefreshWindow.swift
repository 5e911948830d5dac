package import ReachCore

/// How often a credential may be refreshed: a number of times within a length of time. A server that refuses every
/// credential must not make a program refresh without end.
public struct RefreshWindow: Hashable, Sendable {
    /// The number of refreshes in ``length``.
    public let count: Int
    /// The time in which they count.
    public let length: Duration
    private var times: [BootTime] = []

    /// By default 5 in 30 seconds, Alamofire's numbers.
    public init(count: Int = 5, length: Duration = .seconds(30)) {
        self.count = count
        self.length = length
    }

    /// Counts a refresh that begins now.
    ///
    /// - Returns: `false` if there were too many, and this one must not begin.
    package mutating func admit(at now: BootTime) -> Bool {
        times.removeAll { now - $0 >= length }
        guard times.count < count else { return false }
        times.append(now)
        return true
    }
}
