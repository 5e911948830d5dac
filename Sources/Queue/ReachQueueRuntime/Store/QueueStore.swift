internal import ReachCore
package import ReachLoop
package import ReachQueue

/// Keeps the queue in a file, on two threads of its own: one writes, one waits for the disk.
///
/// Writes go before reads, and readers take turns by user (``StoreJobs``), so that one user's queries delay no one's
/// requests. Transactions are committed in the order of their submission, in groups of those that arrived while the
/// group before was written. When the disk fails, new requests and leases are refused; everything else is kept and
/// tried again, since it has happened already.
package final class QueueStore: Sendable {
    /// What the store reports, on its own threads. Transactions of one request are reported in the order of their
    /// submission; one that need not wait for the disk may be reported before an earlier one of another request that
    /// must.
    package enum Notice: Sendable {
        /// The first one: the file is open.
        case opened(StoreContents)
        /// The next requests of a file that has many, in the order of their numbers.
        case restored([StoredRequest])
        /// These were all. With the rows that were set aside meanwhile.
        case allRestored(RowsSetAside)
        /// The file turned out to be damaged, and was set aside; the thread has ended, and the directory stays locked.
        /// Comes before ``allRestored(_:)``.
        case damaged(setAside: String)
        /// Or it cannot be: the thread has ended.
        case failed(QueueStoreError)
        /// A transaction is safe. With what is to be sent for the leases in it.
        case committed(UInt64, leased: [(RequestID, QueuedRequest)])
        /// A transaction that may not be refused could not be written yet; it is kept and tried again.
        case postponed(UInt64)
        /// A transaction that may be refused was not written.
        case notCommitted(UInt64, String)
        /// What was committed once is lost: a sentence for the log.
        case lost(String)
        /// The disk fails, with the reason; or it works again.
        case degraded(String?)
    }

    private let jobs: StoreJobs

    /// Starts the thread, which opens the file: a damaged one is set aside and a new one made in its place.
    ///
    /// - Parameters:
    ///   - directory: Stays locked until the store is closed.
    ///   - outbox: Where the events of transactions go; `nil` if they are not wanted.
    ///   - observe: Called at each step of the store's work, for tests.
    ///   - deliver: Receives what happens; must not wait for the store.
    /// - Throws: When there are no more descriptors.
    package init(
        _ directory: QueueDirectory, _ options: QueueStoreOptions = QueueStoreOptions(), outbox: QueueOutbox? = nil,
        observe: @escaping @Sendable (StorePoint, [StoreTransaction]) -> Void = { _, _ in },
        deliver: @escaping @Sendable (Notice) -> Void
    ) throws(SystemError) {
        let jobs = try StoreJobs()
        self.jobs = jobs
        BackgroundThread.start(named: "reach-queue") {
            let writer = StoreWriter(
                directory, options, QueueSchema(), jobs, outbox: outbox, observe: observe, deliver: deliver)
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

    /// The same, but its thread is not woken for it before ``wake()`` is called.
    package func enqueue(_ transaction: StoreTransaction) { jobs.put(.write(transaction), wakes: false) }

    package func wake() { jobs.wake() }

    /// Removes rows of the outbox whose receiver has them safe. Any thread.
    package func trimOutbox(upTo number: Int64) { jobs.put(.trimOutbox(upTo: number)) }

    /// Keeps as much of what is over as these limits say, from the next transaction on. Any thread.
    package func keep(_ results: QueuePolicy.Keeping) { jobs.put(.keep(results)) }

    /// Reads all that is kept of a request but its body, on behalf of a user. `body` runs on the store's thread, with
    /// `nil` if nothing is kept, and with an error if that is not known.
    package func record(
        of id: RequestID, for user: UInt32 = 0,
        _ body: @escaping @Sendable (Result<RequestReport?, QueueStoreError>) -> Void
    ) {
        jobs.put({ body(Self.read($0) { (file) throws(SQLiteError) in try file.report(on: id) }) }, for: user)
    }

    /// Reads what is kept of several requests, on behalf of a user. `body` runs on the store's thread.
    package func records(
        _ query: RecordQuery, for user: UInt32 = 0,
        _ body: @escaping @Sendable (Result<[RequestReport], QueueStoreError>) -> Void
    ) {
        jobs.put({ body(Self.read($0) { (file) throws(SQLiteError) in try file.reports(query) }) }, for: user)
    }

    private static func read<Value>(
        _ file: QueueDatabase?, _ question: (QueueDatabase) throws(SQLiteError) -> Value
    ) -> Result<Value, QueueStoreError> {
        guard let file else { return .failure(.notOpen) }
        do throws(SQLiteError) {
            return .success(try question(file))
        } catch {
            return .failure(.database(error))
        }
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

/// Why the queue's directory cannot be used.
package enum QueueStoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Another process has it (exit status 73).
    case locked(path: String, process: Int32?)
    /// Written by a newer program: use that one, or another directory. Nothing was changed.
    case tooNew(version: Int64, known: Int64)
    /// It is closed, or never was open.
    case notOpen
    case system(SystemError)
    case database(SQLiteError)

    package var description: String {
        switch self {
        case .locked(let path, let process):
            "\(path) is used by another process" + (process.map { " (\($0))" } ?? "")
        case .tooNew(let version, let known):
            "the queue's file has version \(version), and this program knows \(known): it was written by a newer one"
        case .notOpen: "the queue's file is not open"
        case .system(let error): error.description
        case .database(let error): error.description
        }
    }
}
