internal import Glibc
package import ReachCore
package import ReachLoop

/// The two files of a history, in the daemon's state directory. When the current file is full it replaces the older
/// one, so that nothing is ever rewritten.
package struct HistoryFiles: Hashable, Sendable {
    package let directory: String

    package init(directory: String) { self.directory = directory }

    /// The file to which the daemon appends.
    package var current: String { directory + "/history.jsonl" }
    /// The file before the current one.
    package var older: String { directory + "/history.old.jsonl" }

    /// The state directory of the machine's daemon, which runs as root.
    private static let machine = "/var/lib/reach"

    /// The state directory of root's daemon, or of this user's.
    package static func directory(isRoot: Bool, environment: (String) -> String?) -> String? {
        DaemonDirectory(handed: "STATE_DIRECTORY", machine: machine, base: "XDG_STATE_HOME", usualBase: ".local/state")
            .path(isRoot: isRoot, environment: environment)
    }

    /// The state directory to read from: that of the user's own daemon if it has a history, or else the machine's.
    package static func directoryForReader(
        isRoot: Bool, environment: (String) -> String?, exists: (String) -> Bool = { access($0, F_OK) == 0 }
    ) -> String {
        guard let own = directory(isRoot: isRoot, environment: environment) else { return machine }
        return exists(HistoryFiles(directory: own).current) ? own : machine
    }

    /// Reads all records, oldest first. Counts and skips a line that is torn or is no record.
    ///
    /// - Throws: If there is no history, or it cannot be read.
    package func read() throws(SystemError) -> HistoryLog {
        var log = HistoryLog()
        var failure: SystemError?
        var found = false
        for path in [older, current] {
            do throws(SystemError) {
                try Self.readLines(of: path) { log.append(line: $0) }
                log.lastSeen = Self.lastTouched(path)
                found = true
            } catch  where error.number == ENOENT {
                failure = failure ?? error
            } catch {
                throw error
            }
        }
        if !found, let failure { throw failure }
        return log
    }

    /// The last readable record of a file, and the time at which the file was last written or touched: a daemon with
    /// nothing to write touches it at intervals as a sign of life.
    package static func lastSign(in path: String) -> (entry: HistoryEntry?, time: Timestamp?) {
        var last: HistoryEntry?
        try? readLines(of: path, fromEnd: 65_536) { line in
            if case .entry(let entry) = HistoryLine.decode(line) { last = entry }
        }
        return (last, lastTouched(path))
    }

    private static func lastTouched(_ path: String) -> Timestamp? {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Timestamp(secondsSince1970: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
    }

    /// Opens one of the files, but only a regular file: a pipe would block the reader, and a link can point anywhere.
    ///
    /// - Parameter mode: The mode of a file that is created.
    package static func openRegularFile(
        _ path: String, _ flags: CInt, mode: UInt32 = 0o644
    ) throws(SystemError) -> CInt {
        let descriptor = try SystemError.check("open \(path)") {
            open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, mode)
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw SystemError(call: "open \(path), which is no regular file", number: EINVAL)
        }
        return descriptor
    }

    /// Calls `body` with each line, including a last one without a newline.
    ///
    /// - Parameter fromEnd: Reads only this many bytes at the end of a longer file; the first line is then incomplete.
    private static func readLines(
        of path: String, fromEnd: Int? = nil, _ body: (ArraySlice<UInt8>) -> Void
    ) throws(SystemError) {
        let file = FileDescriptor(owning: try openRegularFile(path, O_RDONLY))
        if let fromEnd, lseek(file.rawValue, 0, SEEK_END) > fromEnd {
            lseek(file.rawValue, -fromEnd, SEEK_END)
        } else {
            lseek(file.rawValue, 0, SEEK_SET)
        }
        var rest: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 262_144)
        while true {
            let count = Glibc.read(file.rawValue, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw SystemError(call: "read") }
            if count == 0 { break }
            rest += piece[..<count]
            var lines = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            let unfinished = lines.removeLast()
            for line in lines where !line.isEmpty { body(line) }
            rest = Array(unfinished)
            // No record is this long, so this is no history and no record is lost.
            if rest.count > lineLimit { rest = [] }
        }
        if !rest.isEmpty { body(rest[...]) }
    }

    private static let lineLimit = 1 << 20
}

extension HistoryLog {
    fileprivate mutating func append(line: ArraySlice<UInt8>) {
        switch HistoryLine.decode(line) {
        case .entry(let entry): entries.append(entry)
        case .unknown: break
        case .damaged: damaged += 1
        }
    }
}
