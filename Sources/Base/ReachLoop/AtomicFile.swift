package import Glibc

/// Files that are replaced as a whole: a reader sees the old one or the new one.
package enum AtomicFile {
    /// - Parameters:
    ///   - mode: The permissions of the new file, of which the process's umask takes away.
    ///   - isPublic: Whether the umask takes nothing away.
    ///   - isSynced: Whether to wait until it is on the disk. Otherwise a loss of power may leave less of it.
    package static func replace(
        _ path: String, with bytes: [UInt8], mode: mode_t = 0o600, isPublic: Bool = false, isSynced: Bool = true
    ) throws(SystemError) {
        let temporary = path + ".new"
        // Whoever can write in the directory could have put a link or a FIFO there, which is neither followed nor
        // waited for.
        unlink(temporary)
        let file = FileDescriptor(
            owning: try SystemError.check("open \(temporary)") {
                open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
            })
        do throws(SystemError) {
            if isPublic, fchmod(file.rawValue, mode) != 0 { throw SystemError(call: "chmod \(temporary)") }
            try write(bytes, to: file.rawValue, temporary)
            if isSynced, fsync(file.rawValue) != 0 { throw SystemError(call: "fsync \(temporary)") }
            guard rename(temporary, path) == 0 else { throw SystemError(call: "rename \(temporary)") }
        } catch {
            unlink(temporary)
            throw error
        }
    }

    private static func write(_ bytes: [UInt8], to file: CInt, _ path: String) throws(SystemError) {
        do throws(SystemError) {
            try FileDescriptor.write(bytes, to: file)
        } catch {
            throw SystemError(call: "write \(path)", number: error.number)
        }
    }
}
