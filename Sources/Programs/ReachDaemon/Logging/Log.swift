internal import Glibc
package import Logging
internal import ReachCore
internal import ReachLoop
internal import Synchronization

/// The daemon's log on standard error, which its ``logger`` writes to. Any thread may write; none waits for the reader.
package final class Log: Sendable {
    private struct State {
        var limiter = LogLimiter()
        var output: LogOutput
    }

    private static let levels = Logger.Level.allCases

    private let format: LogFormat
    private let state: Mutex<State>
    /// The index of the level in ``levels``. It is atomic so that messages below the level cost no lock.
    private let place: Atomic<Int>

    /// - Parameters:
    ///   - level: Less severe messages are omitted.
    ///   - format: `nil` chooses the journal's format if `descriptor` is connected to the journal.
    package init(level: Logger.Level, format: LogFormat? = nil, descriptor: CInt = STDERR_FILENO) {
        self.format = format ?? (Self.isJournal(descriptor) ? .journal : .plain)
        place = Atomic(Self.place(of: level))
        state = Mutex(State(output: LogOutput(descriptor)))
    }

    /// The level of all loggers without one of their own.
    package var level: Logger.Level {
        get { Self.levels[place.load(ordering: .relaxed)] }
        set { place.store(Self.place(of: newValue), ordering: .relaxed) }
    }

    /// The logger of the daemon's code. Messages should be constant; put what varies in metadata, which is written as
    /// `key=value`.
    package var logger: Logger {
        Logger(label: "reachd") { _ in JournalLogHandler(self) }
    }

    func write(_ message: LogMessage) {
        state.withLock { state in
            let now = SystemClock.now
            for admitted in state.limiter.admit(message, at: now.boot) { write(admitted, now.wall, &state.output) }
        }
    }

    /// Writes the counts of suppressed messages. Call it at the end.
    package func finish() {
        state.withLock { state in
            let now = SystemClock.now.wall
            for message in state.limiter.drain() { write(message, now, &state.output) }
        }
    }

    private func write(_ message: LogMessage, _ time: Timestamp, _ output: inout LogOutput) {
        output.write(format.line(message, at: time)) { lost in
            let note = LogMessage(.warning, "log lines were lost", [LogMessage.Field("count", String(lost))])
            return format.line(note, at: time)
        }
    }

    private static func place(of level: Logger.Level) -> Int { levels.firstIndex(of: level) ?? 0 }

    /// Whether the descriptor is the one that JOURNAL_STREAM names by device and inode (systemd.exec(5)). Programs with
    /// a redirected standard error inherit the variable, too.
    private static func isJournal(_ descriptor: CInt) -> Bool {
        var information = stat()
        guard let name = getenv("JOURNAL_STREAM").map({ String(cString: $0) }), fstat(descriptor, &information) == 0
        else { return false }
        return name == "\(information.st_dev):\(information.st_ino)"
    }
}
