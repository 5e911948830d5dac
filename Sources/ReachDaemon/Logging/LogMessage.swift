package import Logging
package import ReachCore

/// Something to be logged: a sentence for people, which is the same each time, and what differs in fields.
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

/// How a line of the log looks.
package enum LogFormat: Hashable, Sendable {
    /// The journal has a time of its own, and takes the priority from `<N>` (sd-daemon(3)).
    case journal
    /// With the time, and the level as a word.
    case plain

    /// The line without its end. Whatever the message holds, it is one line, and safe for a terminal.
    package func line(_ message: LogMessage, at time: Timestamp) -> String {
        let start =
            switch self {
            case .journal: "<\(message.level.priority)>"
            case .plain: "\(time) \(message.level.rawValue): "
            }
        let fields = message.fields.map { " \($0.key)=\(Self.quoted($0.value))" }
        return start + DisplayText.sanitized(message.text) + fields.joined()
    }

    /// As logfmt has it: in quotes where it would not be one word.
    private static func quoted(_ value: String) -> String {
        let text = DisplayText.sanitized(value)
        guard text.isEmpty || text.contains(where: { $0 == " " || $0 == "\"" || $0 == "=" }) else { return text }
        var quoted = "\""
        for character in text {
            if character == "\"" || character == "\\" { quoted += "\\" }
            quoted.append(character)
        }
        return quoted + "\""
    }
}

extension Logger.Level {
    /// The priority of syslog(3), which is lower for what is graver.
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
    /// The same for those who write.
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
