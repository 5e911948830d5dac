internal import ReachCore

/// The recent rate in bytes per second, from samples of a count.
struct TransferRate {
    /// The time that is averaged: long enough that the rate does not jump, short enough that a stall is visible.
    private static let window: Duration = .seconds(5)

    private var samples: [(time: BootTime, bytes: Int64)] = []

    /// Adds a sample. A lower count than before is a new attempt, which starts again.
    mutating func add(_ bytes: Int64, at time: BootTime) {
        if let last = samples.last, bytes < last.bytes || time < last.time { samples = [] }
        samples.append((time, bytes))
        while samples.count > 2, samples[1].time + Self.window < time { samples.removeFirst() }
    }

    /// - Returns: `nil` until there are two samples.
    func bytesPerSecond(at now: BootTime) -> Int64? {
        guard let first = samples.first, let last = samples.last, samples.count > 1 else { return nil }
        // The time since the last sample counts too, so a stall lowers the rate.
        let milliseconds = (max(now, last.time) - first.time).nanoseconds / 1_000_000
        return milliseconds > 0 ? (last.bytes - first.bytes) * 1000 / milliseconds : nil
    }
}
