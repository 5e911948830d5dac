package import ReachCore
internal import ReachControl
package import ReachLoop

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

/// Writes the queue's records to the store, on a thread of its own.
///
/// Records are not synced to the disk one by one: a crash of the daemon loses none, a loss of power those of the last
/// seconds. The writer syncs at the end of a run and when a file is full.
struct HistoryWriter {
    private let queue: HistoryQueue
    private let store: any HistoryStore
    private let limit: Int
    private let boot: String
    private let report: @Sendable (String) -> Void
    /// The state of each target. A new file begins with them, so that targets that seldom change are not lost.
    private var states: [String: HistoryEntry.State] = [:]
    /// The number of lost records that is not yet written.
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

    /// Writes the start record of a run. If the previous run left no record of its end, this one contains the time of its
    /// last sign of life.
    mutating func begin(at moment: Instant) {
        let (entry, time) = store.lastSign
        let lastSeen = entry.flatMap { $0.content == .stopped ? nil : time ?? $0.moment.wall }
        write([HistoryGroup(HistoryEntry(.started(lastSeen: lastSeen), at: moment, boot: boot))])
    }

    /// Writes until the queue ends.
    mutating func run() {
        while true {
            let batch = queue.nextBatch()
            write(batch)
            guard let end = batch.end else { continue }
            write([HistoryGroup(end)])
            break
        }
        store.sync()
        queue.markFinished()
    }

    private mutating func write(_ batch: HistoryQueue.Batch) {
        var groups: [HistoryGroup] = []
        groups.reserveCapacity(batch.items.count)
        for case .group(let group) in batch.items { groups.append(group) }
        groups += batch.latest.values.sorted { $0.moment.boot < $1.moment.boot }.map(HistoryGroup.init)
        lost += batch.dropped
        if !groups.isEmpty || lost > 0 {
            write(groups)
        } else if !batch.items.isEmpty {
            store.touch()
        }
    }

    private mutating func write(_ groups: [HistoryGroup]) {
        groups.forEach { remember($0) }
        let count = groups.reduce(0) { $0 + $1.count }
        do throws(SystemError) {
            try store.append(HistoryLine.encode(lost > 0 ? groups + lossRecords() : groups), count: count)
            recover()
        } catch {
            lost += count
            fail(error)
        }
        if store.count >= limit { rotate() }
    }

    /// A record of the number of lost records, and the states after them.
    private func lossRecords() -> [HistoryGroup] {
        let now = SystemClock.now
        return [HistoryGroup(HistoryEntry(.dropped(count: lost), at: now, boot: boot))] + currentStates(at: now)
    }

    private func currentStates(at moment: Instant) -> [HistoryGroup] {
        states.sorted { $0.key < $1.key }.map {
            HistoryGroup(HistoryEntry(.state($0.value), at: moment, boot: boot))
        }
    }

    private mutating func rotate() {
        do throws(SystemError) {
            try store.rotate()
            try store.append(HistoryLine.encode(currentStates(at: SystemClock.now)), count: 0)
        } catch {
            fail(error)
        }
    }

    private mutating func remember(_ group: HistoryGroup) {
        switch group.first.content {
        case .state(var state):
            state.isChange = false
            states[state.target] = state
            for target in group.otherTargets {
                state.target = target
                states[target] = state
            }
        case .unwatched(let target): states[target] = nil
        case .started, .stopped, .dropped: break
        }
    }

    /// Reports the first failure of a series; ``recover()`` reports its end.
    private mutating func fail(_ error: SystemError) {
        if !isFailing { report("the history cannot be written: \(error)") }
        isFailing = true
    }

    private mutating func recover() {
        if isFailing { report("the history can be written again; \(lost) records were lost") }
        isFailing = false
        lost = 0
    }
}
