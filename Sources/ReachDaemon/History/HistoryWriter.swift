internal import ReachCore
internal import ReachControl
internal import ReachLoop

/// Writes what the queue brings, on a thread of its own.
///
/// Nothing is synced to the disk for each record: a crash of the daemon loses none, a loss of power those of the last
/// seconds, as the file system has it. Synced is at the end of a run and when a file is full.
struct HistoryWriter {
    private let queue: HistoryQueue
    private let store: any HistoryStore
    private let limit: Int
    private let boot: String
    private let report: @Sendable (String) -> Void
    /// What holds of each target: a new file begins with it, or a target that seldom changes would be forgotten.
    private var states: [String: HistoryEntry.State] = [:]
    /// Records that were lost and not yet told of.
    private var lost = 0
    private var isFailing = false

    init(
        _ queue: HistoryQueue, _ store: any HistoryStore, limit: Int, boot: String,
        report: @escaping @Sendable (String) -> Void
    ) {
        self.queue = queue
        self.store = store
        self.limit = limit
        self.boot = boot
        self.report = report
    }

    /// Writes the mark of a new run. If the run before left none of its end, this one says when it was last seen.
    mutating func begin(at moment: Instant) {
        let (entry, time) = store.lastSign
        let lastSeen = entry.flatMap { $0.content == .stopped ? nil : time ?? $0.moment.wall }
        write([HistoryEntry(.started(lastSeen: lastSeen), at: moment, boot: boot)])
    }

    /// Ends with the queue.
    mutating func run() {
        while true {
            let batch = queue.take()
            write(batch)
            guard let end = batch.end else { continue }
            write([end])
            break
        }
        store.sync()
        queue.markFinished()
    }

    private mutating func write(_ batch: HistoryQueue.Batch) {
        var entries: [HistoryEntry] = []
        for case .entry(let entry) in batch.items { entries.append(entry) }
        entries += batch.latest.values.sorted { $0.moment.boot < $1.moment.boot }
        lost += batch.dropped
        if !entries.isEmpty || lost > 0 {
            write(entries)
        } else if !batch.items.isEmpty {
            store.touch()
        }
    }

    private mutating func write(_ entries: [HistoryEntry]) {
        entries.forEach { remember($0) }
        let made = lost > 0 ? amends() : []
        do throws(SystemError) {
            try store.append((entries + made).flatMap(HistoryLine.encode), count: entries.count)
            recover()
        } catch {
            lost += entries.count
            fail(error)
        }
        if store.count >= limit { rotate() }
    }

    /// Says that records are missing, and what holds after them.
    private func amends() -> [HistoryEntry] {
        let now = SystemClock.now
        return [HistoryEntry(.dropped(count: lost), at: now, boot: boot)] + carried(at: now)
    }

    private func carried(at moment: Instant) -> [HistoryEntry] {
        states.sorted { $0.key < $1.key }.map { HistoryEntry(.state($0.value), at: moment, boot: boot) }
    }

    private mutating func rotate() {
        do throws(SystemError) {
            try store.rotate()
            try store.append(carried(at: SystemClock.now).flatMap(HistoryLine.encode), count: 0)
        } catch {
            fail(error)
        }
    }

    private mutating func remember(_ entry: HistoryEntry) {
        switch entry.content {
        case .state(var state):
            state.isChange = false
            states[state.target] = state
        case .unwatched(let target): states[target] = nil
        case .started, .stopped, .dropped: break
        }
    }

    /// Told once, and again when it works.
    private mutating func fail(_ error: SystemError) {
        if !isFailing { report("the history cannot be written: \(error)") }
        isFailing = true
    }

    private mutating func recover() {
        if isFailing { report("the history is written again; \(lost) records are lost") }
        isFailing = false
        lost = 0
    }
}
