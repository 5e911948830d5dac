package import ReachCore
internal import ReachControl
package import ReachLoop
package import ReachRecords

/// The files, or a test's substitute, that a history is written to. Only the writer's thread uses it, and its calls may
/// block.
package protocol HistoryStore: AnyObject {
    /// The last record of the previous run, and the time of that run's last sign of life.
    var lastSign: (entry: HistoryEntry?, time: Timestamp?) { get }
    /// The number of lines in the current file.
    var count: Int { get }
    /// Appends complete lines: all of them, or none.
    func append(_ lines: [UInt8], count: Int) throws(SystemError)
    /// Begins a new file. The previous file is kept, the one before it is deleted.
    func rotate() throws(SystemError)
    /// Leaves a sign of life.
    func touch()
    /// Makes what was written survive a loss of power.
    func sync()
}

/// Writes records to the store.
///
/// Records are not synced to the disk one by one: a crash of the daemon loses none, a loss of power those of the last
/// seconds. The writer syncs at the end of a run and when a file is full.
struct HistoryWriter: RecordWriter {
    enum Item: Sendable {
        case entry(HistoryEntry)
        case alive
    }

    struct Dropped: DroppedRecords {
        /// The last record of each target, up to a limit of targets: the current state is never lost.
        private(set) var latest: [String: HistoryEntry] = [:]
        /// The number of other records, which are lost.
        private(set) var count = 0

        var isEmpty: Bool { latest.isEmpty && count == 0 }

        mutating func add(_ item: Item) {
            guard case .entry(let entry) = item else { return }
            if let target = entry.target, latest[target] != nil || latest.count < Self.limit {
                count += latest.updateValue(entry, forKey: target) == nil ? 0 : 1
            } else {
                count += 1
            }
        }

        mutating func add(_ other: Dropped) {
            for entry in other.latest.values { add(.entry(entry)) }
            count += other.count
        }

        static func count(of item: Item) -> Int { 1 }
    }

    private let store: any HistoryStore
    private let limit: SharedValue<Int>
    private let boot: String
    private var failures: WriteFailures
    /// The state of each target. A new file begins with them, so that targets that seldom change are not lost.
    private var states: [String: HistoryEntry.State] = [:]
    /// The number of lost records that is not yet written.
    private var lost = 0

    /// Writes the start record of a run. If the previous run left no record of its end, this one contains the time of
    /// its last sign of life.
    init(
        _ store: any HistoryStore, limit: SharedValue<Int>, at moment: Instant, boot: String,
        report: @escaping @Sendable (String) -> Void
    ) {
        self.store = store
        self.limit = limit
        self.boot = boot
        failures = WriteFailures(of: "history", "records", report: report)
        let (entry, time) = store.lastSign
        let lastSeen = entry.flatMap { $0.content == .stopped ? nil : time ?? $0.moment.wall }
        write([HistoryEntry(.started(lastSeen: lastSeen), at: moment, boot: boot)])
    }

    var report: Void { () }

    static func report(ofLost items: [Item], dropped: Dropped) {}

    mutating func write(_ items: [Item], dropped: Dropped) {
        var entries: [HistoryEntry] = []
        for case .entry(let entry) in items { entries.append(entry) }
        entries += dropped.latest.values.sorted { $0.moment.boot < $1.moment.boot }
        lost += dropped.count
        if !entries.isEmpty || lost > 0 {
            write(entries)
        } else if !items.isEmpty {
            store.touch()
        }
    }

    mutating func sync() { store.sync() }

    mutating func close() { store.sync() }

    private mutating func write(_ entries: [HistoryEntry]) {
        entries.forEach { remember($0) }
        do throws(SystemError) {
            let all = lost > 0 ? entries + lossRecords() : entries
            try store.append(all.flatMap(HistoryLine.encode), count: entries.count)
            failures.succeed(lost: lost)
            lost = 0
        } catch {
            lost += entries.count
            failures.fail(error)
        }
        if store.count >= limit.current { rotate() }
    }

    /// A record of the number of lost records, and the states after them.
    private func lossRecords() -> [HistoryEntry] {
        let now = SystemClock.now
        return [HistoryEntry(.dropped(count: lost), at: now, boot: boot)] + currentStates(at: now)
    }

    private func currentStates(at moment: Instant) -> [HistoryEntry] {
        states.sorted { $0.key < $1.key }.map { HistoryEntry(.state($0.value), at: moment, boot: boot) }
    }

    private mutating func rotate() {
        do throws(SystemError) {
            try store.rotate()
            try store.append(currentStates(at: SystemClock.now).flatMap(HistoryLine.encode), count: 0)
        } catch {
            failures.fail(error)
        }
    }

    private mutating func remember(_ entry: HistoryEntry) {
        switch entry.content {
        case .state(var state):
            state.isChange = false
            states[state.target] = state
        case .unwatched(let target): states[target] = nil
        case .started, .stopped, .quality, .evidence, .dropped: break
        }
    }
}
