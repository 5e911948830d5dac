package import Logging
package import ReachCore

/// A message to log: a constant text, and fields with what varies.
package struct LogMessage: Hashable, Sendable {
    package struct Field: Hashable, Sendable {
        package let key: String
        package let value: String

        package init(_ key: String, _ value: String) {
            self.key = key
            self.value = value
        }
    }

    package let level: Logger.Level
    package let text: String
    package let fields: [Field]

    package init(_ level: Logger.Level, _ text: String, _ fields: [Field] = []) {
        self.level = level
        self.text = text
        self.fields = fields
    }
}

/// The format of the log's lines.
package enum LogFormat: Hashable, Sendable {
    /// With the priority as `<N>` (sd-daemon(3)) and without a time: the journal has its own.
    case journal
    /// With the time and the level as a word.
    case plain

    /// Formats the message as one line, without a newline and safe for a terminal.
    package func line(_ message: LogMessage, at time: Timestamp) -> String {
        let start =
            switch self {
            case .journal: "<\(message.level.priority)>"
            case .plain: "\(time) \(message.level.rawValue): "
            }
        let fields = message.fields.map { " \($0.key)=\(Self.quoted($0.value))" }
        return start + DisplayText.sanitized(message.text) + fields.joined()
    }

    /// Quotes a value that is not a single word, as in logfmt.
    private static func quoted(_ value: String) -> String {
        let text = DisplayText.sanitized(value)
        let isWord = !text.isEmpty && !text.utf8.contains(where: { " \"=".utf8.contains($0) })
        return isWord ? text : QuotedText.quoted(text)
    }
}

extension Logger.Level {
    /// The priority of syslog(3); lower is more severe.
    package var priority: Int {
        switch self {
        case .critical: 2
        case .error: 3
        case .warning: 4
        case .notice: 5
        case .info: 6
        case .debug, .trace: 7
        }
    }
}

extension LogLevel {
    /// The logger's level of the same name.
    package var level: Logger.Level {
        switch self {
        case .debug: .debug
        case .info: .info
        case .notice: .notice
        case .warning: .warning
        case .error: .error
        }
    }
}
