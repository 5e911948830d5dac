/// The statements that are used again and again, prepared once.
struct QueueStatements {
    let transactions: Transactions
    let requests: Requests
    let bodies: Bodies
    let answers: Answers
    let kept: Kept
    let others: Others
    let reading: Reading

    /// - Throws: ``SQLiteError/corrupt(_:)`` also where the tables are not those of the file's version.
    init(checking database: borrowing SQLiteDatabase) throws(SQLiteError) {
        do throws(SQLiteError) {
            transactions = try Transactions(database)
            requests = try Requests(database)
            bodies = try Bodies(database)
            answers = try Answers(database)
            kept = try Kept(database)
            others = try Others(database)
            reading = try Reading(database)
        } catch {
            guard case .failed(let reason) = error else { throw error }
            throw .corrupt("its tables are not those of its version: \(reason)")
        }
    }
}

extension QueueStatements {
    /// Transactions, and the facts of the file that they keep.
    struct Transactions {
        let begin: SQLiteStatement
        let beginReading: SQLiteStatement
        let commit: SQLiteStatement
        let setGeneration: SQLiteStatement
        /// The largest number that was given, where no request was in the table yet; and a larger one.
        let beginNumbers: SQLiteStatement
        let raiseNumber: SQLiteStatement

        init(_ database: borrowing SQLiteDatabase) throws(SQLiteError) {
            begin = try database.prepare("BEGIN IMMEDIATE")
            beginReading = try database.prepare("BEGIN")
            commit = try database.prepare("COMMIT")
            setGeneration = try database.prepare("UPDATE change_log SET generation = ?")
            beginNumbers = try database.prepare(
                """
                INSERT INTO sqlite_sequence (name, seq)
                SELECT 'request', 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'request')
                """)
            raiseNumber = try database.prepare(
                "UPDATE sqlite_sequence SET seq = ?1 WHERE name = 'request' AND seq < ?1")
        }
    }
}

extension QueueStatements {
    /// A request's row.
    struct Requests {
        let insert: SQLiteStatement
        let lease: SQLiteStatement
        let update: SQLiteStatement
        let finish: SQLiteStatement
        /// Owner, the length of its texts, and kind and path of its body.
        let facts: SQLiteStatement
        let hold: SQLiteStatement
        let setDeadline: SQLiteStatement
        let setCarrier: SQLiteStatement
        let markRead: SQLiteStatement
        let forgetBody: SQLiteStatement
        /// Of the requests from a number to another one.
        let deleteAll: SQLiteStatement

        init(_ database: borrowing SQLiteDatabase) throws(SQLiteError) {
            insert = try database.prepare(NewRow.writer.insertion)
            lease = try database.prepare(
                "UPDATE request SET state = 1, tries = ?, lease_interface = ?, lease_wall = ? WHERE id = ?")
            update = try database.prepare(ChangedRow.writer.update())
            finish = try database.prepare(ChangedRow.writer.update("kept = ?"))
            facts = try database.prepare(
                "SELECT owner, length(url) + length(headers), body_kind, body_path FROM request WHERE id = ?")
            hold = try database.prepare("UPDATE request SET held = ? WHERE id = ?")
            setDeadline = try database.prepare(
                "UPDATE request SET deadline_wall = ?, deadline_boot = ?, boot = ?, carrier = NULL WHERE id = ?")
            setCarrier = try database.prepare("UPDATE request SET carrier = ? WHERE id = ?")
            markRead = try database.prepare(
                "UPDATE request SET seen = 1 WHERE id = ? AND over_wall IS NOT NULL AND seen = 0")
            forgetBody = try database.prepare("UPDATE request SET body_kind = 0, body_path = NULL WHERE id = ?")
            deleteAll = try database.prepare("DELETE FROM request WHERE id BETWEEN ? AND ?")
        }
    }
}

extension QueueStatements {
    /// What requests send.
    struct Bodies {
        let insert: SQLiteStatement
        let delete: SQLiteStatement
        /// Of the requests from a number to another one.
        let deleteAll: SQLiteStatement
        let bytes: SQLiteStatement

        init(_ database: borrowing SQLiteDatabase) throws(SQLiteError) {
            insert = try database.prepare("INSERT INTO body (request, bytes) VALUES (?, ?)")
            delete = try database.prepare("DELETE FROM body WHERE request = ?")
            deleteAll = try database.prepare("DELETE FROM body WHERE request BETWEEN ? AND ?")
            bytes = try database.prepare("SELECT bytes FROM body WHERE request = ?")
        }
    }
}

extension QueueStatements {
    /// What requests got.
    struct Answers {
        let insert: SQLiteStatement
        let delete: SQLiteStatement
        /// Of the requests from a number to another one.
        let deleteAll: SQLiteStatement
        let fileName: SQLiteStatement

        init(_ database: borrowing SQLiteDatabase) throws(SQLiteError) {
            insert = try database.prepare(
                """
                INSERT OR REPLACE INTO result (request, status, headers, body_kind, body_path, body_bytes, bytes)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """)
            delete = try database.prepare("DELETE FROM result WHERE request = ?")
            deleteAll = try database.prepare("DELETE FROM result WHERE request BETWEEN ? AND ?")
            fileName = try database.prepare("SELECT body_path FROM result WHERE request = ? AND body_kind = 3")
        }
    }
}

extension QueueStatements {
    /// What is kept of requests that are over.
    struct Kept {
        /// Owner and bytes of the requests that are over and not dead, and all spool files, from a number to another
        /// one.
        let bytes: SQLiteStatement
        let fileNames: SQLiteStatement
        /// What of an owner's goes first, and its bytes: what was read, and then the oldest.
        let first: SQLiteStatement
        let old: SQLiteStatement

        init(_ database: borrowing SQLiteDatabase) throws(SQLiteError) {
            bytes = try database.prepare(
                """
                SELECT owner, kept FROM request NOT INDEXED
                WHERE id BETWEEN ? AND ? AND over_wall IS NOT NULL AND state != 3
                """)
            fileNames = try database.prepare(
                """
                SELECT body_path FROM request WHERE id BETWEEN ?1 AND ?2 AND body_kind = 3
                UNION ALL SELECT body_path FROM result WHERE request BETWEEN ?1 AND ?2 AND body_kind = 3
                """)
            // The dead are the scheduler's to forget: it may be asked to send them again.
            first = try database.prepare(
                """
                SELECT id, kept FROM request WHERE owner = ? AND over_wall IS NOT NULL AND state != 3
                ORDER BY seen DESC, over_wall, id LIMIT ? OFFSET ?
                """)
            old = try database.prepare(
                """
                SELECT id FROM request INDEXED BY request_kept
                WHERE over_wall IS NOT NULL AND state != 3 AND over_wall < ? LIMIT ?
                """)
        }
    }
}

extension QueueStatements {
    /// What outlasts a restart besides requests.
    struct Others {
        let openBreaker: SQLiteStatement
        let closeBreaker: SQLiteStatement
        let setMetered: SQLiteStatement
        let removeMetered: SQLiteStatement
        let holdQueue: SQLiteStatement
        let releaseQueue: SQLiteStatement

        init(_ database: borrowing SQLiteDatabase) throws(SQLiteError) {
            openBreaker = try database.prepare(
                """
                INSERT OR REPLACE INTO breaker (destination, interface, until_wall, until_boot, boot, step)
                VALUES (?, ?, ?, ?, ?, ?)
                """)
            closeBreaker = try database.prepare("DELETE FROM breaker WHERE destination = ? AND interface = ?")
            setMetered = try database.prepare("INSERT OR REPLACE INTO metered VALUES (?, ?, ?, ?, ?, ?, ?)")
            removeMetered = try database.prepare("DELETE FROM metered WHERE scope = ?")
            holdQueue = try database.prepare("INSERT OR IGNORE INTO held_queue (owner) VALUES (?)")
            releaseQueue = try database.prepare("DELETE FROM held_queue WHERE owner = ?")
        }
    }
}

extension QueueStatements {
    /// What is read of requests.
    struct Reading {
        /// What is to be sent of the requests from a number to another one.
        let specifications: SQLiteStatement
        /// A request with its answer, and a page of requests without the bytes of answers.
        let report: SQLiteStatement
        let page: SQLiteStatement

        init(_ database: borrowing SQLiteDatabase) throws(SQLiteError) {
            specifications = try database.prepare(
                "SELECT \(RequestColumn.specificationList) FROM request WHERE id BETWEEN ? AND ?")
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
}
