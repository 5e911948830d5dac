internal import Glibc
internal import ReachCore
internal import ReachLoop
internal import ReachQueue

/// The work of the store's thread: opens the file, writes transactions in order, and retries when the disk fails.
final class StoreWriter {
    let directory: QueueDirectory
    let options: QueueStoreOptions
    private let schema: QueueSchema
    private let outbox: QueueOutbox?
    let jobs: StoreJobs
    private let observe: (StorePoint, [StoreTransaction]) -> Void
    let deliver: @Sendable (QueueStore.Notice) -> Void
    var database: QueueDatabase?
    /// How far the requests of an earlier run are read; `nil` when all are.
    var restoring: StoreRestoring?
    /// The transactions that could not be written yet, in order.
    private var kept: [StoreTransaction] = []
    /// When to try again after the disk failed; `nil` while the disk works.
    private(set) var retryAt: BootTime?
    /// When the transaction for readers ends: until then they see the pending changes without another copy into the tables.
    private var readingUntil: BootTime?
    /// When SQLite's log was last moved into the file, and its length then.
    private var checkpoint = (at: BootTime(nanoseconds: 0), pages: 0)
    /// Written transactions that have perhaps not reached the disk.
    private var unsafe: [StoreReceipt] = []
    /// Requests that are to be sent again, and whose old answers are removed once the disk has that: their leases wait for it, so
    /// that the next answer is not removed in its place.
    private var revived: Set<RequestID> = []
    private var syncer: StoreSyncer?

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
                    ? .zero : [retryAt, readingUntil].compactMap(\.self).min().map { $0 - SystemClock.boot })
            write(share.changes)
            if let reading = share.reading { read(reading.turn, for: reading.user) }
            if let readingUntil, readingUntil <= SystemClock.boot { endReading() }
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

    /// Ends the transaction for readers, so that other programs may write to the file again.
    private func endReading() {
        readingUntil = nil
        database?.endReading()
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

    // MARK: Opening

    private func open() throws {
        let now = SystemClock.now
        var contents: StoreContents
        var trouble: SQLiteError?
        do {
            (contents, trouble) = try openDatabase(at: now)
        } catch SQLiteError.corrupt {
            // Only once: a new file is not damaged.
            database = nil
            let aside = try directory.setAside(at: now.wall.nanosecondsSince1970 / 1_000_000_000)
            (contents, trouble) = try openDatabase(at: now)
            contents.setAside = aside
        } catch let error as SQLiteError {
            throw QueueStoreError.database(error)
        }
        deliver(.opened(contents))
        if let database { report(database) }
        if let trouble {
            _ = directory.fillReserve(options.reserveBytes / 2)
            database?.hasUsedReserve = false
            return degrade(trouble.description)
        }
        if let database { keepReserve(database) }
    }

    /// - Returns: What the file holds, and if the disk has no room the error: the file is in use even then.
    private func openDatabase(at now: Instant) throws -> (StoreContents, SQLiteError?) {
        let database = try openWithReserve(at: now)
        var trouble: SQLiteError?
        do throws(SQLiteError) {
            try database.flush()
        } catch {
            guard case .storage = error else { throw error }
            trouble = error
        }
        let isLong = try !database.isChecked || database.rowCount() > options.portion
        let aside = try database.begin(at: now, looksAtRequests: !isLong)
        var contents = try isLong ? database.contentsBeforeRequests(at: now) : database.contents(at: now)
        // Numbers continue beyond those of any earlier file, so that no number is given twice.
        if contents.nextID == 1, directory.hasFileSetAside {
            contents.nextID = now.wall.nanosecondsSince1970 / 1_000_000_000
        }
        contents.rowsSetAside = aside
        try database.adoptPending(of: contents.requests)
        // A spool file is deleted only if nothing on the disk names it any more.
        let isSafe = database.makeSafe()
        let spool = try directory.sweepSpool(
            keeping: database.answerNames, isOpen: database.isOpen, removes: isSafe)
        (contents.begunAnswers, contents.begunUploads) = (spool.answers, spool.uploads)
        if isLong {
            restoring = StoreRestoring(at: now, bodies: spool.bodies, awaitsCheck: !database.isChecked)
        } else if isSafe {
            try removeBodies(spool.bodies, database)
        }
        try database.repeatOutbox()
        database.endReading()
        self.database = database
        if restoring?.awaitsCheck == true { startCheck() }
        try follow()
        // If this fails for lack of room, the first request fails for the same reason.
        if !database.hasUsedReserve, trouble == nil { _ = directory.fillReserve(options.reserveBytes) }
        return (contents, trouble)
    }

    private func openWithReserve(at now: Instant) throws -> QueueDatabase {
        func opened() throws -> QueueDatabase {
            try QueueDatabase(directory, options, schema, outbox: outbox, at: now, bootIdentity: BootIdentity.current)
        }
        do {
            return try opened()
        } catch SQLiteError.storage {
            directory.giveUpReserve()
            let database = try opened()
            database.hasUsedReserve = true
            return database
        }
    }

    private func follow() throws(SystemError) {
        try syncer?.follow(tables: directory.databasePath + "-wal", changes: directory.changeLogPath)
    }

    // MARK: Writing

    private func write(_ changes: [StoreJobs.Change]) {
        var batch: [StoreTransaction] = []
        for change in changes {
            switch change {
            case .write(let transaction):
                batch.append(transaction)
                if batch.count >= options.batch { write(&batch) }
            case .notSynced(let receipts, let error):
                database?.isDoubtful = true
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
            }
        }
        write(&batch)
    }

    private func read(_ reading: StoreJobs.Reading, for user: UInt32) {
        let start = SystemClock.boot
        reading(database)
        let end = SystemClock.boot
        jobs.charge(end - start, to: user)
        // A long list is read in many portions.
        if database?.isReading == true { readingUntil = end + .seconds(1) }
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

    /// Refuses the transactions that may be refused. Writes the others into the reserved space, so that a client can cancel on
    /// a full disk. Those that do not fit there either are kept in memory, and their clients are refused a confirmation.
    private func writeNecessary(_ batch: [StoreTransaction], _ reason: String) {
        for transaction in batch where transaction.mayBeRefused {
            deliver(.notCommitted(transaction.number, reason))
        }
        let needed = batch.filter { !$0.mayBeRefused }
        if needed.isEmpty { return }
        if kept.isEmpty, database?.isDoubtful != true {
            directory.giveUpReserve()
            do throws(SQLiteError) {
                return try commit(needed)
            } catch {
                degrade(error.description)
            }
        }
        kept += needed
        for transaction in needed { deliver(.postponed(transaction.number)) }
    }

    func degrade(_ reason: String) {
        if retryAt == nil { deliver(.degraded(reason)) }
        retryAt = SystemClock.boot + options.retryInterval
    }

    /// Handles transactions that waited for the disk when it failed. Refuses those that may be refused, and keeps a transaction that
    /// removes their requests again; the others are reported once the file is whole again.
    private func doubt(_ receipts: [StoreReceipt]) {
        for receipt in receipts {
            guard receipt.transaction.mayBeRefused else {
                unsafe.append(receipt)
                deliver(.postponed(receipt.transaction.number))
                continue
            }
            let number = receipt.transaction.number
            deliver(.notCommitted(number, "it may not have reached the disk"))
            let inserted = receipt.transaction.changes.compactMap {
                if case .insert(let stored, _) = $0 { stored.id } else { nil }
            }
            guard !inserted.isEmpty else { continue }
            kept.append(
                StoreTransaction(number: number, changes: [.purge(inserted)], mayBeRefused: false))
        }
    }

    private func commit(_ batch: [StoreTransaction]) throws(SQLiteError) {
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
            default: break
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
        for name in database.removable { directory.removeSpoolFile(name) }
        database.removable = []
        if !database.leftOut.isEmpty {
            let (count, first) = (database.leftOut.count, database.leftOut[0])
            database.losses.append(
                "\(count) changes do not fit into the queue's file and are lost, the first one: \(first)")
            database.leftOut = []
        }
        for loss in database.losses { deliver(.lost(loss)) }
        database.losses = []
    }

    private func keepReserve(_ database: QueueDatabase) {
        guard database.hasUsedReserve else { return }
        database.hasUsedReserve = false
        // What fits of the reserve is taken again, before other programs take the room. New requests wait until all of it fits.
        if !directory.fillReserve(options.reserveBytes) { _ = directory.fillReserve(options.reserveBytes / 2) }
        degrade("the disk is full")
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

    /// Reports a transaction that the tables reject; the others continue. If it may not be refused, the file keeps the request's old
    /// row until the request is written the next time.
    private func giveUp(_ receipt: StoreReceipt, _ reason: String) {
        let transaction = receipt.transaction
        if retryAt == nil { deliver(.degraded(reason)) }
        if transaction.mayBeRefused {
            deliver(.notCommitted(transaction.number, reason))
        } else {
            deliver(.postponed(transaction.number))
            deliver(receipt.notice)
        }
        if retryAt == nil { deliver(.degraded(nil)) }
    }

    /// Ends a transaction that is safe: removes its files, and delivers its notice.
    private static func settle(
        _ receipt: StoreReceipt, _ directory: QueueDirectory, _ deliver: (QueueStore.Notice) -> Void
    ) {
        for name in receipt.doomed { directory.removeSpoolFile(name) }
        deliver(receipt.notice)
    }

    /// Opens the file again, then writes the kept transactions. The file may be another one now, and SQLite's own memory cannot be trusted
    /// after a failed write. Until the new connection has written the changes in memory, the old one stays in use.
    private func retry() {
        guard let old = database else { return }
        do {
            endReading()
            let fresh = try QueueDatabase(
                directory, options, schema, outbox: outbox, at: SystemClock.now, bootIdentity: BootIdentity.current,
                replacing: old)
            try fresh.flushAgain()
            // From here on the old connection lacks what the new one has written.
            database = fresh
            let wasDoubtful = fresh.isDoubtful
            try settleDoubt(fresh)
            while !kept.isEmpty {
                let batch = Array(kept.prefix(options.batch))
                try commit(batch)
                kept.removeFirst(batch.count)
            }
            if !wasDoubtful { try fresh.checkpoint() }
            // New requests wait until there is room for ends and changes again.
            guard directory.fillReserve(options.reserveBytes) else {
                // What fits is taken before other programs take the room.
                _ = directory.fillReserve(options.reserveBytes / 2)
                retryAt = SystemClock.boot + options.retryInterval
                return
            }
            fresh.hasUsedReserve = false
            retryAt = nil
            deliver(.degraded(nil))
        } catch {
            // What fits of the reserve is taken before other programs take the room: changes until the next try may need it.
            _ = directory.fillReserve(options.reserveBytes / 2)
            retryAt = SystemClock.boot + options.retryInterval
        }
    }

    /// Makes sure that the file can be written, then ends the transactions that wait for the disk.
    private func settleDoubt(_ database: QueueDatabase) throws {
        report(database)
        if database.isDoubtful { try database.endDoubt() }
        _ = try database.begin(at: SystemClock.now)
        try database.probe()
        try follow()
        checkpoint.pages = 0
        for receipt in unsafe { Self.settle(receipt, directory, deliver) }
        unsafe = []
    }
}
