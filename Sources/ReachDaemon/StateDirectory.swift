internal import Glibc
package import ReachLoop

/// The directory of what outlives the daemon, which one daemon owns at a time.
///
/// Others can reach what they know the name of, which is the history, whose files are open to all. They cannot list the
/// directory or put anything into it, and everything else in it is its owner's alone.
package struct StateDirectory: ~Copyable {
    package let path: String
    private let lock: FileLock

    private static let mode: mode_t = 0o711

    /// Makes it if need be, closes it to others if it was open to them, and claims it.
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

    /// Directories above it are made as the XDG base directory specification has them: for their owner alone.
    private static func make(_ path: String, mode: mode_t) throws(SystemError) {
        if mkdir(path, mode) == 0 || errno == EEXIST { return }
        guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
            throw SystemError(call: "mkdir \(path)")
        }
        try make(String(path[..<slash]), mode: 0o700)
        _ = try SystemError.check("mkdir \(path)") { mkdir(path, mode) }
    }

    /// One that an earlier version made is open to everybody.
    private static func close(_ path: String) throws(FileLock.Failure) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .failed(SystemError(call: "open \(path)")) }
        let directory = FileDescriptor(owning: descriptor)
        var status = stat()
        guard fstat(directory.rawValue, &status) == 0 else { throw .failed(SystemError(call: "stat \(path)")) }
        guard status.st_uid == geteuid() else {
            guard status.st_uid == 0 else { throw .unsafe(path: path, reason: "it belongs to user \(status.st_uid)") }
            // Root lays out nothing by mistake, but a place that all share is none for state.
            guard status.st_mode & 0o022 == 0 else { throw .unsafe(path: path, reason: "others can write there") }
            return
        }
        guard status.st_mode & 0o066 != 0 else { return }
        guard fchmod(directory.rawValue, status.st_mode & 0o7711) == 0 else {
            throw .failed(SystemError(call: "chmod \(path)"))
        }
    }
}
