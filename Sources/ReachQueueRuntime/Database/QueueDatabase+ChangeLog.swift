internal import Glibc
internal import ReachCore
internal import ReachQueue

/// What has to be known of a request when it ends.
struct RequestFacts {
    let owner: UInt32
    /// What it will take of its owner's room, without its answer.
    let keptBytes: Int64
    /// The spool file of its body.
    let bodyName: String?

    /// What a request that is over takes beside its texts.
    static let rowBytes: Int64 = 256

    init(owner: UInt32, texts: Int64, bodyName: String?) {
        self.owner = owner
        keptBytes = texts + Self.rowBytes
        self.bodyName = bodyName
    }

    init(_ request: QueuedRequest) {
        let texts = request.headers.reduce(request.url.utf8.count) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
        var name: String?
        if case .spooled(let file, _) = request.body { name = file }
        self.init(owner: request.owner, texts: Int64(texts), bodyName: name)
    }
}

/// The way of a change: a record of the change log first, and with many others into the tables. Whoever reads sees both.
extension QueueDatabase {
    /// Writes transactions as one record of the change log.
    ///
    /// - Returns: `nil` if they have to go into the tables: what is seldom, what the tables may reject, and what the log has no
    ///   room for.
    func log(_ transactions: [StoreTransaction], at point: (StorePoint, [StoreTransaction]) -> Void) -> [StoreReceipt]?
    {
        var changes: [LoggedChange] = []
        var rows: [QueueOutbox.Row] = []
        var newest = lastID
        for change in transactions.lazy.flatMap(\.changes) {
            guard let logged = LoggedChange.changes(of: change, boot: boot) else { return nil }
            if case .insert(let stored, _) = change {
                // A number that was given already: the tables say so.
                guard stored.id.rawValue > newest, RowRules.numbers.contains(stored.id.rawValue) else { return nil }
                newest = stored.id.rawValue
            }
            changes += logged
        }
        if changes.isEmpty { return nil }
        for transaction in transactions { rows += outbox?.rows(of: transaction.events, after: rows.count) ?? [] }
        changes += rows.map { LoggedChange(kind: .event, id: $0.number, more: [.blob($0.event)]) }
        var record = ByteWriter(capacity: 512 * changes.count)
        for change in changes { change.encode(into: &record) }
        guard record.count <= options.changeLogBytes else { return nil }
        point(.beforeCommit, transactions)
        do throws(SQLiteError) {
            try makeTablesSafe()
            try changeLog.append(record.bytes)
        } catch {
            return nil
        }
        lastID = newest
        pending.add(changes)
        // Each read by itself would lock and unlock the file.
        let readsMany = changes.lazy.filter { $0.kind == .lease }.prefix(2).count > 1
        if readsMany { try? statements.beginReading.run() }
        let receipts = transactions.map(followed)
        if readsMany { try? statements.commit.run() }
        point(.afterCommit, transactions)
        outbox?.note(rows)
        outbox?.deliver()
        return receipts
    }

    /// The receiver of the outbox has its rows up to this one safe.
    func trimOutbox(upTo number: Int64) throws(SQLiteError) {
        let change = LoggedChange(kind: .trimEvents, id: number)
        var record = ByteWriter(capacity: 64)
        change.encode(into: &record)
        try makeTablesSafe()
        try changeLog.append(record.bytes)
        pending.add([change])
    }

    /// What follows from a transaction that is in the change log.
    private func followed(_ transaction: StoreTransaction) -> StoreReceipt {
        var receipt = StoreReceipt(transaction: transaction, leased: [], doomed: [], isLogged: true)
        for change in transaction.changes {
            switch change {
            case .lease(let id, _, _, _, _):
                if let request = try? pending.requests[id]?.request ?? specification(id) {
                    leases[id] = RequestFacts(request)
                    receipt.leased.append((id, request))
                }
            case .finish(let progress, let end, let result, _):
                // Only what is dead can be sent again, and counts elsewhere.
                if case .dead = end { leases[progress.id] = nil; break }
                guard let facts = facts(of: progress.id) else { break }
                leases[progress.id] = nil
                if let name = facts.bodyName { receipt.doomed.append(name) }
                pending.count(facts.keptBytes + (result?.body.bytesHeld ?? 0), of: facts.owner)
            case .purge(let ids): for id in ids { receipt.doomed += files(of: id) }
            case .update(let progress): leases[progress.id] = nil
            case .insert, .holdRequest, .markRead, .revive, .holdQueue, .openBreaker, .closeBreaker: break
            }
            pending.follow(change)
        }
        return receipt
    }

    private func facts(of id: RequestID) -> RequestFacts? {
        if let facts = leases[id] { return facts }
        if let request = pending.requests[id]?.request { return RequestFacts(request) }
        return try? statements.facts.first(.integer(id.rawValue)) { row in
            RequestFacts(
                owner: UInt32(clamping: row.integer(0)), texts: row.integer(1),
                bodyName: row.integer(2) == 3 ? row.text(3) : nil)
        }
    }

    /// The spool files of a request that is forgotten.
    private func files(of id: RequestID) -> [String] {
        var files = (try? names(statements.spoolNames, .integer(id.rawValue), .integer(id.rawValue))) ?? []
        if let kept = pending.requests[id] { files += kept.files }
        return files
    }

    // MARK: Into the tables

    /// Whether what is pending should go into the tables: it is long, or somebody has more than may be kept.
    var isFlushDue: Bool {
        if changeLog.length >= options.changeLogBytes { return true }
        return pending.accounts.contains { owner, more in
            let (count, bytes) = (kept[owner].count + more.count, kept[owner].bytes + more.bytes)
            return count > options.resultCount + options.slack || (bytes > options.resultBytes && count > 1)
        }
    }

    /// Brings what is pending into the tables.
    ///
    /// - Returns: Spool files that nothing names any more, to be removed when the tables are safe.
    func flush() throws(SQLiteError) -> [String] {
        if pending.isEmpty { return [] }
        return try withReserve { () throws(SQLiteError) in try flushPending() }
    }

    /// On a full disk tries again in the reserve: what has happened must fit, and whoever reads must see it.
    private func withReserve<Value>(_ body: () throws(SQLiteError) -> Value) throws(SQLiteError) -> Value {
        do throws(SQLiteError) {
            return try body()
        } catch {
            guard case .storage = error else { throw error }
            directory.giveUpReserve()
            hasUsedReserve = true
            return try body()
        }
    }

    private func flushPending() throws(SQLiteError) -> [String] {
        try statements.begin.run()
        do throws(SQLiteError) {
            try applyPending()
            try prune()
            try statements.commit.run()
        } catch {
            rollBack()
            throw error
        }
        didCommit()
        let doomed = claimDoomed()
        if !doomed.isEmpty { try makeTablesSafe() }
        return doomed
    }

    /// Within a transaction.
    func applyPending() throws(SQLiteError) {
        if pending.isEmpty { return }
        for change in pending.effective { try write(change) }
        try statements.setGeneration.run(.integer(changeLog.generation))
    }

    /// What was pending is in the tables.
    func didCommit() {
        areTablesSafe = false
        if pending.isEmpty { return }
        pending = PendingChanges()
        changeLog.begin(changeLog.generation &+ 1)
    }

    /// Waits until all that is in the tables is on the disk. Only then the change log goes on: what a loss of power leaves is
    /// always the beginning of what was written.
    func makeTablesSafe() throws(SQLiteError) {
        if areTablesSafe { return }
        guard fdatasync(log) == 0 else { throw .storage("fdatasync: \(String(cString: strerror(errno)))") }
        areTablesSafe = true
    }

    /// Brings what an earlier run left in the change log into the tables. What they reject is left out.
    func replay() throws(SQLiteError) {
        for record in try changeLog.read() {
            var cursor = ByteCursor(record[...])
            while !cursor.isAtEnd, let change = LoggedChange(&cursor) { pending.add([change]) }
        }
        if pending.isEmpty { return }
        try withReserve { () throws(SQLiteError) in try replayPending() }
        didCommit()
        try outbox?.findLast(in: database)
        // Their files have no row any more, and are swept with the others.
        doomed = []
    }

    private func replayPending() throws(SQLiteError) {
        try statements.begin.run()
        do throws(SQLiteError) {
            for change in pending.effective {
                do throws(SQLiteError) {
                    try write(change)
                } catch {
                    guard case .rejected = error else { throw error }
                }
            }
            try statements.setGeneration.run(.integer(changeLog.generation))
            try statements.commit.run()
        } catch {
            if database.isInTransaction { try? database.execute("ROLLBACK") }
            throw error
        }
    }
}
