internal import ReachCore
internal import ReachKernel
internal import ReachLoop

/// The users whose sockets led to a test that was answered: they are ignored for 5 seconds, then for 10, 20 and so on
/// up to a minute, so no user's sockets cause many tests, nor keep others' sockets from causing one.
struct SilencePatience {
    private struct Entry {
        var until: BootTime
        var backoff = Backoff(first: .seconds(5), longest: SilencePatience.longest)
    }

    private var entries: [UInt32: Entry] = [:]
    private static let longest: Duration = .seconds(60)
    /// A user is forgotten after this time without a test.
    private static let memory: Duration = .seconds(600)

    /// Whether anybody is ignored, or was recently.
    func isNeeded(at now: BootTime) -> Bool { entries.contains { now < $0.value.until + Self.memory } }

    func ignored(at now: BootTime) -> Set<UInt32> { Set(entries.filter { now < $0.value.until }.keys) }

    mutating func refute(_ users: Set<UInt32>, at now: BootTime) {
        entries = entries.filter { now < $0.value.until + Self.memory }
        for user in users {
            var entry = entries[user] ?? Entry(until: now)
            entry.until = now + entry.backoff.wait()
            entries[user] = entry
        }
        while entries.count > SilenceSample.userLimit, let first = entries.min(by: { $0.value.until < $1.value.until })
        {
            entries[first.key] = nil
        }
    }
}
