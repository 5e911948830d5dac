/// How much is logged: this level, and everything graver.
package enum LogLevel: String, Hashable, Comparable, CaseIterable, Sendable {
    case debug, info, notice, warning, error

    package static func < (left: LogLevel, right: LogLevel) -> Bool { left.priority > right.priority }

    /// The priority of syslog(3), which is lower for what is graver.
    package var priority: Int {
        switch self {
        case .error: 3
        case .warning: 4
        case .notice: 5
        case .info: 6
        case .debug: 7
        }
    }
}
