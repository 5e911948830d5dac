package import ReachCore

/// Limits the attempts on demand of each user to one a second; further ones wait. The daemon may send what the user could
/// not, so a user must not make it send without limit.
package struct ProbeRateLimit: Sendable {
    /// When the next attempt of each user may start.
    private var free: [UInt32: BootTime] = [:]

    package static let interval: Duration = .seconds(1)

    package init() {}

    /// - Returns: The start time of the attempt that the user requests now.
    package mutating func claim(for user: UInt32, at now: BootTime) -> BootTime {
        free = free.filter { $0.value > now }
        let start = free[user] ?? now
        free[user] = start + Self.interval
        return start
    }
}
