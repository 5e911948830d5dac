internal import CSQLite
internal import Glibc
internal import ReachCore
internal import ReachLoop
internal import ReachQueue

/// The queue's file, open. Confined to the store's thread.
final class QueueDatabase {
    let directory: QueueDirectory
    var options: QueueStoreOptions
    let database: SQLiteDatabase
    let statements: QueueStatements
    /// False where the file is so long that it is checked while it is in use.
    let isChecked: Bool
    /// `nil` where no outbox is wanted.
    var outbox: OutboxTable?
    /// The number of this start of the machine in the table of starts.
    let boot: Int64
    /// What the tables have beyond what was committed.
    var fold: TableFold
    let safety: TableSafety
    /// What is in the change log, and not in the tables yet.
    var pending = PendingChanges()
    var changeLog: ChangeLogFile
    /// Whether the reserve was given up, so that what is in the change log fits into the tables.
    var hasUsedReserve = false
    /// What else was acknowledged and is lost: sentences.
    var losses: [String] = []
    /// The largest number of a request.
    var lastID: Int64 = 0
    /// What has to be known of leased requests when they end.
    var leases: [RequestID: RequestFacts] = [:]
    /// Whom requests carry that are not over.
    var joins: [RequestID: [RequestID]] = [:]
    /// The texts of the request that was read last, and what they mean: mostly the next one's are the same.
    var lastRead = (
        terms: "", condition: NetworkCondition.any, destination: Destination(stored: ""),
        plain: (condition: String, request: RequestSpecification)?.none
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
        fold = TableFold(at: now.wall)
        // The file is made with this mask, before SQLite writes into it. One that is open is left alone: to close
        // another descriptor of it would take the locks away that SQLite holds.
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
        safety = try TableSafety(of: directory.databasePath)
        lastID = try lastNumber()
        let isKnown = old.map { [$0.changeLog.generation, $0.changeLog.next].contains(generation) } ?? false
        if !isKnown { try readChangeLog(at: now.wall) }
        if let old { takeOver(old) }
    }

    /// The number of a start of the machine. Where the disk has no room for it, the one that it gets later.
    private static func number(of identity: String, in database: borrowing SQLiteDatabase) throws(SQLiteError) -> Int64
    {
        let lookup = try database.prepare("SELECT number FROM boot WHERE identity = ?")
        if let number = try lookup.first(.text(identity), read: { $0.integer(0) }) { return number }
        let next = try database.number("SELECT coalesce(max(number), 0) + 1 FROM boot") ?? 1
        do throws(SQLiteError) {
            try database.prepare("INSERT INTO boot (number, identity) VALUES (?, ?)").run(
                .integer(next), .text(identity))
        } catch {
            guard case .storage = error else { throw error }
        }
        return next
    }

    /// Sets aside what means nothing, and counts what is kept. Before anything else is read or written.
    ///
    /// - Parameter looksAtRequests: False where ``portion(from:limit:at:_:)`` sets aside rows of requests.
    /// - Returns: What was set aside.
    func begin(at now: Instant, looksAtRequests: Bool = true) throws -> RowsSetAside {
        unfold()
        let rows = try setAsideImplausibleRows(at: now.wall, looksAtRequests: looksAtRequests)
        fold.now.kept = try readKept()
        lastID = try lastNumber()
        fold.now.finished = 0
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

    /// Writes something of no consequence, to see whether that can be done.
    func probe() throws(SQLiteError) {
        unfold()
        let version = try database.number("PRAGMA user_version") ?? 0
        try database.execute("BEGIN IMMEDIATE; PRAGMA user_version = \(version); COMMIT")
    }

    /// Gives back the memory of pages that were read, up to 2 MiB.
    func releaseCache() { try? database.execute("PRAGMA shrink_memory") }

    /// How long the log was after the last commit.
    var pagesInLog: Int { database.pagesInLog }

    /// - Returns: Whether all of SQLite's log is in the file: another program that reads may prevent it.
    @discardableResult
    func checkpoint(truncate: Bool = false) throws(SQLiteError) -> Bool {
        unfold()
        guard try database.checkpoint(truncate: truncate) else { return false }
        // An eighth at a time, so that a file that was large for a while shrinks within some checkpoints, and no turn
        // of the disk's thread lasts long: 8,192 pages are 32 MiB.
        let free = try database.number("PRAGMA freelist_count") ?? 0
        if free > 1000 { try database.execute("PRAGMA incremental_vacuum(\(max(500, min(free / 8, 8192))))") }
        return true
    }
}
