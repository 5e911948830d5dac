internal import Glibc
internal import ReachCore

/// Lines on standard error: with the journal's priorities under systemd, with a time elsewhere.
final class Log {
    var level: LogLevel

    init(level: LogLevel) { self.level = level }

    func write(_ level: LogLevel, _ text: String) {
        if level >= self.level { Self.write(level, text) }
    }

    private static let isJournal = getenv("JOURNAL_STREAM") != nil

    /// Writes whatever the level is: from any thread.
    static func write(_ level: LogLevel, _ text: String) {
        let prefix = isJournal ? "<\(level.priority)>" : "\(time) \(level.rawValue): "
        var line = prefix + DisplayText.sanitized(text) + "\n"
        line.withUTF8 { _ = Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    private static var time: String {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Timestamp(nanosecondsSince1970: Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)).description
    }
}

extension LogLevel {
    /// Of syslog(3).
    fileprivate var priority: Int {
        switch self {
        case .error: 3
        case .warning: 4
        case .notice: 5
        case .info: 6
        case .debug, .trace: 7
        }
    }
}
