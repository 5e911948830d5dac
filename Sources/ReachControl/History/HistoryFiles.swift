internal import Glibc
package import ReachCore
package import ReachLoop

/// The two files of a history, in the state directory of the daemon: the older one is replaced by the newer when that is
/// full, so that nothing is ever rewritten.
package struct HistoryFiles: Hashable, Sendable {
    package let directory: String

    package init(directory: String) { self.directory = directory }

    /// What is appended to.
    package var current: String { directory + "/history.jsonl" }
    /// What was full.
    package var older: String { directory + "/history.old.jsonl" }

    /// That of the daemon that runs for the whole machine.
    private static let machine = "/var/lib/reach"

    /// Where the daemon of root, or of this user, keeps its state.
    package static func directory(isRoot: Bool, environment: (String) -> String?) -> String? {
        // systemd hands it over as the first of a list; the XDG base directory specification has the rest.
        if let handed = environment("STATE_DIRECTORY")?.split(separator: ":").first { return String(handed) }
        if isRoot { return machine }
        if let home = environment("XDG_STATE_HOME"), home.hasPrefix("/") { return home + "/reach" }
        return environment("HOME").flatMap { $0.hasPrefix("/") ? $0 + "/.local/state/reach" : nil }
    }

    /// Where a reader of this user looks: if its own daemon has left nothing, the machine's will do.
    package static func directoryForReader(
        isRoot: Bool, environment: (String) -> String?, exists: (String) -> Bool = { access($0, F_OK) == 0 }
    ) -> String {
        guard let own = directory(isRoot: isRoot, environment: environment) else { return machine }
        return exists(HistoryFiles(directory: own).current) ? own : machine
    }

    /// Reads all that is there, oldest first. A record that is torn, or not one of ours, is counted and passed over.
    ///
    /// - Throws: When there is no history, or it cannot be read.
    package func read() throws(SystemError) -> HistoryLog {
        var log = HistoryLog()
        var failure: SystemError?
        var found = false
        for path in [older, current] {
            do throws(SystemError) {
                try Self.readLines(of: path) { log.take($0) }
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

    /// The last record of a file that can be read, and when the file was written to or touched: a daemon that has
    /// nothing to write touches it now and then as a sign of life.
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

    /// Opens one of the files, and nothing that stands in its place: a pipe would be waited at, and a link may lead
    /// anywhere.
    ///
    /// - Parameter mode: Of a file that is made.
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

    /// Calls `body` with each line, the last one too if it has no end.
    ///
    /// - Parameter fromEnd: Only so many bytes of the end, if the file is longer; the first line is then a part of one.
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
            // No record is this long: it is a file of another kind, and nothing is missed.
            if rest.count > lineLimit { rest = [] }
        }
        if !rest.isEmpty { body(rest[...]) }
    }

    private static let lineLimit = 1 << 20
}

extension HistoryLog {
    fileprivate mutating func take(_ line: ArraySlice<UInt8>) {
        switch HistoryLine.decode(line) {
        case .entry(let entry): entries.append(entry)
        case .unknown: break
        case .damaged: damaged += 1
        }
    }
}
