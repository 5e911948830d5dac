internal import ReachQueue

/// The tables of the queue's file, and how an older file becomes a newer one.
struct QueueSchema: Sendable {
    /// Each brings the file from the version of its index to the next one.
    var migrations: [String] =
        [
            Self.first, Self.keptPerOwner, Self.ofPrograms, Self.sinceWhen, Self.ofUploads, Self.fewerPages,
            Self.ofAnswers, Self.moreInLog,
        ] + Self.ofTerms

    var version: Int64 { Int64(migrations.count) }

    /// The version of a file: 0 for a new one.
    ///
    /// - Throws: ``QueueStoreError/tooNew(version:known:)`` for the file of a newer program, which is left as it is.
    func version(of database: borrowing SQLiteDatabase) throws -> Int64 {
        let present = try database.number("PRAGMA user_version") ?? 0
        // No program will ever know that many versions: the number is damage.
        guard 0..<10_000 ~= present else { throw SQLiteError.corrupt("the file has version \(present)") }
        guard present <= version else { throw QueueStoreError.tooNew(version: present, known: version) }
        return present
    }

    /// Brings the file up to date, in one transaction.
    func prepare(_ database: borrowing SQLiteDatabase) throws {
        let present = try version(of: database)
        guard present < version else { return }
        try database.execute("BEGIN IMMEDIATE")
        do {
            for migration in migrations[Int(present)...] { try database.execute(migration) }
            try database.execute("PRAGMA user_version = \(version); COMMIT")
        } catch {
            try? database.execute("ROLLBACK")
            throw error
        }
    }

    /// Times are nanoseconds: `_wall` since 1970, `_boot` since the machine started, in the start that `boot` names.
    /// `outbox` and `cursor` were for readers of events; the second version removes them. ``OutboxTable`` is another.
    /// `state` is a ``RowState``. A request that is over has `over_wall`, and is kept for a while.
    private static let first = """
        CREATE TABLE boot (number INTEGER PRIMARY KEY, identity TEXT NOT NULL UNIQUE);
        CREATE TABLE request (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            state INTEGER NOT NULL,
            owner INTEGER NOT NULL,
            destination TEXT NOT NULL,
            condition TEXT NOT NULL,
            priority INTEGER NOT NULL,
            order_key TEXT,
            unique_mode TEXT,
            unique_name TEXT,
            depends INTEGER NOT NULL,
            strict INTEGER NOT NULL,
            repeatable INTEGER NOT NULL,
            maximum_attempts INTEGER,
            bytes INTEGER NOT NULL,
            lifetime INTEGER NOT NULL,
            deadline_wall INTEGER NOT NULL,
            deadline_boot INTEGER NOT NULL,
            boot INTEGER NOT NULL,
            attempts INTEGER NOT NULL DEFAULT 0,
            network_failures INTEGER NOT NULL DEFAULT 0,
            tries INTEGER NOT NULL DEFAULT 0,
            held INTEGER NOT NULL DEFAULT 0,
            network_failure INTEGER NOT NULL DEFAULT 0,
            not_before_wall INTEGER,
            not_before_boot INTEGER,
            not_before_in INTEGER,
            reason TEXT,
            over_wall INTEGER,
            lease_interface TEXT,
            lease_wall INTEGER,
            method TEXT NOT NULL,
            url TEXT NOT NULL,
            headers TEXT NOT NULL,
            idempotency_key TEXT,
            accepted TEXT NOT NULL,
            output_path TEXT,
            body_kind INTEGER NOT NULL,
            body_path TEXT,
            body_bytes INTEGER NOT NULL
        );
        CREATE INDEX request_over ON request (over_wall) WHERE over_wall IS NOT NULL;
        CREATE TABLE body (request INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
        CREATE TABLE result (
            request INTEGER PRIMARY KEY,
            status INTEGER NOT NULL,
            headers TEXT NOT NULL,
            body_kind INTEGER NOT NULL,
            body_path TEXT,
            body_bytes INTEGER NOT NULL,
            bytes BLOB
        );
        CREATE TABLE attempt (
            number INTEGER PRIMARY KEY,
            request INTEGER NOT NULL,
            attempt INTEGER NOT NULL,
            interface TEXT NOT NULL,
            started_wall INTEGER NOT NULL,
            outcome TEXT NOT NULL
        );
        CREATE INDEX attempt_request ON attempt (request);
        CREATE TABLE outbox (seq INTEGER PRIMARY KEY, event BLOB NOT NULL, dropped INTEGER NOT NULL DEFAULT 0,
            first_dropped INTEGER);
        CREATE TABLE cursor (sink TEXT PRIMARY KEY, seq INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE breaker (
            destination TEXT NOT NULL,
            interface TEXT NOT NULL,
            until_wall INTEGER NOT NULL,
            until_boot INTEGER NOT NULL,
            boot INTEGER NOT NULL,
            step INTEGER NOT NULL,
            PRIMARY KEY (destination, interface)
        ) WITHOUT ROWID;
        CREATE TABLE held_queue (owner INTEGER PRIMARY KEY);
        """

    /// What is kept of requests that are over counts for their owners: `kept` is its bytes, `seen` is 1 when the owner
    /// has read the answer to its end. `set_aside` has the rows of `request` that mean nothing, and the column at
    /// fault.
    private static let keptPerOwner = """
        DROP TABLE IF EXISTS outbox;
        DROP TABLE IF EXISTS cursor;
        ALTER TABLE request ADD COLUMN kept INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE request ADD COLUMN seen INTEGER NOT NULL DEFAULT 0;
        UPDATE request SET kept = \(keptBytes) WHERE over_wall IS NOT NULL;
        CREATE INDEX request_kept ON request (owner, seen DESC, over_wall) WHERE over_wall IS NOT NULL AND state != 3;
        CREATE TABLE set_aside AS SELECT *, '' AS problem, 0 AS aside_wall FROM request WHERE 0;
        """

    /// What programs say of their own requests: an interceptor's name, time limits (``AttemptTimeouts/text``), a tag,
    /// and whether they end a request instead of letting it wait for a path.
    private static let ofPrograms = ["request", "set_aside"].map { table in
        """
        ALTER TABLE \(table) ADD COLUMN interceptor TEXT;
        ALTER TABLE \(table) ADD COLUMN timeouts TEXT;
        ALTER TABLE \(table) ADD COLUMN tag TEXT;
        ALTER TABLE \(table) ADD COLUMN fails_offline INTEGER NOT NULL DEFAULT 0;
        """
    }.joined(separator: "\n")

    /// Since when a request waits that was sent before.
    private static let sinceWhen = ["request", "set_aside"].map { table in
        "ALTER TABLE \(table) ADD COLUMN waits_wall INTEGER;"
    }.joined(separator: "\n")

    /// The protocol by which an upload is resumed; NULL for none.
    private static let ofUploads = ["request", "set_aside"].map { table in
        "ALTER TABLE \(table) ADD COLUMN upload_protocol TEXT;"
    }.joined(separator: "\n")

    /// Whether redirects are followed, and whether the answer may come compressed; NULL for no.
    private static let ofAnswers = ["request", "set_aside"].map { table in
        """
        ALTER TABLE \(table) ADD COLUMN location INTEGER;
        ALTER TABLE \(table) ADD COLUMN compressed INTEGER;
        """
    }.joined(separator: "\n")

    /// What wrote pages that no one read goes: the rows of attempts, and an index that another one replaces.
    /// `change_log` has one row: the generation of the change log (``ChangeLogFile``) that is not in the tables.
    private static let fewerPages = """
        DROP TABLE IF EXISTS attempt;
        DROP INDEX IF EXISTS request_over;
        CREATE TABLE change_log (generation INTEGER NOT NULL);
        INSERT INTO change_log VALUES (abs(random() >> 1) + 1);
        """

    /// The columns of later terms, a migration for each version.
    private static let ofTerms: [String] = {
        let terms = RequestTerm.stored.filter { $0.version > 1 }
        guard let last = terms.map(\.version).max() else { return [] }
        return (9...last).map { version in
            let columns = terms.filter { $0.version == version }.flatMap { term in
                ["request", "set_aside"].map { table in
                    "ALTER TABLE \(table) ADD COLUMN \(term.column?.name ?? "") \(term.form.isNumber ? "INTEGER" : "TEXT");"
                }
            }
            return (columns + (tables[version].map { [$0] } ?? [])).joined(separator: "\n")
        }
    }()

    /// The tables that came with the columns of terms. `metered` has what each scope has moved over metered links in a
    /// period, whose first day is in days from 1970, in the period before, and the first day of a later period that was
    /// given. `carrier` is the request that has a request's body in its own.
    private static let tables: [Int: String] = [
        9: """
        CREATE TABLE metered (
            scope TEXT PRIMARY KEY,
            first INTEGER,
            bytes INTEGER NOT NULL,
            reported INTEGER NOT NULL,
            before_first INTEGER,
            before_bytes INTEGER,
            ahead INTEGER
        ) WITHOUT ROWID;
        """,
        10: """
        ALTER TABLE request ADD COLUMN carrier INTEGER;
        ALTER TABLE set_aside ADD COLUMN carrier INTEGER;
        CREATE INDEX request_carrier ON request (carrier) WHERE carrier IS NOT NULL;
        """,
    ]

    /// The tables stay as they are: the change log has kinds of changes (``LoggedChange/Kind``) that earlier versions
    /// do not know.
    private static let moreInLog = ""

    /// What a request that is over takes of its owner's room: its texts, its answer unless that is a file of the
    /// owner's, and rows. Of a dead request the answer alone: `bytes` has the rest.
    static let keptBytes = """
        CASE WHEN state = 3 THEN 0 ELSE length(url) + length(headers) + 256 END
            + coalesce((SELECT length(result.headers) + CASE WHEN result.body_kind IN (1, 3) THEN result.body_bytes
                ELSE 0 END FROM result WHERE result.request = request.id), 0)
        """
}
