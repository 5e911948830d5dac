internal import Glibc
internal import ReachCore
internal import ReachLoop
internal import Synchronization

/// The daemon's log on standard error. Any thread may write; none waits for whoever reads.
package final class Log: Sendable {
    private struct State {
        var level: LogLevel
        var limiter = LogLimiter()
        var output: LogOutput
    }

    private let format: LogFormat
    private let state: Mutex<State>

    /// - Parameters:
    ///   - level: What is less grave is left out.
    ///   - format: `nil` is the journal's if `descriptor` is connected with it.
    package init(level: LogLevel, format: LogFormat? = nil, descriptor: CInt = STDERR_FILENO) {
        self.format = format ?? (Self.isJournal(descriptor) ? .journal : .plain)
        state = Mutex(State(level: level, output: LogOutput(descriptor)))
    }

    package var level: LogLevel {
        get { state.withLock(\.level) }
        set { state.withLock { $0.level = newValue } }
    }

    /// - Parameters:
    ///   - text: The sentence, which should be the same each time: what differs belongs into fields.
    ///   - fields: Written as `key=value`.
    package func write(_ level: LogLevel, _ text: String, _ fields: KeyValuePairs<String, String> = [:]) {
        let message = LogMessage(level, text, fields.map { LogMessage.Field($0, $1) })
        state.withLock { state in
            guard level >= state.level else { return }
            let now = SystemClock.now
            for admitted in state.limiter.admit(message, at: now.boot) { write(admitted, now.wall, &state.output) }
        }
    }

    /// Tells what was counted and not yet told. To be called at the end.
    package func finish() {
        state.withLock { state in
            let now = SystemClock.now.wall
            for message in state.limiter.drain() { write(message, now, &state.output) }
        }
    }

    private func write(_ message: LogMessage, _ time: Timestamp, _ output: inout LogOutput) {
        output.write(format.line(message, at: time)) { lost in
            let note = LogMessage(.warning, "lines of this log are lost", [LogMessage.Field("count", String(lost))])
            return format.line(note, at: time)
        }
    }

    /// Whether the descriptor is the one that JOURNAL_STREAM names by device and inode (systemd.exec(5)): the variable
    /// is inherited also by programs whose standard error was sent elsewhere.
    private static func isJournal(_ descriptor: CInt) -> Bool {
        var information = stat()
        guard let name = getenv("JOURNAL_STREAM").map({ String(cString: $0) }), fstat(descriptor, &information) == 0
        else { return false }
        return name == "\(information.st_dev):\(information.st_ino)"
    }
}
