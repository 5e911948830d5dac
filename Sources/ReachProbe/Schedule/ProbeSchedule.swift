package import ReachCore

/// When a probe's next attempt is due.
///
/// The next tick comes from the grid and never from when an attempt was done, so nothing drifts; one that comes while the last
/// attempt still runs is skipped. While there is no path nothing is due; afterwards what was missed is made up for by exactly
/// one attempt. After a failure there are attempts in between: three after the failing interval, then at twice the distance
/// each time, until that is the interval itself.
package struct ProbeSchedule: Hashable, Sendable {
    private let grid: ProbeGrid
    private let interval: Duration
    private let failingInterval: Duration
    private var tick: ProbeGrid.Tick
    /// Between the ticks, after a failure.
    private var extra: BootTime?
    private var isRunning = false
    private var startedAt: BootTime?
    private var pausedAt: BootTime?
    private var owesCatchUp = false
    /// Ticks that came while an attempt was still running.
    package private(set) var skipped: UInt64 = 0

    private static let failuresBeforeDoubling = 3

    /// Somebody who configures a probe for every hour does not wait for its first result that long.
    private static let firstWithin = Duration.seconds(30)

    /// - Parameter now: The first attempt is due on the first tick after it, and at most 30 s later.
    package init(interval: Duration, failingInterval: Duration, grid: ProbeGrid, now: BootTime) {
        self.grid = grid
        self.interval = interval
        self.failingInterval = failingInterval
        tick = grid.tick(after: now)
        if interval > Self.firstWithin { extra = now + grid.share(of: Self.firstWithin) }
    }

    package var isPaused: Bool { pausedAt != nil }

    /// When to call ``timeReached(at:)``; `nil` while paused.
    package var deadline: BootTime? {
        guard pausedAt == nil else { return nil }
        return extra.map { min($0, tick.time) } ?? tick.time
    }

    /// - Returns: Whether an attempt is due now. Then ``begin(at:)`` follows, at once or when there is room for it.
    package mutating func timeReached(at now: BootTime) -> Bool {
        guard pausedAt == nil else { return false }
        var isDue = false
        if let extra, extra <= now {
            self.extra = nil
            isDue = true
        }
        if tick.time <= now {
            // However late it is, the ticks in between are one.
            tick = grid.tick(after: now)
            isDue = true
        }
        guard isDue else { return false }
        if isRunning {
            skipped += 1
            return false
        }
        isRunning = true
        return true
    }

    /// The attempt that was due begins.
    package mutating func begin(at now: BootTime) { startedAt = now }

    /// The attempt is done.
    ///
    /// - Parameter failures: How many attempts in a row failed, this one included; 0 if it did not.
    package mutating func finish(failures: Int, at now: BootTime) {
        isRunning = false
        extra = nil
        guard failures > 0, pausedAt == nil else { return }
        let doublings = min(max(0, failures - Self.failuresBeforeDoubling), 32)
        let distance = failingInterval * (1 << doublings)
        guard distance < interval else { return }
        extra = max((startedAt ?? now) + distance, now)
    }

    /// There is no path. An attempt that was running, or waited for its turn, is void, and is owed.
    package mutating func pause(at now: BootTime) {
        guard pausedAt == nil else { return }
        pausedAt = now
        extra = nil
        owesCatchUp = isRunning
        isRunning = false
    }

    /// There is a path again.
    ///
    /// - Returns: Whether an attempt is due now, since at least one was missed. Then ``begin(at:)`` follows.
    package mutating func resume(at now: BootTime) -> Bool {
        guard pausedAt != nil else { return false }
        pausedAt = nil
        let hasMissed = owesCatchUp || tick.time <= now
        owesCatchUp = false
        if tick.time <= now { tick = grid.tick(after: now) }
        guard hasMissed, !isRunning else { return false }
        isRunning = true
        return true
    }
}
