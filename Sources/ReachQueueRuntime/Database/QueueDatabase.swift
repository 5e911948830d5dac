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
    /// `nil` where no outbox is wanted.
    private(set) var outbox: OutboxTable?
    /// The number of this start of the machine in the table of starts.
    let boot: Int64
    var finished = 0
    /// Of requests that are over and not dead.
    var kept = KeptAccounts()
    /// Spool files that nothing names any more, once the open transaction is safe.
    var doomed: [String] = []
    /// When the last request ended.
    var lastEnd: Timestamp
    private var attempts = 0
    /// What the leases say that were written since the file was opened: their rows need not be read when they end.
    var leases: [RequestID: (attempt: Int, interface: String, start: Timestamp)] = [:]
    /// The texts of the request that was read last, and what they mean: mostly the next one's are the same.
    var lastRead = (
        terms: "", condition: NetworkCondition.any, destination: Destination(stored: ""), accepted: "",
        statuses: [ClosedRange<Int>]()
    )

    /// Opens the file, checks it and brings it up to date.
    init(
        _ directory: QueueDirectory, _ options: QueueStoreOptions, _ schema: QueueSchema, outbox: QueueOutbox? = nil,
        at now: Instant, bootIdentity: String
    ) throws {
        self.directory = directory
        self.options = options
        lastEnd = now.wall
        // The file is made with this mask, before SQLite writes into it.
        let file = open(directory.databasePath, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if file >= 0 { close(file) }
        database = try SQLiteDatabase.open(directory.databasePath)
        // A newer file is not touched, and this pragma would write into any.
        if try schema.version(of: database) == 0 { try database.execute("PRAGMA auto_vacuum = INCREMENTAL") }
        try database.execute(
            """
            PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = FAST;
            PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = 8388608; PRAGMA temp_store = MEMORY;
            """)
        database.watchLog()
        guard try database.text("PRAGMA quick_check(1)") == "ok" else {
            throw SQLiteError.corrupt("quick_check failed")
        }
        try schema.prepare(database)
        statements = try QueueStatements(checking: database)
        if let outbox {
            self.outbox = try OutboxTable(outbox, in: database)
        } else {
            try database.execute(OutboxTable.removal)
        }
        try database.prepare("INSERT OR IGNORE INTO boot (identity) VALUES (?)").run(.text(bootIdentity))
        boot =
            try database.prepare("SELECT number FROM boot WHERE identity = ?")
            .first(.text(bootIdentity)) { $0.integer(0) } ?? 0
    }

    /// Sets aside what means nothing, and counts what is kept. Before anything else is read or written.
    ///
    /// - Returns: What was set aside.
    func begin(at now: Instant) throws -> RowsSetAside {
        let rows = try setAsideImplausibleRows(at: now.wall)
        kept = try readKept()
        return rows
    }

    // MARK: Writing

    /// Writes transactions as one. A kill loses nothing of it, a loss of power what was not synced. A transaction that
    /// the tables reject is left out, and its receipt says so.
    ///
    /// - Parameter point: Called before and after the commit.
    /// - Returns: A receipt for each, with what is to be sent for the leases in it.
    @discardableResult
    func write(_ transactions: [StoreTransaction], at point: (StorePoint, [StoreTransaction]) -> Void)
        throws(SQLiteError) -> [StoreReceipt]
    {
        do throws(SQLiteError) {
            return try write(transactions, { (transaction) throws(SQLiteError) in try apply(transaction) }, at: point)
        } catch {
            guard case .rejected = error else { throw error }
            // To be able to go back to before each takes two more statements, which nobody else pays for.
            return try write(transactions, { (transaction) throws(SQLiteError) in try attempt(transaction) }, at: point)
        }
    }

    private func write(
        _ transactions: [StoreTransaction], _ apply: (StoreTransaction) throws(SQLiteError) -> StoreReceipt,
        at point: (StorePoint, [StoreTransaction]) -> Void
    ) throws(SQLiteError) -> [StoreReceipt] {
        var receipts: [StoreReceipt] = []
        receipts.reserveCapacity(transactions.count)
        try statements.begin.run()
        do throws(SQLiteError) {
            for transaction in transactions { receipts.append(try apply(transaction)) }
            try prune()
            point(.beforeCommit, transactions)
            try statements.commit.run()
        } catch {
            rollBack()
            throw error
        }
        if !receipts.isEmpty { receipts[receipts.count - 1].doomed += claimDoomed() }
        point(.afterCommit, transactions)
        outbox?.deliver()
        return receipts
    }

    private func apply(_ transaction: StoreTransaction) throws(SQLiteError) -> StoreReceipt {
        for change in transaction.changes { try write(change) }
        try outbox?.write(transaction.events)
        return StoreReceipt(transaction: transaction, leased: leased(by: transaction), doomed: claimDoomed())
    }

    /// Writes it, or nothing of it.
    private func attempt(_ transaction: StoreTransaction) throws(SQLiteError) -> StoreReceipt {
        try database.execute("SAVEPOINT one")
        let rows = outbox?.rows.count ?? 0
        do throws(SQLiteError) {
            let receipt = try apply(transaction)
            try database.execute("RELEASE one")
            return receipt
        } catch {
            guard case .rejected(let reason) = error else { throw error }
            try database.execute("ROLLBACK TO one; RELEASE one")
            outbox?.forget(downTo: rows)
            recount()
            return StoreReceipt(transaction: transaction, leased: [], doomed: [], rejection: reason)
        }
    }

    /// What was counted is what the file has.
    private func rollBack() {
        if database.isInTransaction { try? database.execute("ROLLBACK") }
        outbox?.forget()
        recount()
    }

    private func recount() {
        doomed = []
        leases = [:]
        if let counted = try? readKept() { kept = counted }
    }

    private func claimDoomed() -> [String] {
        defer { doomed = [] }
        return doomed
    }

    /// Read while the transaction is open: each read by itself would lock and unlock the file.
    private func leased(by transaction: StoreTransaction) -> [(RequestID, QueuedRequest)] {
        var leased: [(RequestID, QueuedRequest)] = []
        for case .lease(let id, _, _, _, _) in transaction.changes {
            if let request = try? specification(id) { leased.append((id, request)) }
        }
        return leased
    }

    private func write(_ change: StoreChange) throws(SQLiteError) {
        switch change {
        case .insert(let stored, let request):
            try insert(NewRow(stored: stored, request: request.specification, boot: boot))
        case .lease(let id, let attempt, let interface, _, let moment):
            leases[id] = (attempt, interface, moment.wall)
            try statements.lease.run(
                .integer(attempt), .text(interface), .integer(moment.wall.nanosecondsSince1970), .integer(id.rawValue))
        case .update(let progress):
            try endAttempt(progress.id, "interrupted")
            try update(ChangedRow(progress: progress, boot: boot))
        case .holdRequest(let id, let isHeld): try statements.hold.run(.flag(isHeld), .integer(id.rawValue))
        case .finish(let progress, let end, let result, let moment): try finish(progress, end, result, at: moment)
        case .revive(let progress, let deadline):
            try update(ChangedRow(progress: progress, boot: boot))
            // What it died of is over; the next answer gets the same file.
            doomed += try names(statements.answerName, .integer(progress.id.rawValue))
            try statements.deleteResult.run(.integer(progress.id.rawValue))
            try statements.setDeadline.run(
                .integer(deadline.wall.nanosecondsSince1970), .integer(deadline.boot.nanoseconds), .integer(boot),
                .integer(progress.id.rawValue))
        case .holdQueue(let owner, let isHeld):
            try (isHeld ? statements.holdQueue : statements.releaseQueue).run(.integer(owner ?? 0))
        case .purge(let ids): for id in ids { try purge(id.rawValue) }
        case .markRead(let id): try statements.markRead.run(.integer(id.rawValue))
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

    private func insert(_ row: NewRow) throws(SQLiteError) {
        try statements.insert.run(NewRow.writer.values(row))
        if case .inline(let bytes) = row.request.body {
            try statements.insertBody.run([.integer(row.stored.id.rawValue), .blob(bytes)])
        }
    }

    private func update(_ row: ChangedRow) throws(SQLiteError) {
        try statements.update.run(ChangedRow.writer.values(row) + [.integer(row.progress.id.rawValue)])
    }

    private func finish(
        _ progress: RequestProgress, _ end: RequestEnd, _ result: RequestResult?, at moment: Instant
    ) throws(SQLiteError) {
        let state = RowState(end)
        try endAttempt(progress.id, end.reason ?? "done")
        try update(ChangedRow(progress: progress, state: state, reason: end.reason, over: moment, boot: boot))
        let id = SQLiteValue.integer(progress.id.rawValue)
        // Only what is dead can be sent again.
        if state != .dead {
            try statements.deleteBody.run(id)
            let name = try names(statements.bodyName, id)
            doomed += name
            if !name.isEmpty { try statements.forgetBody.run(id) }
        }
        if let result { try insert(result, of: progress.id.rawValue) }
        let (owner, bytes) = try statements.setKept.first(id) { ($0.integer(0), $0.integer(1)) } ?? (0, 0)
        if state != .dead { kept.add(bytes, of: UInt32(clamping: owner)) }
        finished += 1
        lastEnd = moment.wall
    }

    /// Does nothing where there was none.
    private func endAttempt(_ id: RequestID, _ outcome: String) throws(SQLiteError) {
        if let (attempt, interface, start) = leases.removeValue(forKey: id) {
            try statements.addKnownAttempt.run(
                .integer(id.rawValue), .integer(attempt), .text(interface), .integer(start.nanosecondsSince1970),
                .text(outcome))
        } else {
            try statements.addAttempt.run(.text(outcome), .integer(id.rawValue))
        }
        attempts += 1
        guard attempts >= 256 else { return }
        attempts = 0
        try statements.trimAttempts.run(.integer(options.attemptCount))
    }

    private func insert(_ result: RequestResult, of id: Int64) throws(SQLiteError) {
        let body = RequestColumns.columns(of: result.body)
        var bytes: SQLiteValue = .null
        if case .inline(let inline) = result.body { bytes = .blob(inline) }
        try statements.insertResult.run(
            .integer(id), .integer(result.status), .text(RequestColumns.text(of: result.headers)), .integer(body.kind),
            .optional(body.path), .integer(body.bytes), bytes)
    }

    /// Writes something of no consequence, to see whether that can be done.
    func probe() throws(SQLiteError) {
        let version = try database.number("PRAGMA user_version") ?? 0
        try database.execute("BEGIN IMMEDIATE; PRAGMA user_version = \(version); COMMIT")
    }

    /// How long the log was after the last commit.
    var pagesInLog: Int { database.pagesInLog }

    func checkpoint(truncate: Bool = false) throws(SQLiteError) {
        try database.checkpoint(truncate: truncate)
        // An eighth at a time, so that a file that was large for a while shrinks within some checkpoints, and no turn of the
        // disk's thread lasts long: 8,192 pages are 32 MiB.
        let free = try database.number("PRAGMA freelist_count") ?? 0
        if free > 1000 { try database.execute("PRAGMA incremental_vacuum(\(max(500, min(free / 8, 8192))))") }
    }
}
