internal import ReachCore

/// Bytes per second of late, from how many there were at certain moments.
struct TransferRate {
    /// Long enough that a rate does not jump, short enough that a stall is seen.
    private static let window: Duration = .seconds(5)

    private var samples: [(time: BootTime, bytes: Int64)] = []

    /// The count starts anew when it goes down: another attempt is made.
    mutating func add(_ bytes: Int64, at time: BootTime) {
        if let last = samples.last, bytes < last.bytes || time < last.time { samples = [] }
        samples.append((time, bytes))
        while samples.count > 2, samples[1].time + Self.window < time { samples.removeFirst() }
    }

    /// - Returns: `nil` until there are two moments to compare.
    func bytesPerSecond(at now: BootTime) -> Int64? {
        guard let first = samples.first, let last = samples.last, samples.count > 1 else { return nil }
        // Where nothing comes any more, the time since then counts, too.
        let milliseconds = (max(now, last.time) - first.time).nanoseconds / 1_000_000
        return milliseconds > 0 ? (last.bytes - first.bytes) * 1000 / milliseconds : nil
    }
}
