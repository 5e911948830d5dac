internal import Logging

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
        var all = metadata
        all.merge(metadataProvider?.get() ?? [:]) { $1 }
        if let error = event.error { all["error"] = "\(error)" }
        all.merge(event.metadata ?? [:]) { $1 }
        log.write(LogMessage(event.level, event.message.description, Self.fields(all)))
    }

    /// The fields that come first on a line. Metadata has no order; the others follow by name.
    private static let first = ["target", "status", "interface", "cause"]

    private static func fields(_ metadata: Logger.Metadata) -> [LogMessage.Field] {
        guard metadata.count > 1 else { return metadata.map { LogMessage.Field($0.key, $0.value.description) } }
        let ranked = metadata.map { (rank: first.firstIndex(of: $0.key) ?? first.count, key: $0.key, value: $0.value) }
        return ranked.sorted { ($0.rank, $0.key) < ($1.rank, $1.key) }
            .map { LogMessage.Field($0.key, $0.value.description) }
    }
}
