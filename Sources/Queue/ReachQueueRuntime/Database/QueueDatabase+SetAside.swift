internal import ReachCore
internal import ReachQueue

/// Rows of the file that could not be used, moved where an administrator finds them.
package struct RowsSetAside: Hashable, Sendable {
    package var count = 0
    /// The first few: number and column.
    package var examples: [String] = []
}

extension QueueDatabase {
    /// Moves rows that mean nothing from `request` to `set_aside`, with the name of the column at fault. Their bodies
    /// and spool files stay; breakers and holds that mean nothing are dropped.
    ///
    /// - Parameter looksAtRequests: False where ``portion(from:limit:at:_:)`` looks at the rows of requests later.
    func setAsideImplausibleRows(at now: Timestamp, looksAtRequests: Bool = true) throws(SQLiteError) -> RowsSetAside {
        var aside = RowsSetAside()
        try inTransaction { () throws(SQLiteError) in
            if looksAtRequests { try setAsideRequests(at: now, &aside) }
            let results = try database.prepare(
                """
                SELECT request, 'result.' || \(RowRules.resultProblem) AS problem FROM result WHERE problem IS NOT NULL
                LIMIT 1000
                """)
            while case let found = try problems(results), !found.isEmpty { try setAside(found, at: now, &aside) }
            try database.execute(
                """
                DELETE FROM breaker WHERE NOT (\(RowRules.breakerIsGood));
                DELETE FROM held_queue WHERE NOT (\(RowRules.heldQueueIsGood));
                """)
            try repairNumbers(at: now)
        }
        return aside
    }

    /// In portions, so that a file full of them needs no memory.
    private func setAsideRequests(at now: Timestamp, _ aside: inout RowsSetAside) throws(SQLiteError) {
        let rows = try database.prepare("SELECT \(RequestColumn.list) FROM request WHERE id >= ? ORDER BY id")
        let judge = try requestJudge()
        var next = Int64.min
        while true {
            var doubtful: [Int64] = []
            try rows.bind([.integer(next)])
            while doubtful.count < 1000, try rows.step() {
                if !RowRules.isEvidentlyGood(rows) { doubtful.append(rows.integer(.id)) }
            }
            rows.reset()
            guard let last = doubtful.last else { return }
            var found: [Problem] = []
            for id in doubtful { found += try problems(judge, .integer(id)) }
            try setAside(found, at: now, &aside)
            guard last < .max else { return }
            next = last + 1
        }
    }

    private func requestJudge() throws(SQLiteError) -> SQLiteStatement {
        try database.prepare(
            "SELECT id, \(RowRules.problem) AS problem FROM request WHERE id = ? AND problem IS NOT NULL")
    }

    /// Moves those of some rows of requests that mean nothing.
    ///
    /// - Returns: Their numbers.
    func setAsideProblems(
        among ids: [Int64], at now: Timestamp, _ aside: inout RowsSetAside
    ) throws(SQLiteError) -> Set<Int64> {
        let judge = try requestJudge()
        var found: [Problem] = []
        for id in ids { found += try problems(judge, .integer(id)) }
        guard !found.isEmpty else { return [] }
        unfold()
        try inTransaction { () throws(SQLiteError) in try setAside(found, at: now, &aside) }
        return Set(found.map(\.id))
    }

    private func inTransaction(_ body: () throws(SQLiteError) -> Void) throws(SQLiteError) {
        try database.execute("BEGIN IMMEDIATE")
        do throws(SQLiteError) {
            try body()
            try database.execute("COMMIT")
        } catch {
            if database.isInTransaction { try? database.execute("ROLLBACK") }
            throw error
        }
    }

    /// A row's number, and the column that is not as it has to be.
    private typealias Problem = (id: Int64, column: String)

    private func problems(_ query: SQLiteStatement, _ parameters: SQLiteValue...) throws(SQLiteError) -> [Problem] {
        var found: [Problem] = []
        try query.bind(parameters)
        while try query.step() { found.append((query.integer(0), query.text(1) ?? "")) }
        query.reset()
        return found
    }

    private func setAside(_ found: [Problem], at now: Timestamp, _ aside: inout RowsSetAside) throws(SQLiteError) {
        if found.isEmpty { return }
        // A later version of the file may have columns that the table of old rows lacks.
        let columns =
            try database.text(
                """
                SELECT group_concat(name, ', ') FROM pragma_table_info('request')
                WHERE name IN (SELECT name FROM pragma_table_info('set_aside'))
                """) ?? "id"
        let copy = try database.prepare(
            "INSERT INTO set_aside (\(columns), problem, aside_wall) SELECT \(columns), ?, ? FROM request WHERE id = ?")
        let drop = try database.prepare("DELETE FROM request WHERE id = ?")
        let dropResult = try database.prepare("DELETE FROM result WHERE request = ?")
        for (id, column) in found {
            try copy.run(.text(column), .integer(now.nanosecondsSince1970), .integer(id))
            try drop.run(.integer(id))
            if column.hasUTF8Prefix("result.") { try dropResult.run(.integer(id)) }
            if aside.examples.count < 3 { aside.examples.append("\(id) (\(column))") }
        }
        aside.count += found.count
    }

    /// The next number is larger than any that was given, or than any that can have been.
    private func repairNumbers(at now: Timestamp) throws(SQLiteError) {
        let good = try database.number(
            """
            SELECT count(*) FROM sqlite_sequence WHERE name = 'request' AND typeof(seq) = 'integer'
                AND seq BETWEEN 0 AND \(RowRules.numbers.upperBound)
            """)
        let rows = try database.number("SELECT count(*) FROM sqlite_sequence WHERE name = 'request'")
        if rows == 0, try database.number("SELECT count(*) FROM request") == 0 { return }
        if rows == 1, good == 1 { return }
        let next = max(try lastRow(), now.nanosecondsSince1970 / 1_000_000_000)
        try database.execute(
            """
            DELETE FROM sqlite_sequence WHERE name = 'request';
            INSERT INTO sqlite_sequence (name, seq) VALUES ('request', \(next));
            """)
    }
}
