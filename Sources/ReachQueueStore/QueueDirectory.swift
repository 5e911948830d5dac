internal import Glibc
internal import ReachCore
internal import ReachLoop

/// The directory in which the queue keeps its files, locked while the value lives: only one process uses it.
///
/// It is readable by its owner alone, since bodies and headers hold what is nobody else's business.
package final class QueueDirectory: Sendable {
    package let path: String
    private let lock: CInt

    /// Makes the directory if its parent is there, and locks it.
    ///
    /// - Throws: ``QueueStoreError/locked(path:process:)`` if another process has it.
    package init(_ path: String) throws(QueueStoreError) {
        self.path = path
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw .system(SystemError(call: "mkdir \(path)")) }
        let name = path + "/queue.lock"
        let file = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw .system(SystemError(call: "open \(name)")) }
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
            let number = errno
            defer { close(file) }
            guard number == EWOULDBLOCK else { throw .system(SystemError(call: "flock \(name)", number: number)) }
            throw .locked(path: path, process: Self.owner(file))
        }
        lock = file
        chmod(path, 0o700)
        if mkdir(spoolPath, 0o700) != 0, errno != EEXIST {
            let error = SystemError(call: "mkdir \(spoolPath)")
            close(file)
            throw .system(error)
        }
        writeOwner()
    }

    // The lock goes with the last descriptor, so that a crash leaves none behind.
    deinit { close(lock) }

    /// Lets others have it.
    func release() { flock(lock, LOCK_UN) }

    package var databasePath: String { path + "/queue.sqlite" }

    /// Where bodies are kept that are too large for the database.
    package var spoolPath: String { path + "/spool" }

    package func spoolFile(_ name: String) -> String { spoolPath + "/" + name }

    private func writeOwner() {
        let text = Array("\(getpid())\n".utf8)
        ftruncate(lock, 0)
        pwrite(lock, text, text.count, 0)
    }

    private static func owner(_ file: CInt) -> Int32? {
        var bytes = [UInt8](repeating: 0, count: 32)
        let count = pread(file, &bytes, bytes.count, 0)
        return Int32(String(decoding: bytes.prefix(max(0, count)).prefix { $0 != 10 }, as: UTF8.self))
    }

    /// Renames a damaged database, with its log, out of the way.
    ///
    /// - Returns: Its new path.
    func setAside(at seconds: Int64) throws(QueueStoreError) -> String {
        let aside = "\(databasePath).corrupt-\(seconds)"
        for suffix in ["", "-wal", "-shm"] {
            guard rename(databasePath + suffix, aside + suffix) != 0, errno != ENOENT else { continue }
            throw .system(SystemError(call: "rename \(databasePath)\(suffix)"))
        }
        return aside
    }

    /// Removes the spool files that no row names: those of a request that was never stored.
    func sweepSpool(keeping names: Set<String>) {
        guard let directory = opendir(spoolPath) else { return }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != "..", !names.contains(name) { unlink(spoolFile(name)) }
        }
    }

    func removeSpoolFile(_ name: String) { unlink(spoolFile(name)) }
}
