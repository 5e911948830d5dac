internal import ReachCore
package import ReachLoop
internal import Synchronization

/// How late an event loop runs a timer, sampled every 5 ms. A test uses it to show that nothing blocks the loop.
///
/// A busy machine delays any timer. ``inLoop`` leaves out what the kernel counts as waiting for a processor; bounds of
/// durations add ``total`` to what they allow.
package final class LoopLateness: Sendable {
    private struct Worst {
        var inLoop = Duration.zero
        var total = Duration.zero
    }

    private let worst = Mutex(Worst())

    package init() {}

    /// The longest delay without the time in which the loop's thread was ready and had no processor.
    package var inLoop: Duration { worst.withLock { $0.inLoop } }

    /// The longest delay.
    package var total: Duration { worst.withLock { $0.total } }

    /// Measures until the value is released. Call it on the loop's thread.
    package func measure(on loop: EventLoop) {
        let due = SystemClock.boot + .milliseconds(5)
        let ready = Self.timeInRunQueue
        loop.schedule(at: due) { [weak self] in
            guard let self else { return }
            let late = SystemClock.boot - due
            let inLoop = late - (Self.timeInRunQueue - ready)
            worst.withLock {
                $0.inLoop = max($0.inLoop, inLoop)
                $0.total = max($0.total, late)
            }
            measure(on: loop)
        }
    }

    /// How long this thread has been ready without a processor (Linux, Documentation/scheduler/sched-stats.rst).
    private static var timeInRunQueue: Duration {
        let words = SmallFile.words("/proc/thread-self/schedstat")
        return .nanoseconds(words.count > 1 ? Int64(words[1]) ?? 0 : 0)
    }
}
