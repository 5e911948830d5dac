internal import Logging
package import ReachCore

/// Keeps one message that repeats itself from filling the log: five times in ten seconds it is let through, then it is
/// only counted, and the count is written with the first message after those ten seconds, whichever that is. There is no
/// timer for it: while nothing is logged nothing wakes up.
///
/// Messages are the same if their level and sentence are; their fields may differ.
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
    /// Different messages that are counted at a time: sentences are few, but hooks may write what they like.
    static let capacity = 64

    private var windows: [Key: Window] = [:]

    package init() {}

    /// - Returns: What is to be logged now: counts that are due, and the message unless it came too often.
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

    /// What was counted and not yet written. To be called at the end.
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
