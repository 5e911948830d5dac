internal import CReachLinux
internal import Glibc
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
    private let bell: CInt
    private let finished: CInt

    init() throws(SystemError) {
        bell = try SystemError.check("eventfd") { eventfd(0, CInt(EFD_CLOEXEC)) }
        finished = try SystemError.check("eventfd") { eventfd(0, CInt(EFD_CLOEXEC)) }
    }

    deinit {
        close(bell)
        close(finished)
    }

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
        if wasEmpty { Self.ring(bell) }
    }

    /// Takes nothing after this, for which there is always room.
    func end(with entry: HistoryEntry) {
        state.withLock { $0.end = $0.end ?? entry }
        Self.ring(bell)
    }

    /// Waits for something to do. For the writer's thread.
    func take() -> Batch {
        Self.wait(bell)
        return state.withLock { batch in
            defer { batch = Batch(end: batch.end) }
            return batch
        }
    }

    /// The writer has written all that it ever will.
    func markFinished() { Self.ring(finished) }

    /// - Returns: Whether all was written in this time.
    func waitUntilFinished(_ patience: Duration) -> Bool {
        var poll = pollfd(fd: finished, events: Int16(POLLIN), revents: 0)
        return Glibc.poll(&poll, 1, CInt(clamping: patience.nanoseconds / 1_000_000)) > 0
    }

    private static func ring(_ descriptor: CInt) {
        var one: UInt64 = 1
        write(descriptor, &one, MemoryLayout<UInt64>.size)
    }

    private static func wait(_ descriptor: CInt) {
        var count: UInt64 = 0
        while read(descriptor, &count, MemoryLayout<UInt64>.size) < 0, errno == EINTR {}
    }
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
