package import ReachCore

/// Bytes that may be spent in a day: a bucket that holds a day's worth and fills evenly, so that none are saved up for
/// longer than that. It may be overdrawn by what was sent before its size was known.
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

    /// When so many bytes are there, or the whole bucket is full: now, or later.
    package func available(_ bytes: Int, at now: BootTime) -> BootTime {
        let missing = Double(min(bytes, bytesPerDay)) - level(at: now)
        guard missing > 0 else { return now }
        let seconds = missing / bytesPerSecond
        // A nanosecond more, lest rounding leaves a part of a byte missing.
        return now + .nanoseconds(Int64((seconds * 1e9).rounded(.up)) + 1)
    }

    package mutating func spend(_ bytes: Int, at now: BootTime) {
        level = level(at: now) - Double(bytes)
        updated = now
    }

    /// What is there now; less than zero where it is overdrawn.
    package func bytesLeft(at now: BootTime) -> Int { Int(level(at: now).rounded(.down)) }

    private var bytesPerSecond: Double { Double(bytesPerDay) / 86_400 }

    private func level(at now: BootTime) -> Double {
        let seconds = Double((now - updated).nanoseconds) / 1e9
        return min(Double(bytesPerDay), level + seconds * bytesPerSecond)
    }
}
