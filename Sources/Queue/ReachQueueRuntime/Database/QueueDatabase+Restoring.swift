internal import ReachCore
internal import ReachQueue

/// A file with many requests is read in portions, so that others are served in between.
extension QueueDatabase {
    /// How many rows of requests there are. Without a condition SQLite counts without reading rows.
    func rowCount() throws(SQLiteError) -> Int {
        Int(clamping: try database.number("SELECT count(*) FROM request") ?? 0)
    }

    /// All that goes on but the requests, and how many of these each owner has.
    func contentsBeforeRequests(at now: Instant) throws(SQLiteError) -> StoreContents {
        var contents = try contentsBesideRequests(at: now)
        // Rows that mean nothing are not counted, or are taken off when all others are restored.
        let rows = try database.prepare(
            """
            SELECT owner, count(*), CAST(min(total(bytes), 4e18) AS INTEGER) FROM request
            WHERE state IN (0, 1) AND typeof(owner) = 'integer' AND owner BETWEEN 0 AND \(UInt32.max)
                AND typeof(bytes) = 'integer' AND bytes >= 0
            GROUP BY owner
            """)
        var shares: [UInt32: ExpectedRequests.Share] = [:]
        while try rows.step() {
            shares[UInt32(clamping: rows.integer(0))] = .init(count: Int(rows.integer(1)), bytes: rows.integer(2))
        }
        contents.expected = ExpectedRequests(shares: shares, total: try rowCount())
        return contents
    }

    /// Whether a request will still be sent.
    func isOpen(_ id: RequestID) throws(SQLiteError) -> Bool {
        try foldPending()
        let row = try database.prepare("SELECT state IN (0, 1) FROM request WHERE id = ?")
        return try row.first(.integer(id.rawValue)) { $0.integer(0) == 1 } ?? false
    }

    struct Portion {
        var requests: [StoredRequest] = []
        /// The number at which the next portion begins; `nil` after the last.
        var next: Int64?
    }

    /// The requests of some rows that are not over, or dead, in the order of their numbers. Rows that mean nothing are
    /// set aside.
    ///
    /// - Parameters:
    ///   - first: The least number.
    ///   - limit: How many rows are read.
    ///   - now: What times of an earlier start of the machine are measured against.
    func portion(
        from first: Int64, limit: Int, at now: Instant, _ aside: inout RowsSetAside
    ) throws(SQLiteError) -> Portion {
        try foldPending()
        let rows = try database.prepare("SELECT \(RequestColumn.list) FROM request WHERE id >= ? ORDER BY id LIMIT ?")
        try rows.bind([.integer(first), .integer(limit)])
        var portion = Portion()
        var doubtful: [Int64] = []
        var (count, last) = (0, first)
        portion.requests.reserveCapacity(limit)
        while try rows.step() {
            count += 1
            last = rows.integer(.id)
            if RowRules.isEvidentlyGood(rows) {
                portion.requests.append(storedRequest(rows, at: now))
            } else {
                doubtful.append(last)
            }
        }
        rows.reset()
        if count == limit, last < .max { portion.next = last + 1 }
        guard !doubtful.isEmpty else { return portion }
        let bad = try setAsideProblems(among: doubtful, at: now.wall, &aside)
        portion.requests += try storedRequests(doubtful.filter { !bad.contains($0) }, at: now)
        portion.requests.sort { $0.id < $1.id }
        return portion
    }

    private func storedRequests(_ ids: [Int64], at now: Instant) throws(SQLiteError) -> [StoredRequest] {
        try foldPending()
        let row = try database.prepare(
            "SELECT \(RequestColumn.schedulingList) FROM request WHERE id = ? AND state IN (0, 1, 3)")
        var requests: [StoredRequest] = []
        for id in ids {
            if let request = try row.first(.integer(id), read: { storedRequest($0, at: now) }) {
                requests.append(request)
            }
        }
        return requests
    }
}
