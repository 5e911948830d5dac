internal import ReachCore
package import ReachLoop
package import ReachQueue
internal import Synchronization

/// Keeps the queue in a file, on two threads of its own: one writes, one waits for the disk.
///
/// Transactions are committed in the order in which they are submitted, as many at a time as have come while the ones
/// before were written. When the disk fails, new requests and leases are refused; all else is kept and tried again, since
/// it has happened already.
package final class QueueStore: Sendable {
    /// What the store tells, on threads of its own. Of two transactions that concern one request in the order in which they
    /// were submitted; one that need not wait for the disk may be told before an earlier one of another that must.
    package enum Notice: Sendable {
        /// The first one: the file is open.
        case opened(StoreContents)
        /// Or it cannot be: the thread has ended.
        case failed(QueueStoreError)
        /// A transaction is safe. With what is to be sent for the leases in it.
        case committed(UInt64, leased: [(RequestID, QueuedRequest)])
        /// A transaction that may not be refused could not be written yet; it is kept and tried again.
        case postponed(UInt64)
        /// A transaction that may be refused was not written.
        case notCommitted(UInt64, String)
        /// The disk fails, with the reason; or it works again.
        case degraded(String?)
    }

    private let jobs: StoreJobs

    /// Starts the thread, which opens the file: a damaged one is set aside and a new one made in its place.
    ///
    /// - Parameters:
    ///   - directory: Stays locked until the store is closed.
    ///   - observe: Told where the store is in its work, for tests.
    ///   - deliver: Told what happens; must not wait for the store.
    /// - Throws: When there are no more descriptors.
    package init(
        _ directory: QueueDirectory, _ options: QueueStoreOptions = QueueStoreOptions(),
        observe: @escaping @Sendable (StorePoint, [StoreTransaction]) -> Void = { _, _ in },
        deliver: @escaping @Sendable (Notice) -> Void
    ) throws(SystemError) {
        let jobs = try StoreJobs()
        self.jobs = jobs
        BackgroundThread.start(named: "reach-queue") {
            let writer = StoreWriter(directory, options, QueueSchema(), jobs, observe: observe, deliver: deliver)
            writer.run()
            jobs.markFinished()
        }
    }

    /// For tests of other versions of the file.
    init(
        _ directory: QueueDirectory, _ schema: QueueSchema, deliver: @escaping @Sendable (Notice) -> Void
    ) throws(SystemError) {
        let jobs = try StoreJobs()
        self.jobs = jobs
        BackgroundThread.start(named: "reach-queue") {
            let writer = StoreWriter(
                directory, QueueStoreOptions(), schema, jobs, observe: { _, _ in }, deliver: deliver)
            writer.run()
            jobs.markFinished()
        }
    }

    /// Has a transaction written. Any thread; takes microseconds.
    package func submit(_ transaction: StoreTransaction) { jobs.put(.write(transaction)) }

    /// Reads what is kept of a request. `body` runs on the store's thread, with `nil` if nothing is.
    package func outcome(of id: RequestID, _ body: @escaping @Sendable (RequestOutcome?) -> Void) {
        jobs.put(.read { body(try? $0.outcome(of: id)) })
    }

    /// Reads the request as it was queued. `body` runs on the store's thread, with `nil` if there is none.
    package func specification(_ id: RequestID, _ body: @escaping @Sendable (QueuedRequest?) -> Void) {
        jobs.put(.read { body(try? $0.specification(id)) })
    }

    /// Reads all that is kept of a request but its body. `body` runs on the store's thread, with `nil` if nothing is.
    package func record(of id: RequestID, _ body: @escaping @Sendable (RequestRecord?) -> Void) {
        jobs.put(.read { body(try? $0.record(of: id)) })
    }

    /// Reads what is kept of several requests. `body` runs on the store's thread.
    package func records(_ query: RecordQuery, _ body: @escaping @Sendable ([RequestRecord]) -> Void) {
        jobs.put(.read { body((try? $0.records(query)) ?? []) })
    }

    /// Writes what is there, moves the log into the file, and ends the thread.
    ///
    /// - Parameter patience: A disk that hangs is not waited for any longer.
    /// - Returns: Whether all was written.
    @discardableResult
    package func close(patience: Duration) -> Bool {
        jobs.end()
        return jobs.waitUntilFinished(patience)
    }
}

/// What the store's thread is to do, in order.
final class StoreJobs: Sendable {
    enum Job: Sendable {
        case write(StoreTransaction)
        case read(@Sendable (QueueDatabase) -> Void)
        /// The disk failed while these were waited for.
        case notSynced([StoreReceipt], SystemError)
    }

    private struct State {
        var jobs: [Job] = []
        var isEnding = false
    }

    private let state = Mutex(State())
    private let bell: WorkerBell

    init() throws(SystemError) { bell = try WorkerBell() }

    func put(_ job: Job) {
        let isFirst = state.withLock { state in
            state.jobs.append(job)
            return state.jobs.count == 1
        }
        if isFirst { bell.ring() }
    }

    func end() {
        state.withLock { $0.isEnding = true }
        bell.ring()
    }

    /// Waits for something to do.
    ///
    /// - Parameter limit: For no longer than this; `nil` waits for ever.
    /// - Returns: All that has come, and whether it is the end.
    func take(within limit: Duration?) -> (jobs: [Job], isEnding: Bool) {
        bell.wait(within: limit)
        return state.withLock { state in
            defer { state.jobs = [] }
            return (state.jobs, state.isEnding)
        }
    }

    func markFinished() { bell.markFinished() }

    func waitUntilFinished(_ patience: Duration) -> Bool { bell.waitUntilFinished(patience) }
}
