package import ReachCore

/// Decides when a probe's next attempt is due.
///
/// Ticks come from the grid, never from the end of an attempt, so nothing drifts. A tick during an attempt is skipped.
/// Without a path nothing is due; one attempt afterwards makes up for all missed ticks. After a failure there are extra
/// attempts between the ticks: three at the failing interval, then at doubling distances up to the interval itself.
package struct ProbeSchedule: Hashable, Sendable {
    private let grid: ProbeGrid
    private let interval: Duration
    private let failingInterval: Duration
    private var tick: ProbeGrid.Tick
    /// The next extra attempt, between the ticks.
    private var extra: BootTime?
    private var isRunning = false
    private var startedAt: BootTime?
    private var pausedAt: BootTime?
    private var owesCatchUp = false
    /// Ticks that came while an attempt was still running.
    package private(set) var skipped: UInt64 = 0

    private static let failuresBeforeDoubling = 3

    /// The longest wait for the first attempt, so that a probe with a long interval has a result soon.
    private static let firstWithin = Duration.seconds(30)

    /// - Parameter now: The start. The first attempt is due at the first tick after it, or within 30 s if that is
    ///   sooner.
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

    /// - Returns: Whether an attempt is due now. Call ``begin(at:)`` when it starts, now or when there is room for it.
    package mutating func timeReached(at now: BootTime) -> Bool {
        guard pausedAt == nil else { return false }
        var isDue = false
        if let extra, extra <= now {
            self.extra = nil
            isDue = true
        }
        if tick.time <= now {
            // Several missed ticks count as one.
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

    /// Notes the start of the attempt that was due.
    package mutating func begin(at now: BootTime) { startedAt = now }

    /// Notes the end of the attempt.
    ///
    /// - Parameter failures: Number of consecutive failures, this one included; 0 if it did not fail.
    package mutating func finish(failures: Int, at now: BootTime) {
        isRunning = false
        extra = nil
        guard failures > 0, pausedAt == nil else { return }
        let doublings = min(max(0, failures - Self.failuresBeforeDoubling), 32)
        let distance = failingInterval * (1 << doublings)
        guard distance < interval else { return }
        extra = max((startedAt ?? now) + distance, now)
    }

    /// Pauses while there is no path. The attempt that is running or waits for its turn does not count, and another one
    /// replaces it after the pause.
    package mutating func pause(at now: BootTime) {
        guard pausedAt == nil else { return }
        pausedAt = now
        extra = nil
        owesCatchUp = isRunning
        isRunning = false
    }

    /// Resumes when there is a path again.
    ///
    /// - Returns: Whether an attempt is due now, since at least one was missed. Call ``begin(at:)`` when it starts.
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

/// How much earlier attempts may start than they are due, so that several begin with one timer.
///
/// For an attempt by itself the processor wakes up twice, with cold caches, and that costs as much as the attempt's own
/// work: with 100 attempts a second, libcurl takes 250 us of a processor for one that starts alone, and 110 us where
/// five start together. More at a time would measure each other's work, as a part of their latencies.
package struct StartTolerance: Hashable, Sendable {
    /// What is mostly due within the tolerance, beside the attempt whose time has come.
    private static let attempts = 8.0
    /// A person does not notice it.
    private static let longest = Duration.milliseconds(50)
    /// Where many attempts are due, less is enough.
    private let common: Duration

    package init(of specifications: [ProbeSpecification]) {
        let rate = specifications.reduce(0) { $0 + 1 / max(1e-3, Double($1.interval.nanoseconds) / 1e9) }
        let needed = Self.attempts / max(rate, 1e-9)
        common = min(Self.longest, .nanoseconds(Int64(min(needed, 1) * 1e9)))
    }

    /// At most a twentieth of a probe's intervals, as ``ProbeGrid`` moves them anyway.
    package func time(for specification: ProbeSpecification) -> Duration {
        min(common, min(specification.interval, specification.failingInterval) / 20)
    }
}
