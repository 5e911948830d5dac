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
    /// What it reports, if the journal's catalogue explains that.
    package var event: LoggedEvent?
    /// Fields that only the journal gets, since the text says the same in words.
    package var journalFields: [Field] = []

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
        return start + Self.text(of: message)
    }

    /// The text and the fields, as one line.
    static func text(of message: LogMessage) -> String {
        let fields = message.fields.map { " \($0.key)=\(quoted($0.value))" }
        return DisplayText.sanitized(message.text) + fields.joined()
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

/// What the journal's catalogue explains (`journalctl --catalog`): the raw value is its `MESSAGE_ID`, by which
/// programs find it. `contrib/systemd/reachd.catalog` has a text for each.
package enum LoggedEvent: String, Sendable, CaseIterable {
    case internetLost = "7091b25510214657b2171294bbb1fcb6"
    case internetBack = "812207ff2f864cba9fa713e4752d12fd"
    case internetFlapped = "90375555af64494788e64ffa25165481"
    case probe = "6cd219f655ba4786bb732d7c18d63d95"
    case requestGivenUp = "026b8abfc2c74ce6bf4418226c5b7bba"
    case configurationRefused = "c092656be35e4f3da73365c2ecc026e4"
    case queueUnavailable = "5066138b682b4692b442af2ea8c94d87"

    /// The key under which a message's metadata have it, and fields that only the journal gets.
    static let key = "journal"
    /// The key of the event among these fields.
    static let identifier = "message-id"

    /// Metadata for a message: what it reports, and fields for the journal alone, since the message says it in words.
    func metadata(_ fields: [String: String?] = [:], shown: Logger.Metadata = [:]) -> Logger.Metadata {
        var (all, journal) = (shown, fields.compactMapValues { $0.map(Logger.Metadata.Value.string) })
        journal[Self.identifier] = .string(rawValue)
        all[Self.key] = .dictionary(journal)
        return all
    }
}
