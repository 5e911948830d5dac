internal import Glibc
internal import ReachCore
internal import ReachLoop
package import ReachQueue

/// The directory in which the queue keeps its files, locked while the value lives: only one process uses it.
///
/// It is readable by its owner alone, since bodies and headers hold what is no one else's business.
package final class QueueDirectory: Sendable {
    package let path: String
    private let lock: FileLock

    /// Makes the directory if its parent is there, and locks it.
    ///
    /// - Throws: ``QueueStoreError/locked(path:process:)`` if another process has it.
    package init(_ path: String) throws(QueueStoreError) {
        self.path = path
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw .system(SystemError(call: "mkdir \(path)")) }
        do throws(FileLock.Failure) {
            lock = try FileLock(at: path + "/queue.lock")
        } catch {
            switch error {
            case .held(let process): throw .locked(path: path, process: process)
            case .unsafe(let file, let reason):
                throw .system(SystemError(call: "lock \(file), but \(reason)", number: EPERM))
            case .failed(let reason): throw .system(reason)
            }
        }
        chmod(path, 0o700)
        if mkdir(spoolPath, 0o700) != 0, errno != EEXIST { throw .system(SystemError(call: "mkdir \(spoolPath)")) }
    }

    /// Lets others have it.
    func release() { lock.release() }

    package var databasePath: String { path + "/queue.sqlite" }

    /// Changes that are not in the database yet. Named so that it goes with the database, as SQLite's own files do.
    package var changeLogPath: String { databasePath + "-log" }

    /// Where bodies are kept that are too large for the database.
    package var spoolPath: String { path + "/spool" }

    /// Space that is given up when the disk is full.
    package var reservePath: String { path + "/queue.reserve" }

    /// Takes space on the disk, to give it up when there is no other.
    ///
    /// - Returns: Whether there is room for it; also where the file system cannot promise any.
    func fillReserve(_ bytes: Int64) -> Bool {
        let file = open(reservePath, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { return errno != ENOSPC && errno != EDQUOT }
        defer { close(file) }
        let number = posix_fallocate(file, 0, Int(bytes))
        if number == 0 { return true }
        ftruncate(file, 0)
        return number != ENOSPC && number != EDQUOT
    }

    /// Whether the disk has room for this number of bytes, also of what is reserved for root if this process is root's.
    func hasRoom(for bytes: Int) -> Bool {
        var status = statvfs()
        guard statvfs(path, &status) == 0, status.f_blocks > 0 else { return true }
        let blocks = geteuid() == 0 ? status.f_bfree : status.f_bavail
        return blocks >= UInt(bytes) / max(1, status.f_frsize) + 1
    }

    func giveUpReserve() { truncate(reservePath, 0) }

    package func spoolFile(_ name: String) -> String { spoolPath + "/" + name }

    /// The name of the file of a request's answer: the same for each attempt, so that a download can resume.
    package static func answerName(_ id: RequestID) -> String { answerPrefix + id.description }

    private static let answerPrefix = "answer-"

    /// The name of the file that records how far that download is.
    package static func recordName(_ id: RequestID) -> String { answerName(id) + recordSuffix }

    static let recordSuffix = ".resume"

    /// The name of the file that records how far a resumable upload is.
    package static func uploadName(_ id: RequestID) -> String { uploadPrefix + "\(id)" }

    private static let uploadPrefix = "upload-"

    /// The length of the database and of SQLite's log.
    var databaseBytes: Int64 {
        ["", "-wal"].reduce(0) { sum, suffix in
            var status = stat()
            return lstat(databasePath + suffix, &status) == 0 ? sum + Int64(status.st_size) : sum
        }
    }

    /// Whether a damaged database was ever set aside here.
    var hasFileSetAside: Bool {
        let prefix = databasePath.dropFirst(path.utf8.count + 1) + Self.asideSuffix
        return ((try? DirectoryNames.read(path)) ?? []).contains { $0.hasUTF8Prefix(prefix) }
    }

    private static let asideSuffix = ".corrupt-"

    /// Renames a damaged database, with its log, out of the way.
    ///
    /// - Returns: Its new path.
    func setAside(at seconds: Int64) throws(QueueStoreError) -> String {
        let aside = databasePath + Self.asideSuffix + "\(seconds)"
        for suffix in ["", "-wal", "-shm", "-log"] {
            guard rename(databasePath + suffix, aside + suffix) != 0, errno != ENOENT else { continue }
            throw .system(SystemError(call: "rename \(databasePath)\(suffix)"))
        }
        return aside
    }

    /// What is in the spool when the file is opened.
    struct SpoolContents {
        /// The requests of whose answers a part is there, and a record that shows how far it is.
        var answers: Set<RequestID> = []
        /// What is recorded of resumable uploads that will go on.
        var uploads: [RequestID: UploadState] = [:]
        /// The files of bodies, also of requests that were never stored.
        var bodies: Set<String> = []
    }

    /// Reads what attempts have left, and removes what no attempt can use.
    ///
    /// - Parameters:
    ///   - names: The files of whole answers; asked for only if there are files of attempts.
    ///   - isOpen: Whether a request will still be sent.
    ///   - removes: Whether files go at all: not while the rows are perhaps not on the disk.
    func sweepSpool(
        keeping names: () throws(SQLiteError) -> Set<String>, isOpen: (RequestID) throws(SQLiteError) -> Bool,
        removes: Bool
    ) throws(SQLiteError) -> SpoolContents {
        let present = Set((try? DirectoryNames.read(spoolPath)) ?? [])
        let ofAttempts = present.filter { $0.hasUTF8Prefix(Self.answerPrefix) || $0.hasUTF8Prefix(Self.uploadPrefix) }
        var contents = SpoolContents(bodies: present.subtracting(ofAttempts))
        if ofAttempts.isEmpty { return contents }
        let unnamed = ofAttempts.subtracting(try names())
        for name in unnamed {
            guard let id = Self.request(of: name, Self.answerPrefix), unnamed.contains(Self.recordName(id)),
                try isOpen(id)
            else { continue }
            contents.answers.insert(id)
        }
        let kept = contents.answers.flatMap { [Self.answerName($0), Self.recordName($0)] }
        for name in unnamed.subtracting(kept) {
            guard let id = Self.request(of: name, Self.uploadPrefix), try isOpen(id),
                let state = SmallFile.text(spoolFile(name), limit: 1 << 16).flatMap(UploadState.init(text:))
            else {
                if removes { removeSpoolFile(name) }
                continue
            }
            contents.uploads[id] = state
        }
        return contents
    }

    private static func request(of name: String, _ prefix: String) -> RequestID? {
        guard let number = name.after(prefix).flatMap({ Int64($0) }) else { return nil }
        return RequestID(rawValue: number)
    }

    func removeSpoolFile(_ name: String) { unlink(spoolFile(name)) }
}
