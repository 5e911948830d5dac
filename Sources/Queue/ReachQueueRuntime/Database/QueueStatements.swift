/// The statements that are used again and again, prepared once.
struct QueueStatements {
    let begin: SQLiteStatement
    let beginReading: SQLiteStatement
    let commit: SQLiteStatement
    let insert: SQLiteStatement
    let insertBody: SQLiteStatement
    let lease: SQLiteStatement
    let update: SQLiteStatement
    let finish: SQLiteStatement
    /// Owner, the length of its texts, and kind and path of its body.
    let facts: SQLiteStatement
    let setGeneration: SQLiteStatement
    /// The largest number that was given, where no request was in the table yet; and a larger one.
    let beginNumbers: SQLiteStatement
    let raiseNumber: SQLiteStatement
    let hold: SQLiteStatement
    let setDeadline: SQLiteStatement
    let insertResult: SQLiteStatement
    let deleteBody: SQLiteStatement
    let deleteResult: SQLiteStatement
    /// Of the requests from a number to another one.
    let deleteBodies: SQLiteStatement
    let deleteResults: SQLiteStatement
    let deleteRequests: SQLiteStatement
    let forgetBody: SQLiteStatement
    let markRead: SQLiteStatement
    /// Owner and bytes of the requests that are over and not dead, and all spool files, from a number to another one.
    let keptOf: SQLiteStatement
    let spoolNames: SQLiteStatement
    let answerName: SQLiteStatement
    /// What of an owner's goes first, and its bytes: what was read, and then the oldest.
    let firstKept: SQLiteStatement
    let oldKept: SQLiteStatement
    let openBreaker: SQLiteStatement
    let closeBreaker: SQLiteStatement
    let setCarrier: SQLiteStatement
    let setMetered: SQLiteStatement
    let removeMetered: SQLiteStatement
    let holdQueue: SQLiteStatement
    let releaseQueue: SQLiteStatement
    /// What is to be sent of the requests from a number to another one.
    let specifications: SQLiteStatement
    let body: SQLiteStatement
    /// A request with its answer, and a page of requests without the bytes of answers.
    let report: SQLiteStatement
    let page: SQLiteStatement

    /// - Throws: ``SQLiteError/corrupt(_:)`` also where the tables are not those of the file's version.
    init(checking database: borrowing SQLiteDatabase) throws(SQLiteError) {
        do throws(SQLiteError) {
            self = try QueueStatements(database)
        } catch {
            guard case .failed(let reason) = error else { throw error }
            throw .corrupt("its tables are not those of its version: \(reason)")
        }
    }

    private init(_ database: borrowing SQLiteDatabase) throws(SQLiteError) {
        begin = try database.prepare("BEGIN IMMEDIATE")
        beginReading = try database.prepare("BEGIN")
        commit = try database.prepare("COMMIT")
        insert = try database.prepare(NewRow.writer.insertion)
        insertBody = try database.prepare("INSERT INTO body (request, bytes) VALUES (?, ?)")
        lease = try database.prepare(
            "UPDATE request SET state = 1, tries = ?, lease_interface = ?, lease_wall = ? WHERE id = ?")
        update = try database.prepare(ChangedRow.writer.update())
        finish = try database.prepare(ChangedRow.writer.update("kept = ?"))
        facts = try database.prepare(
            "SELECT owner, length(url) + length(headers), body_kind, body_path FROM request WHERE id = ?")
        setGeneration = try database.prepare("UPDATE change_log SET generation = ?")
        beginNumbers = try database.prepare(
            """
            INSERT INTO sqlite_sequence (name, seq)
            SELECT 'request', 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'request')
            """)
        raiseNumber = try database.prepare("UPDATE sqlite_sequence SET seq = ?1 WHERE name = 'request' AND seq < ?1")
        hold = try database.prepare("UPDATE request SET held = ? WHERE id = ?")
        setDeadline = try database.prepare(
            "UPDATE request SET deadline_wall = ?, deadline_boot = ?, boot = ?, carrier = NULL WHERE id = ?")
        insertResult = try database.prepare(
            """
            INSERT OR REPLACE INTO result (request, status, headers, body_kind, body_path, body_bytes, bytes)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """)
        deleteBody = try database.prepare("DELETE FROM body WHERE request = ?")
        deleteResult = try database.prepare("DELETE FROM result WHERE request = ?")
        deleteBodies = try database.prepare("DELETE FROM body WHERE request BETWEEN ? AND ?")
        deleteResults = try database.prepare("DELETE FROM result WHERE request BETWEEN ? AND ?")
        deleteRequests = try database.prepare("DELETE FROM request WHERE id BETWEEN ? AND ?")
        forgetBody = try database.prepare("UPDATE request SET body_kind = 0, body_path = NULL WHERE id = ?")
        markRead = try database.prepare(
            "UPDATE request SET seen = 1 WHERE id = ? AND over_wall IS NOT NULL AND seen = 0")
        keptOf = try database.prepare(
            """
            SELECT owner, kept FROM request NOT INDEXED
            WHERE id BETWEEN ? AND ? AND over_wall IS NOT NULL AND state != 3
            """)
        spoolNames = try database.prepare(
            """
            SELECT body_path FROM request WHERE id BETWEEN ?1 AND ?2 AND body_kind = 3
            UNION ALL SELECT body_path FROM result WHERE request BETWEEN ?1 AND ?2 AND body_kind = 3
            """)
        answerName = try database.prepare("SELECT body_path FROM result WHERE request = ? AND body_kind = 3")
        // The dead are the scheduler's to forget: it may be asked to send them again.
        firstKept = try database.prepare(
            """
            SELECT id, kept FROM request WHERE owner = ? AND over_wall IS NOT NULL AND state != 3
            ORDER BY seen DESC, over_wall, id LIMIT ? OFFSET ?
            """)
        oldKept = try database.prepare(
            """
            SELECT id FROM request INDEXED BY request_kept
            WHERE over_wall IS NOT NULL AND state != 3 AND over_wall < ? LIMIT ?
            """)
        openBreaker = try database.prepare(
            """
            INSERT OR REPLACE INTO breaker (destination, interface, until_wall, until_boot, boot, step)
            VALUES (?, ?, ?, ?, ?, ?)
            """)
        closeBreaker = try database.prepare("DELETE FROM breaker WHERE destination = ? AND interface = ?")
        setCarrier = try database.prepare("UPDATE request SET carrier = ? WHERE id = ?")
        setMetered = try database.prepare("INSERT OR REPLACE INTO metered VALUES (?, ?, ?, ?, ?, ?, ?)")
        removeMetered = try database.prepare("DELETE FROM metered WHERE scope = ?")
        holdQueue = try database.prepare("INSERT OR IGNORE INTO held_queue (owner) VALUES (?)")
        releaseQueue = try database.prepare("DELETE FROM held_queue WHERE owner = ?")
        specifications = try database.prepare(
            "SELECT \(RequestColumn.specificationList) FROM request WHERE id BETWEEN ? AND ?")
        body = try database.prepare("SELECT bytes FROM body WHERE request = ?")
        report = try database.prepare(Self.reports(answer: "result.bytes", "WHERE request.id = ?"))
        page = try database.prepare(
            Self.reports(
                answer: "NULL",
                """
                WHERE request.id > ?1 AND (?2 IS NULL OR owner = ?2) AND (?3 IS NULL OR ?3 = (state >= 2))
                ORDER BY request.id LIMIT ?4
                """))
    }

    private static func reports(answer: String, _ filter: String) -> String {
        """
        SELECT \(RequestColumn.list), result.status, result.headers, result.body_kind, result.body_path,
            result.body_bytes, \(answer)
        FROM request LEFT JOIN result ON result.request = request.id \(filter)
        """
    }
}
