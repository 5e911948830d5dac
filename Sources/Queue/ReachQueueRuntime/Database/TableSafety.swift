internal import Glibc
internal import ReachCore

/// Whether what was committed to the tables has reached the disk. It owns a descriptor of SQLite's log, to wait for the
/// disk; SQLite holds no locks on that file, so that closing a descriptor of it takes none away.
final class TableSafety {
    let log: CInt
    /// Whether all that was committed has reached the disk.
    private(set) var isSafe = false
    /// Whether the disk may have lost what was written: then nothing is written any more. The kernel reports that once,
    /// and takes the lost pages for good ones from then on, so that only writing all of it again helps.
    private(set) var mayHaveLostWrites = false
    /// Spool files that nothing names any more: of commits that are perhaps not on the disk, and of those that are.
    private var filesToRemoveWhenSafe: [String] = []
    private(set) var removable: [String] = []

    /// - Parameter database: The path of the file whose log it is.
    init(of database: String) throws(SQLiteError) {
        log = open(database + "-wal", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard log >= 0 else { throw SQLiteError.storage("open \(database)-wal: \(errno)") }
    }

    deinit { close(log) }

    /// Fails once the disk may have lost something.
    func check() throws(SQLiteError) {
        if mayHaveLostWrites { throw .storage("what was written may not have reached the disk") }
    }

    /// Notes a commit.
    func committed(removing files: [String]) {
        isSafe = false
        filesToRemoveWhenSafe += files
    }

    var hasFilesToRemove: Bool { !filesToRemoveWhenSafe.isEmpty }

    /// Waits for the disk.
    func makeSafe() throws(SQLiteError) {
        do throws(SQLiteError) {
            try sync()
        } catch {
            mayHaveLostWrites = true
            throw error
        }
        isSafe = true
        removable += filesToRemoveWhenSafe
        filesToRemoveWhenSafe = []
    }

    private func sync() throws(SQLiteError) {
        guard fdatasync(log) == 0 else { throw .storage("fdatasync: \(String(cString: strerror(errno)))") }
    }

    func doubt() { mayHaveLostWrites = true }

    /// Ends the doubt, once all was written again.
    func endDoubt() throws(SQLiteError) {
        try sync()
        mayHaveLostWrites = false
    }

    func takeRemovable() -> [String] {
        defer { removable = [] }
        return removable
    }

    /// What the safety of another connection to the same file knows.
    func takeOver(_ old: TableSafety) {
        filesToRemoveWhenSafe = old.filesToRemoveWhenSafe
        mayHaveLostWrites = old.mayHaveLostWrites
    }
}
