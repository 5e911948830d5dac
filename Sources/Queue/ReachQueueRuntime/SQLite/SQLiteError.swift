internal import CSQLite

/// Why a call of SQLite failed, sorted by what the caller does next.
package enum SQLiteError: Error, Hashable, Sendable, CustomStringConvertible {
    /// No room, or the disk fails, or it may not be written: try again later.
    case storage(String)
    /// The file is damaged, or is no database: set it aside.
    case corrupt(String)
    /// The tables do not take what was to be written, now or later.
    case rejected(String)
    /// Anything else: a mistake in this program, or a lock that does not go away.
    case failed(String)

    /// - Parameter code: SQLite's extended result code.
    init(code: CInt, _ call: String, message: String) {
        let text = "\(call): \(message) (\(code))"
        switch code & 0xff {
        case SQLITE_FULL, SQLITE_IOERR, SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_NOMEM:
            self = .storage(text)
        case SQLITE_CORRUPT, SQLITE_NOTADB: self = .corrupt(text)
        case SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_TOOBIG: self = .rejected(text)
        default: self = .failed(text)
        }
    }

    package var description: String {
        switch self {
        case .storage(let text), .corrupt(let text), .rejected(let text), .failed(let text): text
        }
    }
}
