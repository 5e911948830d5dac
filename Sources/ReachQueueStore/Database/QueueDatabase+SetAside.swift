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
    func setAsideImplausibleRows(at now: Timestamp) throws(SQLiteError) -> RowsSetAside {
        var aside = RowsSetAside()
        try database.execute("BEGIN IMMEDIATE")
        do throws(SQLiteError) {
            try setAside(
                "SELECT id, \(RowRules.problem) AS problem FROM request WHERE problem IS NOT NULL", at: now, &aside)
            try setAside(
                """
                SELECT request, 'result.' || \(RowRules.resultProblem) AS problem FROM result WHERE problem IS NOT NULL
                """, at: now, &aside)
            try database.execute(
                """
                DELETE FROM breaker WHERE NOT (\(RowRules.breakerIsGood));
                DELETE FROM held_queue WHERE NOT (\(RowRules.heldQueueIsGood));
                """)
            try repairNumbers(at: now)
            try database.execute("COMMIT")
        } catch {
            if database.isInTransaction { try? database.execute("ROLLBACK") }
            throw error
        }
        return aside
    }

    /// In portions, so that a file full of them needs no memory.
    private func setAside(_ query: String, at now: Timestamp, _ aside: inout RowsSetAside) throws(SQLiteError) {
        let find = try database.prepare(query + " LIMIT 1000")
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
        while true {
            var found: [(id: Int64, problem: String)] = []
            try find.bind([])
            while try find.step() { found.append((find.integer(0), find.text(1) ?? "")) }
            find.reset()
            if found.isEmpty { return }
            for (id, problem) in found {
                try copy.run(.text(problem), .integer(now.nanosecondsSince1970), .integer(id))
                try drop.run(.integer(id))
                if problem.hasPrefix("result.") { try dropResult.run(.integer(id)) }
                if aside.examples.count < 3 { aside.examples.append("\(id) (\(problem))") }
            }
            aside.count += found.count
        }
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
        let largest = try database.number("SELECT coalesce(max(id), 0) FROM request") ?? 0
        let next = max(largest, now.nanosecondsSince1970 / 1_000_000_000)
        try database.execute(
            """
            DELETE FROM sqlite_sequence WHERE name = 'request';
            INSERT INTO sqlite_sequence (name, seq) VALUES ('request', \(next));
            """)
    }
}
