package import ReachCore

/// A budget of bytes per day: a token bucket that holds one day's worth and fills evenly, so that no more than that is
/// saved up. It may be overdrawn, since the size of a check is known only afterwards.
package struct ByteBudget: Hashable, Sendable {
    package let bytesPerDay: Int
    private var level: Double
    private var updated: BootTime

    /// Full at the beginning.
    package init(bytesPerDay: Int, at now: BootTime) {
        self.bytesPerDay = bytesPerDay
        level = Double(bytesPerDay)
        updated = now
    }

    /// The time, now or later, at which the bucket holds this many bytes or is full.
    package func available(_ bytes: Int, at now: BootTime) -> BootTime {
        let missing = Double(min(bytes, bytesPerDay)) - level(at: now)
        guard missing > 0 else { return now }
        let seconds = missing / bytesPerSecond
        // One nanosecond more, so that rounding leaves no fraction of a byte missing.
        return now + .nanoseconds(Int64((seconds * 1e9).rounded(.up)) + 1)
    }

    package mutating func spend(_ bytes: Int, at now: BootTime) {
        level = level(at: now) - Double(bytes)
        updated = now
    }

    /// Bytes available now; negative if overdrawn.
    package func bytesLeft(at now: BootTime) -> Int { Int(level(at: now).rounded(.down)) }

    private var bytesPerSecond: Double { Double(bytesPerDay) / 86_400 }

    private func level(at now: BootTime) -> Double {
        let seconds = Double((now - updated).nanoseconds) / 1e9
        return min(Double(bytesPerDay), level + seconds * bytesPerSecond)
    }
}
