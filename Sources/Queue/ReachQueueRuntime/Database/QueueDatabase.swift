internal import CSQLite
internal import Glibc
internal import ReachCore
internal import ReachLoop
internal import ReachQueue

/// The queue's file, open. Confined to the store's thread.
final class QueueDatabase {
    let directory: QueueDirectory
    let options: QueueStoreOptions
    let database: SQLiteDatabase
    let statements: QueueStatements
    /// False where the file is so long that it is checked while it is in use.
    let isChecked: Bool
    /// `nil` where no outbox is wanted.
    var outbox: OutboxTable?
    /// The number of this start of the machine in the table of starts.
    let boot: Int64
    var finished = 0
    /// Of requests that are over and not dead.
    var kept = KeptAccounts()
    /// Spool files that nothing names any more, once the open transaction is safe.
    var doomed: [String] = []
    /// The same of transactions that are committed and perhaps not on the disk; and of those that are.
    var doomedWhenSafe: [String] = []
    var removable: [String] = []
    /// When the last request ended.
    var lastEnd: Timestamp
    /// What is in the change log, and not in the tables yet.
    var pending = PendingChanges()
    var changeLog: ChangeLogFile
    /// Whether the reserve was given up, so that what is in the change log fits into the tables.
    var hasUsedReserve = false
    /// Whether all that was committed to the tables has reached the disk.
    var areTablesSafe = false
    /// Whether the disk may have lost what was written: then nothing is written any more. The kernel reports that once, and takes
    /// the lost pages for good ones from then on, so that only writing all of it again helps (``endDoubt()``).
    var isDoubtful = false
    /// Changes that the tables do not take, with the reasons.
    var leftOut: [String] = []
    /// What else was acknowledged and is lost: sentences.
    var losses: [String] = []
    /// What was counted when readers began; `nil` while none reads what is pending.
    var countersBefore: Counters?
    /// The largest number of a request.
    var lastID: Int64 = 0
    /// What has to be known of leased requests when they end.
    var leases: [RequestID: RequestFacts] = [:]
    /// SQLite's log, to wait for the disk.
    let log: CInt
    /// The texts of the request that was read last, and what they mean: mostly the next one's are the same.
    var lastRead = (
        terms: "", condition: NetworkCondition.any, destination: Destination(stored: ""), accepted: "",
        statuses: [ClosedRange<Int>](), plain: (condition: String, request: RequestSpecification)?.none
    )

    /// Opens the file, checks it unless it is long, and brings it up to date.
    ///
    /// What the change log has is pending then, and not in the tables.
    ///
    /// - Parameter old: The same file, open: what it has in memory is taken over. It is not to be used any more once
    ///   something was written here.
    /// - Throws: ``QueueStoreError``, ``SQLiteError``.
    init(
        _ directory: QueueDirectory, _ options: QueueStoreOptions, _ schema: QueueSchema, outbox: QueueOutbox? = nil,
        at now: Instant, bootIdentity: String, replacing old: QueueDatabase? = nil
    ) throws {
        self.directory = directory
        self.options = options
        lastEnd = now.wall
        // The file is made with this mask, before SQLite writes into it. One that is open is left alone: to close another
        // descriptor of it would take the locks away that SQLite holds.
        let file = open(directory.databasePath, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if file >= 0 { close(file) }
        database = try SQLiteDatabase.open(directory.databasePath)
        // A newer file is not touched, and this pragma would write into any.
        if try schema.version(of: database) == 0 { try database.execute("PRAGMA auto_vacuum = INCREMENTAL") }
        try database.execute(
            """
            PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = FAST;
            PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = 8388608; PRAGMA temp_store = MEMORY;
            """)
        database.watchLog()
        isChecked = old != nil || directory.databaseBytes <= options.checkedAtOnce
        if isChecked { try database.check() }
        try schema.prepare(database)
        statements = try QueueStatements(checking: database)
        if let outbox {
            self.outbox = try OutboxTable(outbox, in: database)
        } else {
            try database.execute(OutboxTable.removal)
        }
        boot = try Self.number(of: bootIdentity, in: database)
        guard try database.number("SELECT count(*) FROM change_log") == 1 else {
            throw SQLiteError.corrupt("the table change_log has not one row")
        }
        let generation = try database.number("SELECT generation FROM change_log") ?? 0
        changeLog = try ChangeLogFile(directory.changeLogPath, generation: generation)
        log = Glibc.open(directory.databasePath + "-wal", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard log >= 0 else { throw SQLiteError.storage("open \(directory.databasePath)-wal: \(errno)") }
        lastID = try lastNumber()
        let isKnown = old.map { [$0.changeLog.generation, $0.changeLog.next].contains(generation) } ?? false
        if !isKnown { try readChangeLog(at: now.wall) }
        if let old { takeOver(old) }
    }

    /// The number of a start of the machine. Where the disk has no room for it, the one that it gets later.
    private static func number(of identity: String, in database: borrowing SQLiteDatabase) throws(SQLiteError) -> Int64
    {
        let known = try database.prepare("SELECT number FROM boot WHERE identity = ?")
        if let number = try known.first(.text(identity), read: { $0.integer(0) }) { return number }
        let next = try database.number("SELECT coalesce(max(number), 0) + 1 FROM boot") ?? 1
        do throws(SQLiteError) {
            try database.prepare("INSERT INTO boot (number, identity) VALUES (?, ?)").run(
                .integer(next), .text(identity))
        } catch {
            guard case .storage = error else { throw error }
        }
        return next
    }

    // SQLite holds no locks on this file, so that closing a descriptor of it takes none away.
    deinit { close(log) }

    /// Sets aside what means nothing, and counts what is kept. Before anything else is read or written.
    ///
    /// - Parameter looksAtRequests: False where ``portion(from:limit:at:_:)`` sets aside rows of requests.
    /// - Returns: What was set aside.
    func begin(at now: Instant, looksAtRequests: Bool = true) throws -> RowsSetAside {
        endReading()
        let rows = try setAsideImplausibleRows(at: now.wall, looksAtRequests: looksAtRequests)
        kept = try readKept()
        lastID = try lastNumber()
        finished = 0
        return rows
    }

    /// The largest number that was given.
    func lastNumber() throws(SQLiteError) -> Int64 {
        let given = try database.number("SELECT seq FROM sqlite_sequence WHERE name = 'request'") ?? 0
        return max(given, try lastRow(), pending.lastInserted)
    }

    /// The largest number of a row that means something.
    func lastRow() throws(SQLiteError) -> Int64 {
        try database.number("SELECT max(id) FROM request WHERE id <= \(RowRules.numbers.upperBound)") ?? 0
    }

    // MARK: Writing

    /// Writes transactions as one: into the change log, or where that cannot take them into the tables. A kill loses nothing of
    /// it, a loss of power what was not synced. A transaction that the tables reject is left out, and its receipt says so.
    ///
    /// - Parameter point: Called before and after the commit.
    /// - Returns: A receipt for each, with what is to be sent for the leases in it.
    @discardableResult
    func write(_ transactions: [StoreTransaction], at point: (StorePoint, [StoreTransaction]) -> Void)
        throws(SQLiteError) -> [StoreReceipt]
    {
        endReading()
        if isDoubtful { throw Self.doubt }
        if let receipts = log(transactions, at: point) { return receipts }
        if isDoubtful { throw Self.doubt }
        do throws(SQLiteError) {
            return try write(transactions, { (transaction) throws(SQLiteError) in try apply(transaction) }, at: point)
        } catch {
            guard case .rejected = error else { throw error }
            // To be able to go back to before each takes two more statements, which no one else pays for.
            return try write(transactions, { (transaction) throws(SQLiteError) in try attempt(transaction) }, at: point)
        }
    }

    private func write(
        _ transactions: [StoreTransaction], _ apply: (StoreTransaction) throws(SQLiteError) -> StoreReceipt,
        at point: (StorePoint, [StoreTransaction]) -> Void
    ) throws(SQLiteError) -> [StoreReceipt] {
        var receipts: [StoreReceipt] = []
        receipts.reserveCapacity(transactions.count)
        var doomedBefore: [String] = []
        try requireRoom()
        try statements.begin.run()
        do throws(SQLiteError) {
            try applyPending()
            doomedBefore = claimDoomed()
            for transaction in transactions { receipts.append(try apply(transaction)) }
            try prune()
            point(.beforeCommit, transactions)
            try statements.commit.run()
        } catch {
            rollBack()
            throw error
        }
        didCommit()
        doomedWhenSafe += doomedBefore
        if !receipts.isEmpty { receipts[receipts.count - 1].doomed += claimDoomed() }
        point(.afterCommit, transactions)
        outbox?.deliver()
        return receipts
    }

    private func apply(_ transaction: StoreTransaction) throws(SQLiteError) -> StoreReceipt {
        for change in transaction.changes { try write(change) }
        try outbox?.write(transaction.events)
        return StoreReceipt(transaction: transaction, leased: try leased(by: transaction), doomed: claimDoomed())
    }

    /// Writes it, or nothing of it.
    private func attempt(_ transaction: StoreTransaction) throws(SQLiteError) -> StoreReceipt {
        try database.execute("SAVEPOINT one")
        let rows = outbox?.rows.count ?? 0
        let before = counters
        do throws(SQLiteError) {
            let receipt = try apply(transaction)
            try database.execute("RELEASE one")
            return receipt
        } catch {
            guard case .rejected(let reason) = error else { throw error }
            try database.execute("ROLLBACK TO one; RELEASE one")
            outbox?.forget(downTo: rows)
            counters = before
            return StoreReceipt(transaction: transaction, leased: [], doomed: [], rejection: reason)
        }
    }

    /// What was counted is what the file has.
    func rollBack() {
        if database.isInTransaction { try? database.execute("ROLLBACK") }
        outbox?.forget()
        doomed = []
        leftOut = []
        if let counted = try? readKept() { kept = counted }
    }

    /// Gives back the memory of pages that were read, up to 2 MiB.
    func releaseCache() { try? database.execute("PRAGMA shrink_memory") }

    func claimDoomed() -> [String] {
        defer { doomed = [] }
        return doomed
    }

    /// Read while the transaction is open: each read by itself would lock and unlock the file. A request whose row is damaged is left
    /// out.
    private func leased(by transaction: StoreTransaction) throws(SQLiteError) -> [(RequestID, QueuedRequest)] {
        var leased: [(RequestID, QueuedRequest)] = []
        for case .lease(let id, _, _, _, _) in transaction.changes {
            let request: QueuedRequest?
            do throws(SQLiteError) {
                request = try specification(id)
            } catch {
                guard case .corrupt = error else { throw error }
                continue
            }
            guard let request else { continue }
            leases[id] = RequestFacts(request)
            leased.append((id, request))
        }
        return leased
    }

    private func write(_ change: StoreChange) throws(SQLiteError) {
        var changes: [LoggedChange] = []
        if LoggedChange.append(change, boot: boot, to: &changes) {
            for change in changes { try write(change) }
            return
        }
        switch change {
        case .insert, .lease, .update, .holdRequest, .finish, .purge, .markRead: break
        case .revive(let progress, let deadline):
            try statements.update.run(
                ChangedRow.writer.values(ChangedRow(progress: progress, boot: boot))
                    + [.integer(progress.id.rawValue)])
            // What it died of is over; the next answer gets the same file.
            doomed += try names(statements.answerName, .integer(progress.id.rawValue))
            try statements.deleteResult.run(.integer(progress.id.rawValue))
            try statements.setDeadline.run(
                .integer(deadline.wall.nanosecondsSince1970), .integer(deadline.boot.nanoseconds), .integer(boot),
                .integer(progress.id.rawValue))
        case .holdQueue(let owner, let isHeld):
            try (isHeld ? statements.holdQueue : statements.releaseQueue).run(.integer(owner ?? 0))
        case .openBreaker(let breaker):
            try statements.openBreaker.run(
                .text(breaker.destination.description),
                .text(RequestColumns.breakerPlace(breaker.interface, of: breaker.owner)),
                .integer(breaker.openUntil.wall.nanosecondsSince1970), .integer(breaker.openUntil.boot.nanoseconds),
                .integer(boot), .integer(breaker.step))
        case .closeBreaker(let destination, let interface, let owner):
            try statements.closeBreaker.run(
                .text(destination.description), .text(RequestColumns.breakerPlace(interface, of: owner)))
        }
    }

    /// Writes a change into the tables.
    func write(_ change: LoggedChange) throws(SQLiteError) {
        let id = SQLiteValue.integer(change.id)
        switch change.kind {
        case .insert:
            if change.row.count == NewRow.writer.count {
                try statements.insert.run(change.row)
            } else {
                try database.prepare(NewRow.writer.insertion(change.row.count)).run(change.row)
            }
            if let body = change.more.first { try statements.insertBody.run(id, body) }
            lastID = max(lastID, change.id)
        case .lease: try statements.lease.run(change.row + [id])
        case .update: try statements.update.run(ChangedRow.writer.filled(change.row) + [id])
        case .hold: try statements.hold.run(change.row + [id])
        case .finish: try finish(change)
        case .purge: try purge([change.id])
        case .markRead: try statements.markRead.run(id)
        case .event: if let event = change.more.first { try outbox?.write(change.id, event) }
        case .trimEvents: try outbox?.trim(upTo: change.id)
        }
    }

    private func finish(_ change: LoggedChange) throws(SQLiteError) {
        let id = SQLiteValue.integer(change.id)
        let facts = try statements.facts.first(id) { row in
            (owner: row.integer(0), texts: row.integer(1), body: row.integer(2), name: row.text(3))
        }
        // A row that was set aside has no end.
        guard let facts, let state = change.endState else { return }
        let bytes = (state == .dead ? 0 : facts.texts + RequestFacts.rowBytes) + change.answerBytes
        try statements.finish.run(ChangedRow.writer.filled(change.row) + [.integer(bytes), id])
        // Only what is dead can be sent again.
        if state != .dead {
            if facts.body == 1 { try statements.deleteBody.run(id) }
            if facts.body == 3, let name = facts.name {
                doomed.append(name)
                try statements.forgetBody.run(id)
            }
        }
        if !change.more.isEmpty { try statements.insertResult.run([id] + change.more) }
        if state != .dead { kept.add(bytes, of: UInt32(clamping: facts.owner)) }
        finished += 1
        lastEnd = change.endTime ?? lastEnd
    }

    /// Writes something of no consequence, to see whether that can be done.
    func probe() throws(SQLiteError) {
        endReading()
        let version = try database.number("PRAGMA user_version") ?? 0
        try database.execute("BEGIN IMMEDIATE; PRAGMA user_version = \(version); COMMIT")
    }

    /// How long the log was after the last commit.
    var pagesInLog: Int { database.pagesInLog }

    /// - Returns: Whether all of SQLite's log is in the file: another program that reads may prevent it.
    @discardableResult
    func checkpoint(truncate: Bool = false) throws(SQLiteError) -> Bool {
        endReading()
        guard try database.checkpoint(truncate: truncate) else { return false }
        // An eighth at a time, so that a file that was large for a while shrinks within some checkpoints, and no turn of the
        // disk's thread lasts long: 8,192 pages are 32 MiB.
        let free = try database.number("PRAGMA freelist_count") ?? 0
        if free > 1000 { try database.execute("PRAGMA incremental_vacuum(\(max(500, min(free / 8, 8192))))") }
        return true
    }
}
