internal import Glibc
internal import ReachControl
package import ReachCore
package import ReachLoop
package import ReachRecords

/// A history store in two files: the current one, and the one before.
package final class FileHistoryStore: HistoryStore {
    package let lastSign: (entry: HistoryEntry?, time: Timestamp?)
    package private(set) var count: Int
    private let files: HistoryFiles
    private var file: LineFile

    /// Opens the files, and creates the directory if its parent exists.
    package init(_ files: HistoryFiles) throws(SystemError) {
        if mkdir(files.directory, 0o711) != 0, errno != EEXIST { throw SystemError(call: "mkdir \(files.directory)") }
        let sign = HistoryFiles.lastSign(in: files.current)
        // Between the two steps of a rotation there is no current file.
        lastSign = sign.time == nil ? HistoryFiles.lastSign(in: files.older) : sign
        self.files = files
        file = try LineFile(files.current)
        var lines = try LineReader(files.current, longestLine: HistoryFiles.longestLine)
        count = 0
        while try lines.next() != nil { count += 1 }
        if !lines.rest.isEmpty {
            // A crash left a partial last line: the next record gets a line of its own.
            try file.append([UInt8(ascii: "\n")])
            count += 1
        }
    }

    package func append(_ lines: [UInt8], count: Int) throws(SystemError) {
        try file.append(lines)
        self.count += count
    }

    package func rotate() throws(SystemError) {
        sync()
        // After a failure or a crash at any step, there is a file to append to.
        let replacement = files.current + ".new"
        unlink(replacement)
        let next = try LineFile(replacement)
        // An earlier try may have come as far as the first of these.
        guard rename(files.current, files.older) == 0 || errno == ENOENT else {
            throw SystemError(call: "rename \(files.current)")
        }
        try next.rename(to: files.current)
        file = next
        count = 0
    }

    package func touch() { file.touch() }

    package func sync() { try? file.sync() }
}
