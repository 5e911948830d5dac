/// All records of the history, oldest first.
package struct HistoryLog: Hashable, Sendable {
    package var entries: [HistoryEntry] = []
    /// The last sign of life of the daemon that wrote the records, if it is known.
    package var lastSeen: Timestamp?
    /// The number of records that could not be read, because they are incomplete or damaged.
    package var damaged = 0

    package init(entries: [HistoryEntry] = [], lastSeen: Timestamp? = nil, damaged: Int = 0) {
        self.entries = entries
        self.lastSeen = lastSeen
        self.damaged = damaged
    }

    /// The targets in the records, in the order of their first appearance.
    package var targets: [String] {
        var seen: Set<String> = []
        return entries.compactMap(\.target).filter { seen.insert($0).inserted }
    }
}

/// The part of a history to show.
package struct HistoryQuery: Hashable, Sendable {
    /// How far back from now; `nil` for all records.
    package var since: Duration?
    /// The target; `nil` for all targets.
    package var target: String?

    package init(since: Duration? = nil, target: String? = nil) {
        self.since = since
        self.target = target
    }
}
