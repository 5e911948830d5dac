internal import Glibc
internal import ReachCore
internal import ReachLoop
internal import ReachQueue

/// The work of the store's thread: opens the file, writes transactions in order, and retries when the disk fails.
final class StoreWriter {
    let directory: QueueDirectory
    private(set) var options: QueueStoreOptions
    let schema: QueueSchema
    let outbox: QueueOutbox?
    let jobs: StoreJobs
    private let observe: (StorePoint, [StoreTransaction]) -> Void
    let deliver: @Sendable (QueueStore.Notice) -> Void
    var database: QueueDatabase?
    /// How far the requests of an earlier run are read; `nil` when all are.
    var restoring: StoreRestoring?
    /// The transactions that could not be written yet, in order.
    var kept: [StoreTransaction] = []
    /// When to try again after the disk failed; `nil` while the disk works.
    var retryAt: BootTime?
    /// When the fold for readers ends, so that other programs may write to the file again.
    private var foldedUntil: BootTime?
    /// When SQLite's log was last moved into the file, and its length then.
    var checkpoint = (at: BootTime(nanoseconds: 0), pages: 0)
    /// Written transactions that have perhaps not reached the disk.
    var unsafe: [StoreReceipt] = []
    /// Requests that are to be sent again, and whose old answers are removed once the disk has that: their leases wait
    /// for it, so that the next answer is not removed in its place.
    private var revived: Set<RequestID> = []
    var syncer: StoreSyncer?

    init(
        _ directory: QueueDirectory, _ options: QueueStoreOptions, _ schema: QueueSchema, _ jobs: StoreJobs,
        outbox: QueueOutbox? = nil,
        observe: @escaping (StorePoint, [StoreTransaction]) -> Void,
        deliver: @escaping @Sendable (QueueStore.Notice) -> Void
    ) {
        self.directory = directory
        self.options = options
        self.schema = schema
        self.jobs = jobs
        self.outbox = outbox
        self.observe = observe
        self.deliver = deliver
    }

    /// Runs until the jobs end.
    func run() {
        do {
            try startSyncer()
            try open()
        } catch {
            syncer?.end()
            database = nil
            directory.release()
            jobs.endReading()
            return deliver(.failed(error as? QueueStoreError ?? .database(.failed("\(error)"))))
        }
        while true {
            let share = jobs.next(
                within: isReadyToRestore
                    ? .zero : [retryAt, foldedUntil].compactMap(\.self).min().map { $0 - SystemClock.boot })
            write(share.changes)
            if let reading = share.reading { read(reading.turn, for: reading.user) }
            endFoldIfDue()
            if let retryAt, retryAt <= SystemClock.boot || share.isEnd { retry() }
            if share.isEnd { break }
            restoreNext()
            if restoring?.isDamaged == true { return giveUpFile() }
        }
        jobs.endReading()
        syncer?.end()
        close()
        directory.release()
    }

    /// Whether the next portion of requests can be read now.
    private var isReadyToRestore: Bool { retryAt == nil && restoring?.next != nil }

    /// Puts the damaged file aside, and ends. Whoever has the directory opens a new file.
    private func giveUpFile() {
        syncer?.end()
        database = nil
        let now = SystemClock.now.wall.nanosecondsSince1970 / 1_000_000_000
        let aside = Result { () throws(QueueStoreError) in try directory.setAside(at: now) }
        jobs.endReading()
        switch aside {
        case .success(let path): deliver(.damaged(setAside: path))
        case .failure(let error): deliver(.failed(error))
        }
    }

    /// Brings all changes into the tables, and empties the logs.
    private func close() {
        defer { database = nil }
        guard let database, (try? flush(database)) != nil, (try? database.checkpoint(truncate: true)) == true else {
            return
        }
        database.changeLog.empty()
    }

    /// A long list is read in many portions, so a fold stays for a second.
    private func endFoldIfDue() {
        guard let database, database.fold.isOpen else { return foldedUntil = nil }
        let end = foldedUntil ?? SystemClock.boot + .seconds(1)
        foldedUntil = end
        if end <= SystemClock.boot { database.unfold() }
    }

    private func startSyncer() throws {
        do throws(SystemError) {
            syncer = try StoreSyncer(deliver: { [directory, deliver] in
                Self.settle($0, directory, deliver)
            }) { [jobs] receipts, error in
                jobs.put(.notSynced(receipts, error))
            }
        } catch {
            throw QueueStoreError.system(error)
        }
    }

    // MARK: Writing

    private func write(_ changes: [StoreJobs.Change]) {
        var batch: [StoreTransaction] = []
        var bytes = 0
        for change in changes {
            switch change {
            case .write(let transaction):
                if batch.isEmpty { bytes = 0 }
                batch.append(transaction)
                bytes += transaction.inlineBytes
                if batch.count >= options.batch || bytes >= options.changeLogBytes { write(&batch) }
            case .notSynced(let receipts, let error):
                database?.safety.doubt()
                degrade(error.description)
                write(&batch)
                doubt(receipts)
            case .checked(let isSound):
                restoring?.awaitsCheck = false
                if !isSound { restoring?.isDamaged = true }
            case .trimOutbox(let number):
                write(&batch)
                // If this fails, a later call removes these rows, too.
                try? database?.trimOutbox(upTo: number)
            case .keep(let results):
                options.results = results
                database?.options.results = results
            }
        }
        write(&batch)
    }

    private func read(_ reading: StoreJobs.Reading, for user: UInt32) {
        let start = SystemClock.boot
        reading(database)
        jobs.charge(SystemClock.boot - start, to: user)
    }

    private func write(_ batch: inout [StoreTransaction]) {
        defer { batch = [] }
        guard !batch.isEmpty else { return }
        guard retryAt == nil else { return writeNecessary(batch, "the disk failed before") }
        do throws(SQLiteError) {
            try commit(batch)
        } catch {
            degrade(error.description)
            writeNecessary(batch, error.description)
        }
    }

    func commit(_ batch: [StoreTransaction]) throws(SQLiteError) {
        guard let database else { throw .storage("the file is not open") }
        let written = try database.write(batch, at: observe)
        for case (let receipt, let reason?) in written.map({ ($0, $0.rejection) }) { giveUp(receipt, reason) }
        report(database)
        var waiting: [StoreReceipt] = []
        // What is to be sent comes first: somebody waits for an answer meanwhile.
        for receipt in written where receipt.rejection == nil {
            if mustWait(receipt) { waiting.append(receipt) } else { Self.settle(receipt, directory, deliver) }
        }
        if !waiting.isEmpty { syncer?.put(waiting) }
        if database.isFlushDue, retryAt == nil {
            do throws(SQLiteError) {
                try flush(database)
            } catch {
                // The changes are all in the change log, and go into the tables when the file is opened again.
                degrade(error.description)
            }
        }
        checkpointIfDue(database, batch)
    }

    /// Whether a written transaction waits for the disk.
    private func mustWait(_ receipt: StoreReceipt) -> Bool {
        var isAfterRevival = false
        for change in receipt.transaction.changes {
            switch change {
            case .revive(let progress, _): revived.insert(progress.id)
            case .lease(let id, _, _, _, _): if !revived.isEmpty, revived.remove(id) != nil { isAfterRevival = true }
            case .purge(let ids): if !revived.isEmpty { revived.subtract(ids) }
            case .insert, .join, .update, .holdRequest, .finish, .holdQueue, .markRead, .openBreaker, .closeBreaker,
                .setMetered:
                break
            }
        }
        return receipt.mustOutlastPower || isAfterRevival
    }

    private func flush(_ database: QueueDatabase) throws(SQLiteError) {
        defer { report(database) }
        try database.flush()
    }

    /// Removes the files and reports the losses that followed from bringing changes into the tables.
    func report(_ database: QueueDatabase) {
        for name in database.safety.takeRemovable() { directory.removeSpoolFile(name) }
        let leftOut = database.fold.takeLeftOut()
        if let first = leftOut.first {
            database.losses.append(
                "\(leftOut.count) changes do not fit into the queue's file and are lost, the first one: \(first)")
        }
        for loss in database.losses { deliver(.lost(loss)) }
        database.losses = []
    }

    private func checkpointIfDue(_ database: QueueDatabase, _ batch: [StoreTransaction]) {
        keepReserve(database)
        let pages = database.pagesInLog
        // SQLite has started to overwrite its log.
        if pages < checkpoint.pages { checkpoint.pages = 0 }
        // On a full disk the file cannot grow, or takes the room that is needed for finished and changed requests.
        guard retryAt == nil, pages >= options.checkpointPages, pages != checkpoint.pages else { return }
        // While other programs read, SQLite cannot start over in its log, so trying it often is useless.
        if checkpoint.pages > 0, SystemClock.boot < checkpoint.at + .seconds(1) { return }
        observe(.beforeCheckpoint, batch)
        do throws(SQLiteError) {
            try database.checkpoint(truncate: pages > options.longestLogPages)
        } catch {
            if case .storage = error { degrade(error.description) }
        }
        checkpoint = (SystemClock.boot, pages)
    }

    /// Ends a transaction that is safe: removes its files, and delivers its notice.
    static func settle(
        _ receipt: StoreReceipt, _ directory: QueueDirectory, _ deliver: (QueueStore.Notice) -> Void
    ) {
        for name in receipt.filesToRemove { directory.removeSpoolFile(name) }
        deliver(receipt.notice)
    }
}

extension StoreTransaction {
    /// The bytes of bodies and answers that are written with it.
    fileprivate var inlineBytes: Int {
        changes.reduce(0) { sum, change in
            switch change {
            case .insert(_, let request): sum + request.specification.body.inlineBytes
            case .finish(_, _, let result, _): sum + (result?.body.inlineBytes ?? 0)
            default: sum
            }
        }
    }
}

extension RequestBody {
    fileprivate var inlineBytes: Int { if case .inline(let bytes) = self { bytes.count } else { 0 } }
}
