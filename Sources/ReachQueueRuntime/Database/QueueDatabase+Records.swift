internal import ReachCore
internal import ReachQueue

/// What is kept of requests, for people who ask.
extension QueueDatabase {
    private static let columns = """
        SELECT \(RequestColumns.specification), id, deadline_wall, attempts, network_failures, tries, not_before_wall
        FROM request
        """

    func record(of id: RequestID) throws(SQLiteError) -> RequestRecord? {
        let rows = try database.prepare(Self.columns + " WHERE id = ?")
        try rows.bind([.integer(id.rawValue)])
        guard try rows.step() else { return nil }
        return try record(rows)
    }

    func records(_ query: RecordQuery) throws(SQLiteError) -> [RequestRecord] {
        let rows = try database.prepare(
            Self.columns
                + " WHERE id > ?1 AND (?2 IS NULL OR owner = ?2) AND (?3 IS NULL OR ?3 = (state >= 2)) ORDER BY id LIMIT ?4"
        )
        try rows.bind([
            .integer(query.after), .optional(query.owner), .optional(query.isOver.map { $0 ? 1 : 0 }),
            .integer(query.limit),
        ])
        var found: [RequestRecord] = []
        while try rows.step() { if let record = try record(rows) { found.append(record) } }
        return found
    }

    /// - Returns: `nil` where what is kept cannot be understood.
    private func record(_ row: borrowing SQLiteStatement) throws(SQLiteError) -> RequestRecord? {
        let id = RequestID(rawValue: row.integer(20))
        guard let outcome = try outcome(of: id) else { return nil }
        let deadline = row.integer(21)
        return RequestRecord(
            id: id, request: queuedRequest(row), bodyBytes: row.integer(8),
            created: Timestamp(nanosecondsSince1970: deadline &- row.integer(12)),
            deadline: Timestamp(nanosecondsSince1970: deadline), attempts: Int(row.integer(22)),
            networkFailures: Int(row.integer(23)), tries: Int(row.integer(24)),
            notBefore: row.optionalInteger(25).map(Timestamp.init(nanosecondsSince1970:)), outcome: outcome)
    }
}
