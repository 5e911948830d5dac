internal import ReachControl
internal import ReachCore
internal import ReachLoop
internal import ReachQueueRuntime
internal import Synchronization

/// Does the journal's work on a thread that ends when there is none. What is to be written comes first, then one reading for
/// the user who has used the least time.
final class JournalJobs: Sendable {
    /// Reads from the files; from nothing if they cannot be opened.
    typealias Reading = @Sendable (inout JournalWriter?) -> Void

    private struct State {
        var items: [JournalWriter.Item] = []
        var count = 0
        /// Events that found no room.
        var dropped = JournalWriter.Dropped()
        var readings = FairTurns<Reading>()
        var mustSync = false
        var isEnding = false
        var isRunning = false
    }

    /// Events that wait for a disk that hangs.
    static let limit = 4096

    private let state = Mutex(State())
    private let writer = Mutex<JournalWriter?>(nil)
    private let thread = SerialThread(named: "reach-journal")
    private let finished: WorkerSignal
    private let deliver: @Sendable (JournalStatistics) -> Void

    /// - Parameters:
    ///   - open: Opens the files, on the thread; `nil` if that fails.
    ///   - deliver: Called on the thread after something was written or synced.
    init(
        open: @escaping @Sendable () -> sending JournalWriter?,
        deliver: @escaping @Sendable (JournalStatistics) -> Void
    ) throws(SystemError) {
        finished = try WorkerSignal()
        self.deliver = deliver
        state.withLock { $0.isRunning = true }
        thread.run { [self] in
            writer.withLock { $0 = open() }
            work()
        }
    }

    /// Enqueues events within microseconds, whatever the disk does.
    func put(_ item: JournalWriter.Item) {
        enqueue { state in
            let count = if case .rows(let rows, _) = item { rows.count } else { 1 }
            // What an earlier run left is bounded by the outbox.
            let isRepeated = if case .rows(_, true) = item { true } else { false }
            guard state.count < Self.limit || isRepeated else { return state.dropped.add(item, count) }
            state.items.append(item)
            state.count += isRepeated ? 0 : count
        }
    }

    func put(_ reading: @escaping Reading, for user: UInt32) { enqueue { $0.readings.add(reading, for: user) } }

    func sync() { enqueue { $0.mustSync = true } }

    /// Writes what is left and closes the files.
    ///
    /// - Returns: Whether that was done within this time.
    func close(patience: Duration) -> Bool {
        enqueue { $0.isEnding = true }
        return finished.waitUntilFinished(patience)
    }

    private func enqueue(_ change: (inout State) -> Void) {
        let starts = state.withLock { state in
            change(&state)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if starts { thread.run { [self] in work() } }
    }

    private struct Share {
        var items: [JournalWriter.Item]
        var dropped: JournalWriter.Dropped
        var reading: (user: UInt32, turn: Reading)?
        var mustSync: Bool
        var isEnd: Bool
    }

    private func work() {
        while let share = next() { writer.withLock { work(on: share, &$0) } }
    }

    /// The next work; `nil` if there is none and the thread may end.
    private func next() -> Share? {
        state.withLock { state in
            let isEmpty = state.items.isEmpty && state.dropped.count == 0 && state.readings.isEmpty
            guard !isEmpty || state.mustSync || state.isEnding else {
                state.isRunning = false
                return nil
            }
            let share = Share(
                items: state.items, dropped: state.dropped, reading: state.readings.next(), mustSync: state.mustSync,
                isEnd: state.isEnding && state.readings.isEmpty)
            (state.items, state.count, state.dropped, state.mustSync) = ([], 0, .init(), false)
            if share.isEnd { state.isEnding = false }
            return share
        }
    }

    private func work(on share: Share, _ writer: inout JournalWriter?) {
        let hasEvents = !share.items.isEmpty || share.dropped.count > 0
        if hasEvents { writer?.write(share.items, dropped: share.dropped) }
        if share.mustSync { writer?.sync() }
        if hasEvents || share.mustSync { deliver(writer?.statistics ?? Self.nothing(share)) }
        if let (user, turn) = share.reading {
            let start = SystemClock.boot
            turn(&writer)
            let time = SystemClock.boot - start
            state.withLock { $0.readings.charge(time, to: user) }
        }
        guard share.isEnd else { return }
        writer?.close()
        writer = nil
        finished.markFinished()
    }

    /// Without files no row of the outbox is needed.
    private static func nothing(_ share: Share) -> JournalStatistics {
        var statistics = JournalStatistics()
        for case .rows(let rows, _) in share.items { statistics.safeRow = rows.last?.number ?? statistics.safeRow }
        statistics.safeRow = share.dropped.lastRow ?? statistics.safeRow
        return statistics
    }
}
