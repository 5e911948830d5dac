internal import Glibc
package import ReachControl
package import ReachCore
package import ReachLoop

/// A history store in two files: the current one, and the one before.
package final class FileHistoryStore: HistoryStore {
    package let lastSign: (entry: HistoryEntry?, time: Timestamp?)
    package private(set) var count: Int
    private let files: HistoryFiles
    private var file: CInt
    private var size: off_t

    /// Opens the files, and creates the directory if its parent exists.
    package init(_ files: HistoryFiles) throws(SystemError) {
        if mkdir(files.directory, 0o711) != 0, errno != EEXIST { throw SystemError(call: "mkdir \(files.directory)") }
        let sign = HistoryFiles.lastSign(in: files.current)
        // Between the two steps of a rotation there is no current file.
        lastSign = sign.time == nil ? HistoryFiles.lastSign(in: files.older) : sign
        self.files = files
        file = try Self.open(files.current)
        (count, size) = try Self.measure(file)
    }

    deinit { close(file) }

    package func append(_ lines: [UInt8], count: Int) throws(SystemError) {
        var written = 0
        while written < lines.count {
            let result = lines.withUnsafeBytes {
                write(file, $0.baseAddress.map { $0 + written }, lines.count - written)
            }
            if result >= 0 {
                written += result
            } else if errno != EINTR {
                let error = SystemError(call: "write \(files.current)")
                // A partial record would spoil the next one, too.
                ftruncate(file, size)
                throw error
            }
        }
        size += off_t(lines.count)
        self.count += count
    }

    package func rotate() throws(SystemError) {
        sync()
        // After a failure or a crash at any step, there is a file to append to.
        let fresh = files.current + ".new"
        unlink(fresh)
        let next = try Self.open(fresh)
        // An earlier try may have come as far as the first of these.
        guard rename(files.current, files.older) == 0 || errno == ENOENT, rename(fresh, files.current) == 0 else {
            let error = SystemError(call: "rename \(files.current)")
            close(next)
            throw error
        }
        close(file)
        file = next
        (count, size) = (0, 0)
    }

    package func touch() { futimens(file, nil) }

    package func sync() { fdatasync(file) }

    private static func open(_ path: String) throws(SystemError) -> CInt {
        try HistoryFiles.openRegularFile(path, O_RDWR | O_CREAT | O_APPEND)
    }

    /// Counts the lines. If a crash left a partial last line, ends it, so that the next record gets a line of its own.
    private static func measure(_ file: CInt) throws(SystemError) -> (lines: Int, size: off_t) {
        var (lines, size, last) = (0, off_t(0), UInt8(ascii: "\n"))
        var piece = [UInt8](repeating: 0, count: 262_144)
        while case let count = pread(file, &piece, piece.count, size), count > 0 {
            lines += piece[..<count].count { $0 == UInt8(ascii: "\n") }
            last = piece[count - 1]
            size += off_t(count)
        }
        if last != UInt8(ascii: "\n") {
            var newline = UInt8(ascii: "\n")
            guard write(file, &newline, 1) == 1 else { throw SystemError(call: "write") }
            (lines, size) = (lines + 1, size + 1)
        }
        return (lines, size)
    }
}
