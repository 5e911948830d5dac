/// All that was kept of what happened, oldest first.
package struct HistoryLog: Hashable, Sendable {
    package var entries: [HistoryEntry] = []
    /// The last sign of life of the daemon that wrote it, where that can be told.
    package var lastSeen: Timestamp?
    /// Records that could not be read: torn by a crash, or damaged.
    package var damaged = 0

    package init(entries: [HistoryEntry] = [], lastSeen: Timestamp? = nil, damaged: Int = 0) {
        self.entries = entries
        self.lastSeen = lastSeen
        self.damaged = damaged
    }

    /// The targets it tells of, in the order of their first appearance.
    package var targets: [String] {
        var known: Set<String> = []
        return entries.compactMap(\.target).filter { known.insert($0).inserted }
    }
}

/// Which part of a history is wanted.
package struct HistoryQuery: Hashable, Sendable {
    /// How far back from now; `nil` is all there is.
    package var since: Duration?
    /// `nil` is every target.
    package var target: String?

    package init(since: Duration? = nil, target: String? = nil) {
        self.since = since
        self.target = target
    }
}
