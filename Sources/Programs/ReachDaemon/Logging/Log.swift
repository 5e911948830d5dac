internal import Glibc
package import Logging
internal import ReachCore
internal import ReachLoop
internal import Synchronization

/// The daemon's log on standard error, which its ``logger`` writes to. Any thread may write; none waits for the reader.
///
/// Where the journal reads standard error, it gets the messages with their fields by its own socket, and only what that
/// refuses as lines.
package final class Log: Sendable {
    private struct State {
        var limiter = LogLimiter()
        var output: LogOutput
        var journal: JournalSocket?
    }

    private static let levels = Logger.Level.allCases

    private let format: LogFormat
    private let state: Mutex<State>
    /// The index of the level in ``levels``. It is atomic so that messages below the level cost no lock.
    private let place: Atomic<Int>

    /// - Parameters:
    ///   - level: Less severe messages are omitted.
    ///   - format: `nil` chooses the journal's format if `descriptor` is connected to the journal.
    ///   - journal: The path of the journal's socket; `nil` for the usual one, if `descriptor` is the journal's.
    package init(
        level: Logger.Level, format: LogFormat? = nil, descriptor: CInt = STDERR_FILENO, journal: String? = nil
    ) {
        let stream = Self.journalStream(descriptor)
        self.format = format ?? (stream == nil ? .plain : .journal)
        place = Atomic(Self.place(of: level))
        let path = journal ?? (format == nil && stream == .socket ? JournalSocket.usualPath : nil)
        let socket = path.flatMap { JournalSocket(path: $0) }
        state = Mutex(State(output: LogOutput(descriptor), journal: socket))
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
            for admitted in state.limiter.admit(message, at: now.boot) { write(admitted, now.wall, &state) }
        }
    }

    /// Writes the counts of suppressed messages. Call it at the end.
    package func finish() {
        state.withLock { state in
            let now = SystemClock.now.wall
            for message in state.limiter.drain() { write(message, now, &state) }
        }
    }

    private func write(_ message: LogMessage, _ time: Timestamp, _ state: inout State) {
        if state.journal?.send(message) == true { return }
        state.output.write(format.line(message, at: time)) { lost in
            let note = LogMessage(.warning, "log lines were lost", [LogMessage.Field("count", String(lost))])
            return format.line(note, at: time)
        }
    }

    private static func place(of level: Logger.Level) -> Int { levels.firstIndex(of: level) ?? 0 }

    private enum JournalStream { case socket, other }

    /// What the descriptor is, if it is the one that JOURNAL_STREAM names by device and inode (systemd.exec(5)).
    /// Programs with a redirected standard error inherit the variable, too.
    private static func journalStream(_ descriptor: CInt) -> JournalStream? {
        var information = stat()
        guard let name = getenv("JOURNAL_STREAM").map({ String(cString: $0) }), fstat(descriptor, &information) == 0,
            name == "\(information.st_dev):\(information.st_ino)"
        else { return nil }
        return information.st_mode & S_IFMT == S_IFSOCK ? .socket : .other
    }
}

/// Passes a logger's messages to the daemon's log.
struct JournalLogHandler: LogHandler {
    private let log: Log
    private var ownLevel: Logger.Level?
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?

    init(_ log: Log) { self.log = log }

    /// The logger's own level, or else the log's, which a reload of the configuration may change.
    var logLevel: Logger.Level {
        get { ownLevel ?? log.level }
        set { ownLevel = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        // The message's own come first, since the others are mostly empty.
        var all = event.metadata ?? [:]
        if let error = event.error { all.merge(["error": "\(error)"]) { own, _ in own } }
        all.merge(metadataProvider?.get() ?? [:]) { own, _ in own }
        all.merge(metadata) { own, _ in own }
        var message = LogMessage(event.level, event.message.description, Self.fields(all, besides: LoggedEvent.key))
        if case .dictionary(let fields) = all[LoggedEvent.key] {
            message.event = (fields[LoggedEvent.identifier]?.description).flatMap(LoggedEvent.init)
            message.journalFields = Self.fields(fields, besides: LoggedEvent.identifier)
        }
        log.write(message)
    }

    /// The fields that come first on a line. Metadata has no order; the others follow by name.
    private static let first = ["target", "status", "interface", "cause"]

    private static func fields(_ metadata: Logger.Metadata, besides left: String) -> [LogMessage.Field] {
        var ranked: [(rank: Int, field: LogMessage.Field)] = []
        ranked.reserveCapacity(metadata.count)
        for (key, value) in metadata where key != left {
            ranked.append((first.firstIndex(of: key) ?? first.count, LogMessage.Field(key, value.description)))
        }
        return ranked.sorted { ($0.rank, $0.field.key) < ($1.rank, $1.field.key) }.map(\.field)
    }
}
