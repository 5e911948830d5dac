internal import ReachCore
internal import ReachLoop
internal import ReachQueue
internal import Synchronization

/// The jobs of the store's thread. Writes come first, in order; then one read, for the user who has used the least
/// time. A reader sees everything that was submitted before.
final class StoreJobs: Sendable {
    enum Change: Sendable {
        case write(StoreTransaction)
        /// The disk failed while these were waited for.
        case notSynced([StoreReceipt], SystemError)
        /// The check of a long file has ended.
        case checked(isSound: Bool)
        /// The outbox's rows up to this one are no longer needed.
        case trimOutbox(upTo: Int64)
    }

    /// Reads from the file; from `nil` where it cannot be opened.
    typealias Reading = @Sendable (QueueDatabase?) -> Void

    struct Share {
        var changes: [Change] = []
        var reading: (user: UInt32, turn: Reading)?
        /// It is the last one.
        var isEnd = false
    }

    private struct State {
        var changes: [Change] = []
        var readings = FairTurns<Reading>()
        var isEnding = false
        /// The thread has ended.
        var isOver = false

        var isEmpty: Bool { changes.isEmpty && readings.isEmpty }
    }

    private let state = Mutex(State())
    private let wakeUp: WorkerSignal

    init() throws(SystemError) { wakeUp = try WorkerSignal() }

    func put(_ change: Change) {
        let isFirst = state.withLock { state in
            defer { state.changes.append(change) }
            return state.isEmpty
        }
        if isFirst { wakeUp.signal() }
    }

    /// Whoever asks is answered, even where nothing can be read any more.
    func put(_ reading: @escaping Reading, for user: UInt32) {
        let (isFirst, isOver) = state.withLock { state in
            let isFirst = state.isEmpty
            if !state.isOver { state.readings.add(reading, for: user) }
            return (isFirst, state.isOver)
        }
        if isOver { reading(nil) } else if isFirst { wakeUp.signal() }
    }

    func end() {
        state.withLock { $0.isEnding = true }
        wakeUp.signal()
    }

    /// Waits for something to do.
    ///
    /// - Parameter limit: For no longer than this; `nil` waits without end.
    /// - Returns: All that is to be written and one thing that is to be read.
    func next(within limit: Duration?) -> Share {
        if state.withLock({ $0.isEmpty && !$0.isEnding }) { wakeUp.wait(within: limit) }
        return state.withLock { state in
            var share = Share(changes: state.changes)
            state.changes = []
            share.reading = state.readings.next()
            share.isEnd = state.isEnding && state.isEmpty
            return share
        }
    }

    /// Counts time that was spent on a user's reading.
    func charge(_ time: Duration, to user: UInt32) { state.withLock { $0.readings.charge(time, to: user) } }

    /// Nothing is read any more: what waits is answered so, and all that comes.
    func endReading() {
        let waiting = state.withLock { state in
            state.isOver = true
            var waiting: [Reading] = []
            while let (_, reading) = state.readings.next() { waiting.append(reading) }
            return waiting
        }
        for reading in waiting { reading(nil) }
    }

    func markFinished() { wakeUp.markFinished() }

    func waitUntilFinished(_ patience: Duration) -> Bool { wakeUp.waitUntilFinished(patience) }
}
