internal import Glibc
internal import ReachCore

/// An exclusive lock on a file (flock(2)). The kernel releases it when the process ends, however it ends. The file is
/// not removed: otherwise two processes could hold locks on two files of the same name.
///
/// Whoever can open the file can lock it, and so keep its owner out. It is therefore open to its owner alone. A lock
/// file that was open to others is replaced, since they may still have it open. A file that another user may have put
/// there is refused: a link, one with a second name, one of another user, or no regular file.
package struct FileLock: ~Copyable {
    /// Why the lock was not acquired.
    package enum Failure: Error, Hashable, Sendable {
        /// Another process holds it: its process ID, if the file contains it.
        case held(process: Int32?)
        /// The file in its place cannot be trusted, for this reason. An administrator has to check it.
        case unsafe(path: String, reason: String)
        case failed(SystemError)
    }

    private let file: FileDescriptor

    /// Acquires the lock, and writes this process's ID into the file.
    package init(at path: String) throws(Failure) { file = FileDescriptor(owning: try Self.claim(path)) }

    /// Unlocks explicitly: a child that was forked and has not yet called exec has the file open, too, so closing it
    /// here would not release the lock.
    deinit { release() }

    /// Releases the lock before the value ends.
    package func release() { Self.unlock(file.rawValue) }

    private static func claim(_ path: String) throws(Failure) -> CInt {
        // Another round is needed only if another process replaced the file meanwhile, which each does once.
        for _ in 0..<8 {
            let file = FileDescriptor(owning: try open(path))
            let facts = try facts(of: file.rawValue, path)
            if facts.isOpenToOthers {
                guard let replacement = try replace(path, file.rawValue, facts) else { continue }
                return replacement
            }
            guard try lock(file.rawValue, path) else { throw .held(process: owner(file.rawValue)) }
            guard facts.isStill(at: path) else {
                unlock(file.rawValue)
                continue
            }
            sign(file.rawValue)
            return try duplicate(file.rawValue, path)
        }
        throw .held(process: nil)
    }

    /// Replaces a file that others can open, or could until now, by a new one.
    ///
    /// - Returns: `nil` if another process has done so.
    private static func replace(_ path: String, _ old: CInt, _ facts: Facts) throws(Failure) -> CInt? {
        let replacement = FileDescriptor(owning: try open(path + ".new"))
        let freshFacts = try Self.facts(of: replacement.rawValue, path + ".new")
        // Of several processes that replace it at the same time, one continues.
        guard try lock(replacement.rawValue, path) else { throw .held(process: owner(replacement.rawValue)) }
        guard facts.isStill(at: path), freshFacts.isStill(at: path + ".new") else {
            unlock(replacement.rawValue)
            return nil
        }
        if try !lock(old, path), let process = owner(old), FileLockHolders.of(facts.inode)?.contains(process) ?? true {
            unlock(replacement.rawValue)
            throw .held(process: process)
        }
        sign(replacement.rawValue)
        guard fchmod(replacement.rawValue, 0o600) == 0, rename(path + ".new", path) == 0 else {
            throw .failed(SystemError(call: "rename \(path)"))
        }
        return try duplicate(replacement.rawValue, path)
    }

    // MARK: - Steps

    private static func open(_ path: String) throws(Failure) -> CInt {
        // O_NONBLOCK keeps this from waiting for the other end of a FIFO.
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else { throw .failed(SystemError(call: "open \(path)")) }
        return descriptor
    }

    /// - Returns: `false` if another process holds it.
    private static func lock(_ file: CInt, _ path: String) throws(Failure) -> Bool {
        if flock(file, LOCK_EX | LOCK_NB) == 0 { return true }
        guard errno == EWOULDBLOCK else { throw .failed(SystemError(call: "flock \(path)")) }
        return false
    }

    /// Closing alone is not enough, see `deinit`.
    private static func unlock(_ file: CInt) { flock(file, LOCK_UN) }

    /// A second descriptor of the same open file, lock included, for a value that outlives this one.
    private static func duplicate(_ file: CInt, _ path: String) throws(Failure) -> CInt {
        let copy = fcntl(file, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw .failed(SystemError(call: "fcntl \(path)")) }
        return copy
    }

    private static func sign(_ file: CInt) {
        let text = Array("\(getpid())\n".utf8)
        ftruncate(file, 0)
        pwrite(file, text, text.count, 0)
    }

    private static func owner(_ lock: CInt) -> Int32? {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = max(0, pread(lock, &bytes, bytes.count, 0))
        return Int32(String(decoding: bytes.prefix(count).prefix { 48...57 ~= $0 }, as: UTF8.self))
    }

    private struct Facts {
        let device: dev_t
        let inode: ino_t
        let isOpenToOthers: Bool

        func isStill(at path: String) -> Bool {
            var status = stat()
            return lstat(path, &status) == 0 && status.st_dev == device && status.st_ino == inode
        }
    }

    private static func facts(of file: CInt, _ path: String) throws(Failure) -> Facts {
        var status = stat()
        guard fstat(file, &status) == 0 else { throw .failed(SystemError(call: "fstat \(path)")) }
        if let reason = objection(mode: status.st_mode, owner: status.st_uid, links: UInt64(status.st_nlink)) {
            throw .unsafe(path: path, reason: reason)
        }
        return Facts(
            device: status.st_dev, inode: status.st_ino, isOpenToOthers: status.st_mode & 0o077 != 0)
    }

    private static func objection(mode: mode_t, owner: uid_t, links: UInt64) -> String? {
        if mode & S_IFMT != S_IFREG { return "it is no regular file" }
        if owner != geteuid() { return "it belongs to user \(owner)" }
        // A file that is being replaced has no name, which the caller detects.
        if links > 1 { return "it has \(links) names" }
        return nil
    }
}

/// The processes that hold locks on a file, as the kernel lists them.
enum FileLockHolders {
    /// - Returns: Processes with a flock(2) on a file of this number; `nil` if the list cannot be read.
    static func of(_ inode: UInt) -> Set<Int32>? {
        // Without a limit, since other users' locks would displace what is looked for.
        SmallFile.text("/proc/locks", limit: .max).map { processes(in: $0, inode: inode) }
    }

    /// - Parameter list: Lines such as `1: FLOCK  ADVISORY  WRITE 1234 00:1a:5678 0 EOF`; those that wait have an
    ///   arrow.
    static func processes(in list: String, inode: UInt) -> Set<Int32> {
        var processes: Set<Int32> = []
        for line in list.split(scalar: "\n") {
            let words = line.split(scalar: " ")
            guard words.count >= 6, words[1] == "FLOCK", let process = Int32(words[4]),
                words[5].split(scalar: ":").last.flatMap({ UInt($0) }) == inode
            else { continue }
            processes.insert(process)
        }
        return processes
    }
}
