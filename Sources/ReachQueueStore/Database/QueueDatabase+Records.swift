internal import ReachCore
internal import ReachQueue

/// What is kept of requests, for people who ask.
extension QueueDatabase {
    private static let columns = """
        SELECT id, method, url, headers, idempotency_key, accepted, output_path, body_bytes, owner, condition, priority,
            lifetime, order_key, unique_mode, unique_name, depends, strict, maximum_attempts, deadline_wall, attempts,
            network_failures, tries, not_before_wall
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
        let id = RequestID(rawValue: row.integer(0))
        guard let outcome = try outcome(of: id),
            var request = try? QueuedRequest(
                method: row.text(1) ?? "GET", url: row.text(2) ?? "",
                headers: RequestColumns.headers(row.text(3) ?? ""),
                constraint: (try? Constraint(row.text(9) ?? "any")) ?? .any, owner: UInt32(clamping: row.integer(8)))
        else { return nil }
        if let key = row.text(4) { request.idempotency = .key(key) }
        request.acceptedStatuses = RequestColumns.statuses(row.text(5) ?? "")
        request.outputPath = row.text(6)
        request.priority = RequestPriority(rawValue: UInt8(clamping: row.integer(10))) ?? .normal
        request.timeToLive = .nanoseconds(row.integer(11))
        request.orderKey = row.text(12)
        request.uniqueness = RequestColumns.uniqueness(row.text(13), row.text(14))
        request.dependsOnPrevious = row.flag(15)
        request.isStrict = row.flag(16)
        request.maximumAttempts = row.optionalInteger(17).map(Int.init)
        let deadline = row.integer(18)
        return RequestRecord(
            id: id, request: request, bodyBytes: row.integer(7),
            created: Timestamp(nanosecondsSince1970: deadline &- row.integer(11)),
            deadline: Timestamp(nanosecondsSince1970: deadline), attempts: Int(row.integer(19)),
            networkFailures: Int(row.integer(20)), tries: Int(row.integer(21)),
            notBefore: row.optionalInteger(22).map(Timestamp.init(nanosecondsSince1970:)), outcome: outcome)
    }
}
