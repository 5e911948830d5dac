internal import ReachCore
internal import ReachLoop
internal import Synchronization

/// The records that wait to be written. The queue is bounded: a disk that hangs loses records, but costs neither memory nor
/// the callers' time.
final class HistoryQueue: Sendable {
    enum Item: Sendable {
        case group(HistoryGroup)
        case alive

        /// The number of records.
        fileprivate var count: Int {
            if case .group(let group) = self { group.count } else { 1 }
        }
    }

    struct Batch {
        var items: [Item] = []
        /// The number of records among the items.
        var count = 0
        /// The last record of each target among those that did not fit: the current state is never lost.
        var latest: [String: HistoryEntry] = [:]
        /// The number of other records, which are lost.
        var dropped = 0
        /// The last record of the run: no batch follows.
        var end: HistoryEntry?
    }

    /// The limit of records: a thousand changes a second while a disk spins up.
    static let limit = 4096

    private let state = Mutex(Batch())
    private let wakeUp: WorkerSignal

    init() throws(SystemError) { wakeUp = try WorkerSignal() }

    /// Adds an item within microseconds, whatever the disk does. The writer sleeps on until ``wake()``.
    ///
    /// - Returns: Whether it is the first one since the writer removed the others.
    @discardableResult
    func add(_ item: Item) -> Bool {
        state.withLock { batch in
            guard batch.end == nil else { return false }
            guard batch.count + item.count <= Self.limit else {
                batch.keepLatest(item)
                return false
            }
            batch.items.append(item)
            batch.count += item.count
            return batch.items.count == 1
        }
    }

    /// Wakes the writer.
    func wake() { wakeUp.signal() }

    /// Adds the last record, for which there is always room. Later records are ignored.
    func end(with entry: HistoryEntry) {
        state.withLock { $0.end = $0.end ?? entry }
        wakeUp.signal()
    }

    /// Waits for records and removes them. For the writer's thread.
    func nextBatch() -> Batch {
        wakeUp.wait()
        return state.withLock { batch in
            defer { batch = Batch(end: batch.end) }
            return batch
        }
    }

    /// Marks the writer's work as finished.
    func markFinished() { wakeUp.markFinished() }

    /// - Returns: Whether the writer finished within this time.
    func waitUntilFinished(_ patience: Duration) -> Bool { wakeUp.waitUntilFinished(patience) }
}

extension HistoryQueue.Batch {
    /// Keeps the last record of each target, up to the queue's limit of targets, and counts the others as dropped.
    fileprivate mutating func keepLatest(_ item: HistoryQueue.Item) {
        guard case .group(let group) = item else { return }
        for entry in group.entries {
            if let target = entry.target, latest[target] != nil || latest.count < HistoryQueue.limit {
                dropped += latest.updateValue(entry, forKey: target) == nil ? 0 : 1
            } else {
                dropped += 1
            }
        }
    }
}
