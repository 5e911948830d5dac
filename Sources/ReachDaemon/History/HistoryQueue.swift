internal import ReachCore
internal import ReachLoop
internal import Synchronization

/// What is waiting to be written: bounded, so that a disk that hangs costs records and not memory, nor anybody's time.
final class HistoryQueue: Sendable {
    enum Item: Sendable {
        case entry(HistoryEntry)
        case alive
    }

    struct Batch {
        var items: [Item] = []
        /// Of the records there was no room for, the last of each target: what holds now is never lost.
        var latest: [String: HistoryEntry] = [:]
        /// How many of the others are lost.
        var dropped = 0
        /// The last record of all: nothing comes after this batch.
        var end: HistoryEntry?
    }

    /// A storm of a thousand changes a second while a disk spins up.
    static let limit = 4096

    private let state = Mutex(Batch())
    private let wakeUp: WorkerSignal

    init() throws(SystemError) { wakeUp = try WorkerSignal() }

    /// Takes microseconds, whatever the disk does.
    func put(_ item: Item) {
        let wasEmpty = state.withLock { batch in
            guard batch.end == nil else { return false }
            guard batch.items.count < Self.limit else {
                batch.makeDo(with: item)
                return false
            }
            batch.items.append(item)
            return batch.items.count == 1
        }
        if wasEmpty { wakeUp.signal() }
    }

    /// Takes nothing after this, for which there is always room.
    func end(with entry: HistoryEntry) {
        state.withLock { $0.end = $0.end ?? entry }
        wakeUp.signal()
    }

    /// Waits for something to do. For the writer's thread.
    func take() -> Batch {
        wakeUp.wait()
        return state.withLock { batch in
            defer { batch = Batch(end: batch.end) }
            return batch
        }
    }

    /// The writer has written all that it ever will.
    func markFinished() { wakeUp.markFinished() }

    /// - Returns: Whether all was written in this time.
    func waitUntilFinished(_ patience: Duration) -> Bool { wakeUp.waitUntilFinished(patience) }
}

extension HistoryQueue.Batch {
    /// Keeps the last of each target, and of those no more than there is room for in the queue.
    fileprivate mutating func makeDo(with item: HistoryQueue.Item) {
        guard case .entry(let entry) = item else { return }
        if let target = entry.target, latest[target] != nil || latest.count < HistoryQueue.limit {
            dropped += latest.updateValue(entry, forKey: target) == nil ? 0 : 1
        } else {
            dropped += 1
        }
    }
}
