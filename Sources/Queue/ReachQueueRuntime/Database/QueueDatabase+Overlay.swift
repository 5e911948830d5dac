internal import ReachCore

/// Readers see the tables with what is pending, and write nothing: in a transaction that is never committed.
extension QueueDatabase {
    /// What a transaction counts, to go back to.
    struct Counters {
        var kept: KeptAccounts
        var doomed: [String]
        var finished: Int
        var lastEnd: Timestamp
        var lastID: Int64
        var leftOut: [String]
    }

    var counters: Counters {
        get {
            Counters(
                kept: kept, doomed: doomed, finished: finished, lastEnd: lastEnd, lastID: lastID, leftOut: leftOut)
        }
        set {
            (kept, doomed, finished) = (newValue.kept, newValue.doomed, newValue.finished)
            (lastEnd, lastID, leftOut) = (newValue.lastEnd, newValue.lastID, newValue.leftOut)
        }
    }

    /// Brings what is pending into the tables for whoever reads now, in memory alone. It stays so until something is written or
    /// ``endReading()`` is called.
    func beginReading() throws(SQLiteError) {
        guard !pending.isEmpty, countersBefore == nil else { return }
        // Otherwise what does not fit into SQLite's cache would go into its log.
        try database.execute("PRAGMA cache_spill = OFF")
        try statements.begin.run()
        countersBefore = counters
        do throws(SQLiteError) {
            try applyPending()
        } catch {
            endReading()
            throw error
        }
    }

    /// Whether ``beginReading()`` has brought something into the tables.
    var isReading: Bool { countersBefore != nil }

    func endReading() {
        guard let before = countersBefore else { return }
        countersBefore = nil
        if database.isInTransaction { try? database.execute("ROLLBACK") }
        try? database.execute("PRAGMA cache_spill = ON")
        counters = before
    }
}
