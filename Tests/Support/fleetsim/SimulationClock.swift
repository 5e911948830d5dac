import ReachCore
import ReachFleet
import ReachLoop
import Synchronization

/// The hosts' clocks. They run with this machine's and can be moved on, so that days pass in seconds.
///
/// The wall clock lags by the time that will be moved in all, so that in the end it is the engine's.
final class SimulationClock: Sendable {
    private let moved = Atomic<Int64>(0)
    private let lag: Int64

    init(lag: Duration) { self.lag = lag.nanoseconds }

    var boot: BootTime { SystemClock.boot + .nanoseconds(moved.load(ordering: .relaxed)) }

    var now: Instant {
        let moved = moved.load(ordering: .relaxed)
        return Instant(
            wall: SystemClock.now.wall + .nanoseconds(moved - lag), boot: SystemClock.boot + .nanoseconds(moved))
    }

    func move(by duration: Duration) { moved.add(duration.nanoseconds, ordering: .relaxed) }
}
