internal import Glibc
package import ReachLoop

/// The directory of the state that outlives the daemon, owned by one daemon at a time.
///
/// Other users can open files in it by name, but neither list the directory nor add to it. Only the history's files are
/// readable for them; everything else is the owner's alone.
package struct StateDirectory: ~Copyable {
    package let path: String
    private let lock: FileLock

    private static let mode: mode_t = 0o711

    /// Creates the directory if it is missing, removes other users' access, and locks it.
    package init(_ path: String) throws(FileLock.Failure) {
        do throws(SystemError) {
            try Self.make(path, mode: Self.mode)
        } catch {
            throw .failed(error)
        }
        try Self.close(path)
        lock = try FileLock(at: path + "/reachd.lock")
        self.path = path
    }

    /// Creates missing parents for their owner alone, as the XDG base directory specification requires.
    private static func make(_ path: String, mode: mode_t) throws(SystemError) {
        if mkdir(path, mode) == 0 || errno == EEXIST { return }
        guard errno == ENOENT, let slash = path.unicodeScalars.lastIndex(of: "/"), slash != path.startIndex else {
            throw SystemError(call: "mkdir \(path)")
        }
        try make(String(path[..<slash]), mode: 0o700)
        _ = try SystemError.check("mkdir \(path)") { mkdir(path, mode) }
    }

    /// Removes other users' access: earlier versions created the directory open to everyone.
    private static func close(_ path: String) throws(FileLock.Failure) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .failed(SystemError(call: "open \(path)")) }
        let directory = FileDescriptor(owning: descriptor)
        var status = stat()
        guard fstat(directory.rawValue, &status) == 0 else { throw .failed(SystemError(call: "stat \(path)")) }
        guard status.st_uid == geteuid() else {
            guard status.st_uid == 0 else { throw .unsafe(path: path, reason: "it belongs to user \(status.st_uid)") }
            // Root's directory is trusted, but state must not lie where other users can write.
            guard status.st_mode & 0o022 == 0 else { throw .unsafe(path: path, reason: "others can write there") }
            return
        }
        guard status.st_mode & 0o066 != 0 else { return }
        guard fchmod(directory.rawValue, status.st_mode & 0o7711) == 0 else {
            throw .failed(SystemError(call: "chmod \(path)"))
        }
    }
}
