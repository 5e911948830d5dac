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
        guard let usersDirectory = directory(isRoot: isRoot, environment: environment) else { return machine }
        return exists(HistoryFiles(directory: usersDirectory).current) ? usersDirectory : machine
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
                var lines = try LineReader(path, longestLine: Self.longestLine)
                log.lastSeen = lines.modified
                try lines.readAll { log.append(line: $0) }
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
        guard var lines = try? LineReader(path, longestLine: longestLine) else { return (nil, nil) }
        lines.move(to: max(0, lines.end - 65_536))
        var last: HistoryEntry?
        try? lines.readAll { if case .entry(let entry) = HistoryLine.decode($0) { last = entry } }
        return (last, lines.modified)
    }

    /// No record is this long.
    package static let longestLine = 1 << 20
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
