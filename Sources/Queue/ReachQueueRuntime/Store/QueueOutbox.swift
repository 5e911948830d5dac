package import ReachQueue

/// Where the queue's file puts the events of its transactions, so that each is delivered once more after a crash until
/// its receiver has it safe.
///
/// An event is written with the transaction that caused it: both are in the file or neither is.
package struct QueueOutbox: Sendable {
    package struct Row: Hashable, Sendable {
        /// Larger than those of all rows before.
        package let number: Int64
        package let event: [UInt8]

        package init(number: Int64, event: [UInt8]) {
            self.number = number
            self.event = event
        }
    }

    let encode: @Sendable (QueueEvent) -> [UInt8]
    let deliver: @Sendable (_ rows: [Row], _ isRepeated: Bool) -> Void

    /// - Parameters:
    ///   - encode: Called on the store's thread.
    ///   - deliver: Called there with rows that are committed, in their order; repeated ones are of an earlier run,
    ///     which may have delivered them. Must not wait.
    package init(
        encode: @escaping @Sendable (QueueEvent) -> [UInt8],
        deliver: @escaping @Sendable (_ rows: [Row], _ isRepeated: Bool) -> Void
    ) {
        self.encode = encode
        self.deliver = deliver
    }
}

/// The table of events in the queue's file. It exists only where an outbox is wanted.
struct OutboxTable {
    private let outbox: QueueOutbox
    private let insert: SQLiteStatement
    private let trim: SQLiteStatement
    private let all: SQLiteStatement
    /// The number of the newest row, also of one in the change log.
    private var last: Int64 = 0

    /// Numbers are never given twice, so that a row that was trimmed is not taken for a new one.
    static let creation = """
        CREATE TABLE IF NOT EXISTS journal_event (number INTEGER PRIMARY KEY AUTOINCREMENT, event BLOB NOT NULL)
        """
    static let removal = "DROP TABLE IF EXISTS journal_event"

    init(_ outbox: QueueOutbox, in database: borrowing SQLiteDatabase) throws(SQLiteError) {
        self.outbox = outbox
        try database.execute(Self.creation)
        insert = try database.prepare("INSERT OR REPLACE INTO journal_event (number, event) VALUES (?, ?)")
        trim = try database.prepare("DELETE FROM journal_event WHERE number <= ?")
        all = try database.prepare("SELECT number, event FROM journal_event ORDER BY number")
        try findLast(in: database)
    }

    private static let largestNumber = Int64.max / 2

    /// Looks what the newest row in the tables is.
    private mutating func findLast(in database: borrowing SQLiteDatabase) throws(SQLiteError) {
        let given = try database.number("SELECT seq FROM sqlite_sequence WHERE name = 'journal_event'") ?? 0
        // A number near the end of the range is damage, and numbers must go on.
        last = min(max(given, try database.number("SELECT max(number) FROM journal_event") ?? 0), Self.largestNumber)
    }

    /// The rows of the events that report a change of what is kept, behind all others.
    ///
    /// - Parameter count: The number of rows that come before them, and are not delivered yet.
    func rows(of events: [QueueEvent], after count: Int) -> [QueueOutbox.Row] {
        var number = last + Int64(count)
        return events.lazy.filter(\.kind.isKept).map { event in
            number += 1
            return QueueOutbox.Row(number: number, event: outbox.encode(event))
        }
    }

    /// Numbers go on behind this one, also where its row is not in the table yet.
    mutating func skip(to number: Int64) { last = max(last, number) }

    /// Delivers rows that are in the change log.
    mutating func deliver(_ rows: [QueueOutbox.Row]) {
        last = rows.last?.number ?? last
        outbox.deliver(rows, false)
    }

    func write(_ number: Int64, _ event: SQLiteValue) throws(SQLiteError) { try insert.run(.integer(number), event) }

    /// Delivers what an earlier run left.
    func repeatAll() throws(SQLiteError) {
        var left: [QueueOutbox.Row] = []
        defer { all.reset() }
        while try all.step() { left.append(QueueOutbox.Row(number: all.integer(0), event: all.blob(1))) }
        if !left.isEmpty { outbox.deliver(left, true) }
    }

    func trim(upTo number: Int64) throws(SQLiteError) { try trim.run(.integer(number)) }
}
