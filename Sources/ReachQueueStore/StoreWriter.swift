internal import Glibc
internal import ReachCore
internal import ReachLoop
internal import ReachQueue

/// The store's thread: opens the file, writes what comes, and keeps trying when the disk fails.
final class StoreWriter {
    private let directory: QueueDirectory
    private let options: QueueStoreOptions
    private let schema: QueueSchema
    private let jobs: StoreJobs
    private let observe: (StorePoint, [StoreTransaction]) -> Void
    private let deliver: (QueueStore.Notice) -> Void
    private var database: QueueDatabase?
    /// What could not be written yet, in order.
    private var kept: [StoreTransaction] = []
    private var retryAt: BootTime?
    private var pages = 0

    init(
        _ directory: QueueDirectory, _ options: QueueStoreOptions, _ schema: QueueSchema, _ jobs: StoreJobs,
        observe: @escaping (StorePoint, [StoreTransaction]) -> Void, deliver: @escaping (QueueStore.Notice) -> Void
    ) {
        self.directory = directory
        self.options = options
        self.schema = schema
        self.jobs = jobs
        self.observe = observe
        self.deliver = deliver
    }

    /// Ends with the jobs.
    func run() {
        do {
            try open()
        } catch {
            database = nil
            directory.release()
            return deliver(.failed(error as? QueueStoreError ?? .database(.failed("\(error)"))))
        }
        while true {
            let (taken, isEnding) = jobs.take(within: retryAt.map { $0 - SystemClock.boot })
            serve(taken)
            if let retryAt, retryAt <= SystemClock.boot || isEnding { retry() }
            if isEnding { break }
        }
        try? database?.checkpoint(truncate: true)
        database = nil
        directory.release()
    }

    // MARK: Opening

    private func open() throws {
        let now = SystemClock.now
        var contents: StoreContents
        do {
            contents = try openDatabase(at: now)
        } catch SQLiteError.corrupt {
            // Once, and never again and again: what is new is not damaged.
            database = nil
            let aside = try directory.setAside(at: now.wall.nanosecondsSince1970 / 1_000_000_000)
            contents = try openDatabase(at: now)
            contents.setAside = aside
            // Numbers go on where no earlier file can have come to, so that none is given twice.
            contents.nextID = max(contents.nextID, now.wall.nanosecondsSince1970 / 1_000_000_000)
        } catch let error as SQLiteError {
            throw QueueStoreError.database(error)
        }
        deliver(.opened(contents))
    }

    private func openDatabase(at now: Moment) throws -> StoreContents {
        let database = try QueueDatabase(
            directory, options, schema, at: now, bootIdentity: BootIdentity.current)
        let contents = try database.contents(at: now)
        directory.sweepSpool(keeping: try database.spoolNames())
        self.database = database
        return contents
    }

    // MARK: Writing

    private func serve(_ taken: [StoreJobs.Job]) {
        var batch: [StoreTransaction] = []
        for job in taken {
            switch job {
            case .write(let transaction):
                batch.append(transaction)
                if batch.count >= options.batch { write(&batch) }
            case .read(let body):
                write(&batch)
                if let database { body(database) }
            }
        }
        write(&batch)
    }

    private func write(_ batch: inout [StoreTransaction]) {
        defer { batch = [] }
        guard !batch.isEmpty else { return }
        guard retryAt == nil else { return refuse(batch, "the disk failed before") }
        do throws(SQLiteError) {
            try commit(batch)
        } catch {
            retryAt = SystemClock.boot + options.retryInterval
            deliver(.degraded(error.description))
            refuse(batch, error.description)
        }
    }

    private func commit(_ batch: [StoreTransaction]) throws(SQLiteError) {
        guard let database else { throw .storage("the file is not open") }
        try database.write(batch, at: observe)
        for transaction in batch {
            var leased: [(RequestID, QueuedRequest)] = []
            for case .lease(let id, _, _, _, _) in transaction.changes {
                if let request = try? database.specification(id) { leased.append((id, request)) }
            }
            deliver(.committed(transaction.number, leased: leased))
        }
        guard database.pagesInLog >= options.checkpointPages else { return }
        observe(.beforeCheckpoint, batch)
        // Readers may keep it from finishing; the next one goes on.
        try? database.checkpoint()
    }

    /// Keeps what has happened, and refuses what has not.
    private func refuse(_ batch: [StoreTransaction], _ reason: String) {
        for transaction in batch {
            if transaction.mayBeRefused {
                deliver(.notCommitted(transaction.number, reason))
            } else {
                kept.append(transaction)
            }
        }
    }

    /// Opens the file anew, since after a failed write nobody knows what SQLite's own memory is worth, and writes what was
    /// kept.
    private func retry() {
        do {
            database = nil
            database = try QueueDatabase(
                directory, options, schema, at: SystemClock.now, bootIdentity: BootIdentity.current)
            while !kept.isEmpty {
                let batch = Array(kept.prefix(options.batch))
                try commit(batch)
                kept.removeFirst(batch.count)
            }
            // With nothing kept, whether there is room has to be found out.
            try database?.probe()
            retryAt = nil
            deliver(.degraded(nil))
        } catch {
            retryAt = SystemClock.boot + options.retryInterval
        }
    }
}
