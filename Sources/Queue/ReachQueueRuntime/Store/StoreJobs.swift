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
        /// What is kept of requests that are over.
        case keep(QueuePolicy.Keeping)
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
        /// Whether the thread was woken for what is there.
        var isSignalled = false
        var isEnding = false
        /// The thread has ended.
        var isOver = false

        var isEmpty: Bool { changes.isEmpty && readings.isEmpty }

        /// - Returns: Whether the thread has to be woken: the caller does it.
        mutating func claimSignal() -> Bool {
            defer { isSignalled = true }
            return !isSignalled
        }
    }

    private let state = Mutex(State())
    private let wakeUp: WorkerSignal

    init() throws(SystemError) { wakeUp = try WorkerSignal() }

    /// - Parameter wakes: Whether the thread begins with it now, and not only when it is woken for something else.
    func put(_ change: Change, wakes: Bool = true) {
        let mustSignal = state.withLock { state in
            state.changes.append(change)
            return wakes && state.claimSignal()
        }
        if mustSignal { wakeUp.signal() }
    }

    /// Has the thread begin with all that is there.
    func wake() {
        if state.withLock({ !$0.isEmpty && $0.claimSignal() }) { wakeUp.signal() }
    }

    /// Whoever asks is answered, even where nothing can be read any more.
    func put(_ reading: @escaping Reading, for user: UInt32) {
        let (mustSignal, isOver) = state.withLock { state in
            if state.isOver { return (false, true) }
            state.readings.add(reading, for: user)
            return (state.claimSignal(), false)
        }
        if isOver { reading(nil) } else if mustSignal { wakeUp.signal() }
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
            // What is left is looked at without a wait.
            state.isSignalled = !state.isEmpty
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

/// A transaction that is written, and what follows when it is safe.
struct StoreReceipt: Sendable {
    let transaction: StoreTransaction
    var leased: [(RequestID, QueuedRequest)] = []
    /// Spool files that nothing names any more.
    var filesToRemove: [String] = []
    /// Why it is not written, now or later.
    var rejection: String?

    init(transaction: StoreTransaction) { self.transaction = transaction }

    var notice: QueueStore.Notice { .committed(transaction.number, leased: leased) }

    /// Whether somebody relies on it even if the power fails.
    var mustOutlastPower: Bool {
        transaction.isAwaited
            || transaction.changes.contains {
                switch $0 {
                case .lease(_, _, _, let isRepeatable, _): !isRepeatable
                case .update, .holdRequest, .openBreaker, .closeBreaker, .purge, .markRead, .setMetered: false
                // With a lease.
                case .join: false
                case .insert, .finish, .revive, .holdQueue: true
                }
            }
    }
}
