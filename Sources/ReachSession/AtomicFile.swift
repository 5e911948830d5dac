internal import Glibc
internal import ReachLoop

/// Files that are replaced as a whole: a reader sees the old one or the new one, also after a loss of power.
enum AtomicFile {
    /// - Parameter isSynced: Whether to wait until it is on the disk. Otherwise a loss of power may leave less of it.
    static func replace(_ path: String, with bytes: [UInt8], isSynced: Bool = true) throws(SystemError) {
        let fresh = path + ".new"
        // What an earlier process left there may be a link.
        unlink(fresh)
        let descriptor = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw SystemError(call: "open \(fresh)") }
        let file = FileDescriptor(owning: descriptor)
        do throws(SystemError) {
            try write(bytes, to: file.rawValue, fresh)
            if isSynced, fsync(file.rawValue) != 0 { throw SystemError(call: "fsync \(fresh)") }
            guard rename(fresh, path) == 0 else { throw SystemError(call: "rename \(fresh)") }
        } catch {
            unlink(fresh)
            throw error
        }
    }

    private static func write(_ bytes: [UInt8], to file: CInt, _ path: String) throws(SystemError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            guard count > 0 || errno == EINTR else { throw SystemError(call: "write \(path)") }
            rest = rest.dropFirst(max(count, 0))
        }
    }
}
