internal import Glibc
internal import ReachCore
internal import ReachLoop
internal import ReachQueue

/// The store's thread: opens the file, writes what comes, and keeps trying when the disk fails.
final class StoreWriter {
    private let directory: QueueDirectory
    private let options: QueueStoreOptions
    private let schema: QueueSchema
    private let outbox: QueueOutbox?
    private let jobs: StoreJobs
    private let observe: (StorePoint, [StoreTransaction]) -> Void
    private let deliver: @Sendable (QueueStore.Notice) -> Void
    private var database: QueueDatabase?
    /// What could not be written yet, in order.
    private var kept: [StoreTransaction] = []
    private var retryAt: BootTime?
    /// Until then whoever reads sees what is pending without it being brought into the tables once more.
    private var readingUntil: BootTime?
    /// When SQLite's log was moved into the file last, and how long it was.
    private var checkpoint = (at: BootTime(nanoseconds: 0), pages: 0)
    /// What is written but has perhaps not reached the disk.
    private var unsafe: [StoreReceipt] = []
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

    /// Ends with the jobs.
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
                within: [retryAt, readingUntil].compactMap(\.self).min().map { $0 - SystemClock.boot })
            write(share.changes)
            if let reading = share.reading { read(reading.turn, for: reading.user) }
            if let readingUntil, readingUntil <= SystemClock.boot { endReading() }
            if let retryAt, retryAt <= SystemClock.boot || share.isEnd { retry() }
            if share.isEnd { break }
        }
        jobs.endReading()
        syncer?.end()
        close()
        directory.release()
    }

    /// Leaves all in the tables, and no log.
    private func close() {
        defer { database = nil }
        guard let database, (try? flush(database)) != nil, (try? database.checkpoint(truncate: true)) == true else {
            return
        }
        database.changeLog.empty()
    }

    /// Other programs may write to the file again.
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
            // Once, and never again and again: what is new is not damaged.
            database = nil
            let aside = try directory.setAside(at: now.wall.nanosecondsSince1970 / 1_000_000_000)
            (contents, trouble) = try openDatabase(at: now)
            contents.setAside = aside
            // Numbers go on where no earlier file can have come to, so that none is given twice.
            contents.nextID = max(contents.nextID, now.wall.nanosecondsSince1970 / 1_000_000_000)
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

    /// - Returns: What the file holds, and why it cannot be written if the disk has no room: then it is in use all the same.
    private func openDatabase(at now: Instant) throws -> (StoreContents, SQLiteError?) {
        let database = try openWithReserve(at: now)
        var trouble: SQLiteError?
        do throws(SQLiteError) {
            try database.flush()
        } catch {
            guard case .storage = error else { throw error }
            trouble = error
        }
        let aside = try database.begin(at: now)
        var contents = try database.contents(at: now)
        contents.rowsSetAside = aside
        try database.adoptPending(of: contents)
        // A file goes only when nothing on the disk names it any more.
        let isSafe = database.makeSafe()
        (contents.begunAnswers, contents.begunUploads) = try directory.sweepSpool(
            keeping: database.spoolNames, isOpen: contents.isOpen, removes: isSafe)
        try database.repeatOutbox()
        database.endReading()
        self.database = database
        try follow()
        // Where there is no room for it now, there is none for requests either: the first one finds out.
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
            case .trimOutbox(let number):
                write(&batch)
                // What cannot be removed now goes with later rows.
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
        guard retryAt == nil else { return writeWhatMust(batch, "the disk failed before") }
        do throws(SQLiteError) {
            try commit(batch)
        } catch {
            degrade(error.description)
            writeWhatMust(batch, error.description)
        }
    }

    /// Refuses what may be refused. Everything else is written into the reserved space, so that a client can cancel on
    /// a full disk; what does not fit there either is kept here, and its clients get no answer yet.
    private func writeWhatMust(_ batch: [StoreTransaction], _ reason: String) {
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

    private func degrade(_ reason: String) {
        if retryAt == nil { deliver(.degraded(reason)) }
        retryAt = SystemClock.boot + options.retryInterval
    }

    /// The disk failed while these waited for it. Refuses what can be refused, and takes it back when that can be
    /// written; the rest is reported when the file is whole again.
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
        let receipts = written.filter { $0.rejection == nil }
        let waiting = receipts.filter(\.mustOutlastPower)
        // What is to be sent comes first: somebody waits for an answer meanwhile.
        for receipt in receipts where !receipt.mustOutlastPower { Self.settle(receipt, directory, deliver) }
        if !waiting.isEmpty { syncer?.put(waiting) }
        if database.isFlushDue, retryAt == nil {
            do throws(SQLiteError) {
                try flush(database)
            } catch {
                // All of it is in the change log, and is tried again with the file.
                degrade(error.description)
            }
        }
        checkpointIfDue(database, batch)
    }

    private func flush(_ database: QueueDatabase) throws(SQLiteError) {
        defer { report(database) }
        try database.flush()
    }

    /// What is to be done and said after something was brought into the tables.
    private func report(_ database: QueueDatabase) {
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
        // What is left of it is kept from others. Nothing new until there is room for the whole reserve again.
        if !directory.fillReserve(options.reserveBytes) { _ = directory.fillReserve(options.reserveBytes / 2) }
        degrade("the disk is full")
    }

    private func checkpointIfDue(_ database: QueueDatabase, _ batch: [StoreTransaction]) {
        keepReserve(database)
        let pages = database.pagesInLog
        // SQLite began it again.
        if pages < checkpoint.pages { checkpoint.pages = 0 }
        // On a full disk the file could not grow, and would take the room that ends and changes need.
        guard retryAt == nil, pages >= options.checkpointPages, pages != checkpoint.pages else { return }
        // Readers of other programs keep it from being begun again, however often that is tried.
        if checkpoint.pages > 0, SystemClock.boot < checkpoint.at + .seconds(1) { return }
        observe(.beforeCheckpoint, batch)
        do throws(SQLiteError) {
            try database.checkpoint(truncate: pages > options.longestLogPages)
        } catch {
            if case .storage = error { degrade(error.description) }
        }
        checkpoint = (SystemClock.boot, pages)
    }

    /// The tables will never take it. It is said, and the others go on; what cannot be refused stays as it was in the
    /// file until its request is written the next time.
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

    /// The transaction is safe: its files go, and those who wait for it hear of it.
    private static func settle(
        _ receipt: StoreReceipt, _ directory: QueueDirectory, _ deliver: (QueueStore.Notice) -> Void
    ) {
        for name in receipt.doomed { directory.removeSpoolFile(name) }
        deliver(receipt.notice)
    }

    /// Opens the file again, since it may be another one now, and SQLite's own memory cannot be trusted after a failed write; then
    /// writes what was kept. Until that is done, what was open stays in use: it has the changes in memory.
    private func retry() {
        guard let old = database else { return }
        do {
            endReading()
            let fresh = try QueueDatabase(
                directory, options, schema, outbox: outbox, at: SystemClock.now, bootIdentity: BootIdentity.current,
                replacing: old)
            try fresh.flushAgain()
            // From here on the old one is behind.
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
                // What there is of it is kept from others.
                _ = directory.fillReserve(options.reserveBytes / 2)
                retryAt = SystemClock.boot + options.retryInterval
                return
            }
            fresh.hasUsedReserve = false
            retryAt = nil
            deliver(.degraded(nil))
        } catch {
            // What there is of the reserve is kept from others, for what happens until the next time.
            _ = directory.fillReserve(options.reserveBytes / 2)
            retryAt = SystemClock.boot + options.retryInterval
        }
    }

    /// Sees that the file can be written, and ends what waits for the disk.
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
