package import ReachCore
internal import ReachControl
package import ReachLoop
package import ReachRecords
internal import Synchronization

/// Records events on disk, for `reach history`.
///
/// Any thread may record; each call takes microseconds. A background thread opens and writes the files, and ends while
/// nothing happens.
package final class EventHistory: Sendable {
    /// The least interval between signs of life while the daemon is awake anyway. After a crash, the time up to the
    /// last sign counts as observed.
    package static let signInterval: Duration = .seconds(300)
    /// The interval of signs of life while nothing happens. They are all that wakes an idle daemon: four times an hour.
    /// After a crash of an idle daemon, no more time than this counts as not observed.
    package static let idleInterval: Duration = .seconds(900)

    private let jobs: RecordJobs<HistoryWriter>
    private let boot: String
    private let signInterval: Duration
    private let lastSign: Mutex<BootTime>
    private let limit: SharedValue<Int>

    /// Begins a run, whose first record says that the daemon observes from `moment` on.
    ///
    /// - Parameters:
    ///   - entries: The least number of entries kept; up to twice as many are on disk.
    ///   - signInterval: The least interval between two signs of life.
    ///   - report: Receives a message, on the writer's thread, when the files cannot be written, and when they can
    ///     again.
    ///   - open: Opens the store, on the writer's thread.
    /// - Throws: If no descriptors are left.
    package init(
        entries: Int, at moment: Instant, boot: String, signInterval: Duration = signInterval,
        report: @escaping @Sendable (String) -> Void,
        open: @escaping @Sendable () throws(SystemError) -> any HistoryStore
    ) throws(SystemError) {
        self.boot = boot
        self.signInterval = signInterval
        lastSign = Mutex(moment.boot)
        let limit = SharedValue(entries)
        self.limit = limit
        jobs = try RecordJobs(of: "history", report: report) { () throws(SystemError) in
            HistoryWriter(try open(), limit: limit, at: moment, boot: boot, report: report)
        }
    }

    /// Opens a history in the two files of a directory.
    package convenience init(
        _ files: HistoryFiles, entries: Int, at moment: Instant, boot: String,
        report: @escaping @Sendable (String) -> Void
    ) throws(SystemError) {
        try self.init(entries: entries, at: moment, boot: boot, report: report) { () throws(SystemError) in
            try FileHistoryStore(files)
        }
    }

    /// Keeps as many entries at least, from the next one on.
    package func keep(entries: Int) { limit.current = entries }

    /// Where the files are written. It lasts as long as the history, so that other work beside it begins no thread.
    var thread: SerialThread { jobs.thread }

    /// - Parameter name: The name of the target in the configuration.
    package func record(_ change: ReachabilityChange, of name: String? = nil) {
        record(HistoryEntry(change, of: name, boot: boot))
    }

    /// Records the state of a target. It may be written only after ``write()``.
    package func add(_ state: HistoryEntry.State, at moment: Instant) {
        jobs.add(.entry(HistoryEntry(.state(state), at: moment, boot: boot)))
    }

    private func record(_ entry: HistoryEntry) { jobs.put(.entry(entry)) }

    /// Makes the thread write what was added.
    package func write() { jobs.start() }

    /// Records what some minutes showed of a line.
    package func record(_ period: QualityPeriod, at moment: Instant) {
        record(HistoryEntry(.quality(period), at: moment, boot: boot))
    }

    /// Records what tests found while a target could not be used.
    package func record(_ evidence: OutageEvidence, at moment: Instant) {
        record(HistoryEntry(.evidence(evidence), at: moment, boot: boot))
    }

    /// Records that a target is no longer watched, or that a probe, `probe:NAME`, is no longer configured.
    package func recordUnwatched(_ target: String, at moment: Instant) {
        record(HistoryEntry(.unwatched(target: target), at: moment, boot: boot))
    }

    /// Leaves a sign of life if one is due. Call it whenever the daemon is awake anyway.
    package func noteAlive(at moment: Instant) {
        let isDue = lastSign.withLock { last in
            guard moment.boot >= last + signInterval else { return false }
            last = moment.boot
            return true
        }
        if isDue { jobs.put(.alive) }
    }

    /// Leaves signs of life even if nothing happens, as long as the history and the loop exist.
    ///
    /// - Parameters:
    ///   - interval: The interval of the signs. Below ``signInterval``, signs are fewer.
    ///   - alongside: Called with each, so that nothing else needs a timer.
    package func scheduleSigns(
        on loop: EventLoop, every interval: Duration = idleInterval, alongside: @escaping () -> Void = {}
    ) {
        loop.schedule(at: SystemClock.boot + interval) { [weak self, unowned loop] in
            guard let self else { return }
            noteAlive(at: SystemClock.now)
            alongside()
            scheduleSigns(on: loop, every: interval, alongside: alongside)
        }
    }

    /// Ends the run with a record of the stop.
    ///
    /// - Parameter patience: How long to wait for a disk that hangs.
    /// - Returns: Whether everything is written.
    @discardableResult
    package func close(at moment: Instant, patience: Duration) -> Bool {
        jobs.close(with: .entry(HistoryEntry(.stopped, at: moment, boot: boot)), patience: patience)
    }
}
