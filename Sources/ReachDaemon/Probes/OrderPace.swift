package import ReachCore

/// How often a user may have an attempt made: once a second. Whoever asks more often waits, so that nobody has the daemon
/// send in their place what they could not send, nor as much as they like.
package struct OrderPace: Sendable {
    private var free: [UInt32: BootTime] = [:]

    package static let distance: Duration = .seconds(1)

    package init() {}

    /// - Returns: When the attempt that the user asks for at this moment begins.
    package mutating func claim(for user: UInt32, at now: BootTime) -> BootTime {
        free = free.filter { $0.value > now }
        let start = free[user] ?? now
        free[user] = start + Self.distance
        return start
    }
}
