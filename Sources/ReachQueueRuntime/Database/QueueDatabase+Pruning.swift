internal import ReachCore
internal import ReachQueue

/// Nothing is kept that is no longer wanted, and no one's answers are pushed out by another's.
extension QueueDatabase {
    /// Removes what is too much of those owners who got something, and now and then what is too old.
    func prune() throws(SQLiteError) {
        for owner in kept.claimOwnersOverLimit(options, slack: options.slack) {
            while kept.mustShrink(owner, options) {
                let ids = try numbers(statements.firstKept, .integer(owner), .integer(Self.portion))
                for id in ids where kept.mustShrink(owner, options) { try purge(id) }
                if ids.isEmpty { break }
            }
        }
        guard finished >= options.slack else { return }
        finished = 0
        try pruneOld(at: lastEnd)
    }

    /// Removes what has been kept for long enough, a portion at a time.
    func pruneOld(at time: Timestamp) throws(SQLiteError) {
        let (end, overflow) = time.nanosecondsSince1970.subtractingReportingOverflow(options.resultLifetime.nanoseconds)
        guard !overflow else { return }
        for id in try numbers(statements.oldKept, .integer(end), .integer(Self.portion)) { try purge(id) }
    }

    /// Requests that are forgotten at a time.
    private static let portion = 256

    func purge(_ id: Int64) throws(SQLiteError) {
        leases[RequestID(rawValue: id)] = nil
        doomed += try names(statements.spoolNames, .integer(id), .integer(id))
        if let (owner, bytes) = try statements.keptOf.first(.integer(id), read: { ($0.integer(0), $0.integer(1)) }) {
            kept.remove(bytes, of: UInt32(clamping: owner))
        }
        try statements.deleteBody.run(.integer(id))
        try statements.deleteResult.run(.integer(id))
        try statements.deleteRequest.run(.integer(id))
    }

    func names(_ statement: SQLiteStatement, _ parameters: SQLiteValue...) throws(SQLiteError) -> [String] {
        try statement.bind(parameters)
        defer { statement.reset() }
        var names: [String] = []
        while try statement.step() { if let name = statement.text(0) { names.append(name) } }
        return names
    }

    private func numbers(_ statement: SQLiteStatement, _ parameters: SQLiteValue...) throws(SQLiteError) -> [Int64] {
        try statement.bind(parameters)
        defer { statement.reset() }
        var numbers: [Int64] = []
        while try statement.step() { numbers.append(statement.integer(0)) }
        return numbers
    }

    /// What the file says of each owner.
    func readKept() throws(SQLiteError) -> KeptAccounts {
        var kept = KeptAccounts()
        // Rows that mean nothing may be among them: a sum could be too large for SQLite.
        let rows = try database.prepare(
            """
            SELECT owner, count(*), CAST(min(total(kept), 4e18) AS INTEGER) FROM request
            WHERE over_wall IS NOT NULL AND state != 3 GROUP BY owner
            """)
        while try rows.step() {
            kept.add(rows.integer(2), count: Int(clamping: rows.integer(1)), of: UInt32(clamping: rows.integer(0)))
        }
        return kept
    }
}
