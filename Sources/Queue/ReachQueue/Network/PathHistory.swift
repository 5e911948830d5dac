package import ReachCore

/// How long a path stayed up recently and how fast it carried bodies, to judge whether a large upload would be finished
/// before the path goes. It never knows, so it only says when to look again, and stops saying so after a while.
package struct PathHistory: Hashable, Sendable {
    private struct Window: Hashable, Sendable {
        let length: Duration
        let end: BootTime
    }

    private var windows: [Window] = []
    private var upSince: BootTime?
    private var lostAt: BootTime?
    /// Bytes per second.
    package private(set) var rate: Double?

    package init() {}

    // MARK: What is observed

    /// The path came. A gap that attempts outlive is none.
    package mutating func gained(at now: BootTime, _ policy: QueuePolicy) {
        defer { lostAt = nil }
        guard let since = upSince, let end = lostAt else {
            upSince = upSince ?? now
            return
        }
        guard now - end >= policy.paths.linger else { return }
        windows.removeAll { now - $0.end >= policy.windows.memory }
        if windows.count >= 8 { windows.removeFirst() }
        windows.append(Window(length: end - since, end: end))
        upSince = now
    }

    package mutating func lost(at now: BootTime) { lostAt = now }

    /// A request with a body of this size was answered.
    package mutating func carried(_ bytes: Int64, in time: Duration) {
        guard time > .zero else { return }
        let measured = Double(bytes) / (time / .seconds(1))
        rate = rate.map { ($0 + measured) / 2 } ?? measured
    }

    /// The path went before a request with a body of this size was answered: it is no faster than this.
    package mutating func interrupted(_ bytes: Int64, after time: Duration) {
        guard time > .zero else { return }
        let bound = Double(bytes) / (time / .seconds(1))
        rate = min(rate ?? bound, bound)
    }

    // MARK: What follows

    /// The longest time for which the path was up recently, if it comes and goes.
    package func longestWindow(at now: BootTime, _ policy: QueuePolicy) -> Duration? {
        let recent = windows.filter { now - $0.end < policy.windows.memory }
        return recent.count >= policy.windows.count ? recent.map(\.length).max() : nil
    }

    /// How long a body takes at the measured rate.
    package func time(for bytes: Int64) -> Duration? {
        guard let rate, rate > 0 else { return nil }
        return .seconds(min(Double(bytes) / rate, 1e9))
    }

    /// Whether a body may be begun on: `nil` if so, else the time to look again.
    ///
    /// - Parameter waiting: Since when the request has been put off; after ``QueuePolicy/windows`` it goes
    ///   anyway.
    package func wait(
        for bytes: Int64, waitingSince waiting: BootTime, at now: BootTime, _ policy: QueuePolicy
    ) -> BootTime? {
        guard bytes > policy.canaries.smallBytes, let longest = longestWindow(at: now, policy),
            let needed = time(for: bytes),
            let upSince
        else { return nil }
        let up = now - upSince
        // It has stayed much longer than before: what was before says nothing more.
        guard up < longest * 2, needed > longest - up, now < waiting + policy.windows.patience else { return nil }
        return min(upSince + longest * 2, waiting + policy.windows.patience)
    }
}
