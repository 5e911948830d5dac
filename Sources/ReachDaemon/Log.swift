internal import Glibc
internal import ReachCore

/// Lines on standard error: with the journal's priorities under systemd, with a time elsewhere.
final class Log {
    var level: LogLevel
    private let isJournal = getenv("JOURNAL_STREAM") != nil

    init(level: LogLevel) { self.level = level }

    func write(_ level: LogLevel, _ text: String) {
        guard level >= self.level else { return }
        let prefix = isJournal ? "<\(level.priority)>" : "\(Self.time) \(level.rawValue): "
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
