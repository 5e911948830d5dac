package import ReachCore
package import ReachControl
package import ReachLoop
internal import Synchronization

/// Keeps what happened, for `reach history`.
///
/// Any thread may record; each call takes microseconds. Files are opened and written by a thread of its own, which sleeps
/// while nothing happens.
package final class EventHistory: Sendable {
    /// A sign of life is left at most this often, and only when the daemon is awake anyway: after a crash, the time up to
    /// the last one counts as observed.
    package static let signInterval: Duration = .seconds(300)
    /// With nothing at all happening one is left this often, which is the only thing that wakes an idle daemon. After a
    /// crash in a quiet night no more than this counts as not observed, for four touches of a file in an hour.
    package static let idleInterval: Duration = .seconds(900)

    private let queue: HistoryQueue
    private let boot: String
    private let signInterval: Duration
    private let lastSign: Mutex<BootTime>

    /// Begins a run: its first record says that the daemon looks from `moment` on.
    ///
    /// - Parameters:
    ///   - entries: How many are kept at least; up to twice as many are on disk.
    ///   - signInterval: No two signs of life are closer.
    ///   - report: Told, on the writer's thread, when the files cannot be written, and when they can again.
    ///   - open: Opens the store, on the writer's thread.
    /// - Throws: When there are no more descriptors.
    package init(
        entries: Int, at moment: Instant, boot: String, signInterval: Duration = signInterval,
        report: @escaping @Sendable (String) -> Void,
        open: @escaping @Sendable () throws(SystemError) -> any HistoryStore
    ) throws(SystemError) {
        let queue = try HistoryQueue()
        self.queue = queue
        self.boot = boot
        self.signInterval = signInterval
        lastSign = Mutex(moment.boot)
        BackgroundThread.start(named: "reach-history") {
            do throws(SystemError) {
                let store = try open()
                var writer = HistoryWriter(queue, store, limit: entries, boot: boot, report: report)
                writer.begin(at: moment)
                writer.run()
            } catch {
                report("there is no history: \(error)")
                queue.end(with: HistoryEntry(.stopped, at: moment, boot: boot))
                queue.markFinished()
            }
        }
    }

    /// A history in the two files of a directory.
    package convenience init(
        _ files: HistoryFiles, entries: Int, at moment: Instant, boot: String,
        report: @escaping @Sendable (String) -> Void
    ) throws(SystemError) {
        try self.init(entries: entries, at: moment, boot: boot, report: report) { () throws(SystemError) in
            try FileHistoryStore(files)
        }
    }

    package func record(_ change: ReachabilityChange) { queue.put(.entry(HistoryEntry(change, boot: boot))) }

    package func record(_ event: ProbeEvent) {
        if let entry = HistoryEntry(event, boot: boot) { queue.put(.entry(entry)) }
    }

    /// The probe is no longer configured.
    package func recordUnwatched(probe name: String, at moment: Instant) {
        queue.put(.entry(HistoryEntry(.unwatched(target: "probe:" + name), at: moment, boot: boot)))
    }

    /// Nobody watches the target any more.
    package func recordUnwatched(_ target: Target, at moment: Instant) {
        queue.put(.entry(HistoryEntry(.unwatched(target: target.description), at: moment, boot: boot)))
    }

    /// To be called whenever the daemon is awake anyway.
    package func noteAlive(at moment: Instant) {
        let isDue = lastSign.withLock { last in
            guard moment.boot >= last + signInterval else { return false }
            last = moment.boot
            return true
        }
        if isDue { queue.put(.alive) }
    }

    /// Leaves signs of life even if nothing happens, as long as the history and the loop live.
    ///
    /// - Parameter interval: Not less than ``signInterval``, or signs are fewer.
    package func leaveSigns(on loop: EventLoop, every interval: Duration = idleInterval) {
        loop.schedule(at: SystemClock.boot + interval) { [weak self, unowned loop] in
            guard let self else { return }
            noteAlive(at: SystemClock.now)
            leaveSigns(on: loop, every: interval)
        }
    }

    /// Ends the run in order.
    ///
    /// - Parameter patience: A disk that hangs is not waited for any longer.
    /// - Returns: Whether everything is written.
    @discardableResult
    package func close(at moment: Instant, patience: Duration) -> Bool {
        queue.end(with: HistoryEntry(.stopped, at: moment, boot: boot))
        return queue.waitUntilFinished(patience)
    }
}
