internal import CSQLite
internal import ReachCore

/// An open database, closed when the value goes away. For one thread at a time: whoever holds it.
struct SQLiteDatabase: ~Copyable {
    private let handle: OpaquePointer
    /// Where SQLite puts the length of its log after each commit.
    private let logLength: UnsafeMutablePointer<CInt>

    private init(owning handle: OpaquePointer) {
        self.handle = handle
        logLength = .allocate(capacity: 1)
        logLength.initialize(to: 0)
    }

    deinit {
        sqlite3_close_v2(handle)
        logLength.deallocate()
    }

    /// Makes ``pagesInLog`` follow the log. After the pragma that switches off SQLite's own checkpoints, which takes
    /// the same hook.
    func watchLog() { sqlite3_wal_hook(handle, noteLogLength, logLength) }

    /// How many pages the log had after the last commit.
    var pagesInLog: Int { Int(logLength.pointee) }

    /// For how many milliseconds a writer waits for another program's.
    private static let patience: CInt = 5000

    /// How many rows the last statement changed.
    var changedRows: Int { Int(sqlite3_changes(handle)) }

    /// Once for the process.
    private static let isConfigured = reach_sqlite_count_no_memory() == SQLITE_OK

    /// Opens the file.
    ///
    /// - Parameter forReading: Nothing is written then; otherwise a file is made if there is none.
    static func open(_ path: String, forReading: Bool = false) throws(SQLiteError) -> SQLiteDatabase {
        _ = isConfigured
        var handle: OpaquePointer?
        let access = forReading ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        let flags = access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW
        let code = sqlite3_open_v2(path, &handle, flags, nil)
        guard let handle else { throw SQLiteError(code: SQLITE_NOMEM, "open", message: "out of memory") }
        let database = SQLiteDatabase(owning: handle)
        sqlite3_extended_result_codes(handle, 1)
        sqlite3_busy_timeout(handle, patience)
        if code != SQLITE_OK { throw database.error(code, "open \(path)") }
        return database
    }

    /// Reads every page, to see whether the file is whole.
    ///
    /// - Throws: ``SQLiteError/corrupt(_:)`` if it is not.
    func check() throws(SQLiteError) {
        guard try text("PRAGMA quick_check(1)") == "ok" else { throw .corrupt("quick_check failed") }
    }

    /// Runs one or more statements that give nothing back.
    func execute(_ sql: String) throws(SQLiteError) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        if code != SQLITE_OK { throw error(code, Self.summary(sql)) }
    }

    func prepare(_ sql: String) throws(SQLiteError) -> SQLiteStatement {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard code == SQLITE_OK, let statement else { throw error(code, Self.summary(sql)) }
        return SQLiteStatement(owning: statement, summary: Self.summary(sql))
    }

    /// The first column of the first row.
    func number(_ sql: String) throws(SQLiteError) -> Int64? {
        let statement = try prepare(sql)
        return try statement.step() ? statement.integer(0) : nil
    }

    /// The first column of the first row.
    func text(_ sql: String) throws(SQLiteError) -> String? {
        let statement = try prepare(sql)
        return try statement.step() ? statement.text(0) : nil
    }

    /// Whether a transaction is open.
    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Moves what was committed from the log into the file, as far as no one reads it. Waits for no reader.
    ///
    /// - Parameter truncate: Leaves a log of no length, if no one reads it.
    /// - Returns: Whether all of it is in the file, and with `truncate` the log is empty.
    func checkpoint(truncate: Bool) throws(SQLiteError) -> Bool {
        sqlite3_busy_timeout(handle, 0)
        defer { sqlite3_busy_timeout(handle, Self.patience) }
        let mode = truncate ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE
        var (pages, moved): (CInt, CInt) = (0, 0)
        let code = sqlite3_wal_checkpoint_v2(handle, nil, mode, &pages, &moved)
        if code & 0xff == SQLITE_BUSY { return false }
        if code != SQLITE_OK { throw error(code, "checkpoint") }
        return pages == moved
    }

    private func error(_ code: CInt, _ call: String) -> SQLiteError {
        let extended = sqlite3_extended_errcode(handle)
        let message = sqlite3_errmsg(handle).map { String(cString: $0) } ?? ""
        return SQLiteError(code: extended & 0xff == code & 0xff ? extended : code, call, message: message)
    }

    /// The beginning of a statement, for messages.
    private static func summary(_ sql: String) -> String {
        sql.textWords.prefix(3).joined(separator: " ")
    }
}

/// A free function, since SQLite calls it.
private func noteLogLength(
    _ context: UnsafeMutableRawPointer?, _: OpaquePointer?, _: UnsafePointer<CChar>?, _ pages: CInt
) -> CInt {
    context?.assumingMemoryBound(to: CInt.self).pointee = pages
    return SQLITE_OK
}
