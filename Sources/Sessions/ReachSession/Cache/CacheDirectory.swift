internal import Glibc
internal import ReachCore
internal import ReachLoop

/// The directory of a session's cache: a file for each stored response, named by a digest, so that names hold no
/// secret.
///
/// Only its owner can read it, and one session at a time has it. Files are replaced as a whole, and not synced: what a
/// loss of power leaves of one has another checksum, and is removed when it is read. All of it may block.
struct CacheDirectory: ~Copyable {
    let path: String
    private let lock: FileLock

    private static let suffix = ".answer"

    /// - Throws: `notTaken` if another session uses it, or it cannot be used.
    init(_ path: String) throws(RequestError) {
        self.path = path
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw RequestError(.notTaken, "unusable", "\(path): \(SystemError.text(errno))")
        }
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid() else {
            throw RequestError(.notTaken, "unusable", "\(path): it is not a directory of this user")
        }
        // It may have been made by hand.
        guard status.st_mode & 0o077 == 0 || chmod(path, 0o700) == 0 else {
            throw RequestError(.notTaken, "unusable", "\(path): \(SystemError.text(errno))")
        }
        do throws(FileLock.Failure) {
            lock = try FileLock(at: path + "/lock")
        } catch {
            throw RequestError(error, path)
        }
    }

    /// Lets another session use the directory.
    func release() { lock.release() }

    /// The names and sizes of stored responses, the least recently used first. Removes what an interrupted write left.
    func contents() -> [(name: String, bytes: Int)] {
        var found: [(name: String, bytes: Int, used: timespec)] = []
        for file in (try? DirectoryNames.read(path)) ?? [] {
            var status = stat()
            if file.hasUTF8Suffix(Self.suffix + ".new") { unlink(path + "/" + file) }
            guard let name = file.before(Self.suffix), lstat(path + "/" + file, &status) == 0,
                status.st_mode & S_IFMT == S_IFREG
            else { continue }
            found.append((String(name), Int(status.st_size), status.st_mtim))
        }
        found.sort { ($0.used.tv_sec, $0.used.tv_nsec) < ($1.used.tv_sec, $1.used.tv_nsec) }
        return found.map { ($0.name, $0.bytes) }
    }

    /// Reads a response, and notes its use. A file that cannot be read as a whole is removed.
    ///
    /// - Parameter limit: The longest file that is read.
    func read(_ name: String, limit: Int) -> CachedResponse? {
        let file = file(name)
        let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        let owned = FileDescriptor(owning: descriptor)
        var status = stat()
        guard fstat(owned.rawValue, &status) == 0, status.st_mode & S_IFMT == S_IFREG, Int(status.st_size) <= limit,
            let response = CachedResponse(file: Self.bytes(of: owned.rawValue, Int(status.st_size)))
        else {
            unlink(file)
            return nil
        }
        futimens(owned.rawValue, nil)
        return response
    }

    private static func bytes(of file: CInt, _ count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let piece = Glibc.read(file, buffer.baseAddress.map { $0 + filled }, count - filled)
                guard piece > 0 else { return }
                filled += piece
            }
        }
    }

    /// - Returns: Whether it was written.
    func write(_ bytes: [UInt8], to name: String) -> Bool {
        (try? AtomicFile.replace(file(name), with: bytes, isSynced: false)) != nil
    }

    func remove(_ name: String) { unlink(file(name)) }

    /// Removes all responses.
    func removeAll() { for (name, _) in contents() { remove(name) } }

    private func file(_ name: String) -> String { path + "/" + name + Self.suffix }
}
