internal import Logging
package import ReachCore

/// Limits repeated messages to five in ten seconds, and counts further ones. The count is written before the next
/// message, whichever that is, after the ten seconds. There is no timer, so an idle daemon does not wake up for it.
///
/// Messages are equal if their level and text are; their fields may differ.
package struct LogLimiter: Sendable {
    private struct Window {
        let message: LogMessage
        let start: BootTime
        var count = 0
        var suppressed: Int { max(0, count - LogLimiter.burst) }
    }

    private struct Key: Hashable {
        let level: Logger.Level
        let text: String
    }

    package static let burst = 5
    package static let interval: Duration = .seconds(10)
    /// The number of different messages counted at the same time. The daemon has few, but hooks may write any text.
    static let capacity = 64

    private var windows: [Key: Window] = [:]

    package init() {}

    /// - Returns: The messages to log now: counts that are due, and the message itself unless it repeats too often.
    package mutating func admit(_ message: LogMessage, at now: BootTime) -> [LogMessage] {
        var admitted = close { now >= $0.start + Self.interval }
        let key = Key(level: message.level, text: message.text)
        if windows[key] == nil, windows.count >= Self.capacity, let oldest = windows.values.map(\.start).min() {
            admitted += close { $0.start == oldest }
        }
        var window = windows[key] ?? Window(message: message, start: now)
        window.count += 1
        windows[key] = window
        if window.count <= Self.burst { admitted.append(message) }
        return admitted
    }

    /// The counts that are not yet written. Call it at the end.
    package mutating func drain() -> [LogMessage] { close { _ in true } }

    private mutating func close(where isDue: (Window) -> Bool) -> [LogMessage] {
        let due = windows.filter { isDue($0.value) }
        for key in due.keys { windows[key] = nil }
        return due.values.filter { $0.suppressed > 0 }.sorted { $0.start < $1.start }.map { window in
            LogMessage(
                window.message.level, window.message.text, [LogMessage.Field("repeated", String(window.suppressed))])
        }
    }
}
