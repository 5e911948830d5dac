internal import ReachCore
internal import ReachQueue

/// Nothing is kept that is no longer wanted, and no one's answers are pushed out by another's.
extension QueueDatabase {
    /// Removes what is too much of those owners who got something, and now and then what is too old.
    func prune() throws(SQLiteError) {
        for owner in fold.now.kept.claimOwnersOverLimit(options, slack: options.slack) {
            while fold.now.kept.mustShrink(owner, options) {
                var (left, ids): (KeptAccounts, [Int64]) = (fold.now.kept, [])
                try forEach(statements.kept.first, .integer(owner), .integer(Self.portion), .integer(0)) { row in
                    guard left.mustShrink(owner, options) else { return }
                    ids.append(row.integer(0))
                    left.remove(row.integer(1), of: owner)
                }
                if ids.isEmpty { break }
                try purge(ids)
            }
        }
        guard fold.now.finished >= options.slack else { return }
        fold.now.finished = 0
        try pruneOld(at: fold.now.lastEnd)
    }

    /// An owner's requests that go first, in that order.
    ///
    /// - Parameter offset: The number of those that are left out, because they have gone already.
    func firstKept(_ count: Int, of owner: UInt32, after offset: Int) throws(SQLiteError) -> [Int64] {
        var ids: [Int64] = []
        try forEach(statements.kept.first, .integer(owner), .integer(count), .integer(offset)) {
            ids.append($0.integer(0))
        }
        return ids
    }

    /// Removes what has been kept for long enough, a portion at a time.
    func pruneOld(at time: Timestamp) throws(SQLiteError) {
        let (end, overflow) = time.nanosecondsSince1970.subtractingReportingOverflow(
            options.results.lifetime.nanoseconds)
        guard !overflow else { return }
        var ids: [Int64] = []
        try forEach(statements.kept.old, .integer(end), .integer(Self.portion)) { ids.append($0.integer(0)) }
        try purge(ids)
    }

    /// Requests that are forgotten at a time.
    private static let portion = 256

    /// Removes requests and all that is kept of them. Mostly their numbers follow each other: then a statement removes
    /// many.
    func purge(_ ids: [Int64]) throws(SQLiteError) {
        for range in Self.ranges(of: ids) {
            let (first, last) = (SQLiteValue.integer(range.lowerBound), SQLiteValue.integer(range.upperBound))
            fold.now.filesToRemove += try names(statements.kept.fileNames, first, last)
            try forEach(statements.kept.bytes, first, last) { row in
                fold.now.kept.remove(row.integer(1), of: UInt32(clamping: row.integer(0)))
            }
            try statements.bodies.deleteAll.run(first, last)
            try statements.answers.deleteAll.run(first, last)
            try statements.requests.deleteAll.run(first, last)
        }
    }

    /// Numbers that follow each other, together.
    static func ranges(of ids: some Collection<Int64>) -> [ClosedRange<Int64>] {
        var ranges: [ClosedRange<Int64>] = []
        for id in ids.sorted() {
            if let last = ranges.last, id == last.upperBound || id - 1 == last.upperBound {
                ranges[ranges.count - 1] = last.lowerBound...id
            } else {
                ranges.append(id...id)
            }
        }
        return ranges
    }

    func names(_ statement: SQLiteStatement, _ parameters: SQLiteValue...) throws(SQLiteError) -> [String] {
        try statement.bind(parameters)
        defer { statement.reset() }
        var names: [String] = []
        while try statement.step() { if let name = statement.text(0) { names.append(name) } }
        return names
    }

    private func forEach(
        _ statement: SQLiteStatement, _ parameters: SQLiteValue..., read: (SQLiteStatement) -> Void
    ) throws(SQLiteError) {
        try statement.bind(parameters)
        defer { statement.reset() }
        while try statement.step() { read(statement) }
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
