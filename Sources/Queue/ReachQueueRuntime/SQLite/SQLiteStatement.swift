internal import CSQLite
internal import Glibc

/// A prepared statement, finalized when no one holds it. Parameters are numbered from 1, columns from 0, as in SQLite.
///
/// A class: an initializer that prepares many and may throw in between cannot own noncopyable values.
final class SQLiteStatement {
    private let handle: OpaquePointer
    private let summary: String
    private var holdsBlob = false

    init(owning handle: OpaquePointer, summary: String) {
        self.handle = handle
        self.summary = summary
    }

    deinit { sqlite3_finalize(handle) }

    // MARK: Running

    /// - Returns: Whether there is a row to read.
    func step() throws(SQLiteError) -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code: throw error(code)
        }
    }

    /// Runs it with these parameters to its end, and makes it ready for the next time.
    func run(_ parameters: SQLiteValue...) throws(SQLiteError) { try run(parameters) }

    func run(_ parameters: [SQLiteValue]) throws(SQLiteError) {
        try bind(parameters)
        defer { reset() }
        while try step() {}
    }

    /// Runs it with these parameters, and reads the first row if there is one.
    func first<Row>(
        _ parameters: SQLiteValue..., read: (SQLiteStatement) throws(SQLiteError) -> Row
    ) throws(SQLiteError) -> Row? {
        try bind(parameters)
        defer { reset() }
        return try step() ? read(self) : nil
    }

    func bind(_ parameters: [SQLiteValue]) throws(SQLiteError) {
        for (index, parameter) in parameters.enumerated() {
            let code = bind(parameter, at: CInt(index + 1))
            if code != SQLITE_OK { throw error(code) }
        }
    }

    func reset() {
        sqlite3_reset(handle)
        // Texts stay until the next ones come.
        if holdsBlob { sqlite3_clear_bindings(handle) }
        holdsBlob = false
    }

    private func bind(_ value: SQLiteValue, at index: CInt) -> CInt {
        switch value {
        case .null: return sqlite3_bind_null(handle, index)
        case .integer(let number): return sqlite3_bind_int64(handle, index, number)
        // An empty string may have no address, and NULL would be bound.
        case .text(""): return reach_sqlite_bind_text(handle, index, "", 0)
        case .text(var text):
            return text.withUTF8 { utf8 in
                utf8.withMemoryRebound(to: CChar.self) {
                    reach_sqlite_bind_text(handle, index, $0.baseAddress, CInt(clamping: $0.count))
                }
            }
        case .blob(let bytes):
            holdsBlob = true
            return bytes.withUnsafeBytes { reach_sqlite_bind_blob(handle, index, $0.baseAddress, UInt64($0.count)) }
        }
    }

    // MARK: Reading

    func integer(_ column: CInt) -> Int64 { sqlite3_column_int64(handle, column) }

    func isNull(_ column: CInt) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

    func isInteger(_ column: CInt) -> Bool { sqlite3_column_type(handle, column) == SQLITE_INTEGER }

    /// Whether the column is a text of at most this number of bytes.
    func isText(_ column: CInt, upTo count: Int) -> Bool {
        sqlite3_column_type(handle, column) == SQLITE_TEXT && Int(sqlite3_column_bytes(handle, column)) <= count
    }

    func optionalInteger(_ column: CInt) -> Int64? { isNull(column) ? nil : integer(column) }

    func flag(_ column: CInt) -> Bool { integer(column) != 0 }

    /// `nil` where the column is NULL.
    func text(_ column: CInt) -> String? {
        guard let bytes = sqlite3_column_text(handle, column) else { return nil }
        let count = Int(sqlite3_column_bytes(handle, column))
        return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    /// Whether the column has exactly this text; makes no string. False where the column is NULL.
    func hasText(_ text: String, in column: CInt) -> Bool {
        guard let bytes = sqlite3_column_text(handle, column) else { return false }
        let count = Int(sqlite3_column_bytes(handle, column))
        var text = text
        return text.withUTF8 { utf8 in
            guard utf8.count == count, let start = utf8.baseAddress else { return utf8.count == count }
            return memcmp(start, bytes, count) == 0
        }
    }

    /// Empty where the column is NULL.
    func blob(_ column: CInt) -> [UInt8] {
        guard let bytes = sqlite3_column_blob(handle, column) else { return [] }
        return Array(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(handle, column))))
    }

    private func error(_ code: CInt) -> SQLiteError {
        let database = sqlite3_db_handle(handle)
        let message = sqlite3_errmsg(database).map { String(cString: $0) } ?? ""
        return SQLiteError(code: sqlite3_extended_errcode(database), summary, message: message)
    }
}

/// What can be put into a statement.
enum SQLiteValue {
    case null
    case integer(Int64)
    case text(String)
    case blob([UInt8])

    static func integer(_ number: some BinaryInteger) -> SQLiteValue { .integer(Int64(clamping: number)) }

    static func flag(_ flag: Bool) -> SQLiteValue { .integer(flag ? 1 : 0) }

    static func optional(_ text: String?) -> SQLiteValue { text.map(SQLiteValue.text) ?? .null }

    static func optional(_ number: (some BinaryInteger)?) -> SQLiteValue {
        number.map { .integer(Int64(clamping: $0)) } ?? .null
    }
}
