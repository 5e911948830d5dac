internal import Glibc
internal import ReachCore
internal import ReachQueue

/// What the database needs to know of a request when the request ends.
struct RequestFacts {
    let owner: UInt32
    /// The bytes of the finished request, without its answer, that count for its owner.
    let keptBytes: Int64
    /// The spool file of its body.
    let bodyName: String?

    /// The bytes that a finished request takes in addition to its texts.
    static let rowBytes: Int64 = 256

    init(owner: UInt32, texts: Int64, bodyName: String?) {
        self.owner = owner
        keptBytes = texts + Self.rowBytes
        self.bodyName = bodyName
    }

    init(_ request: QueuedRequest) {
        let texts = request.headers.reduce(request.url.utf8.count) { $0 + $1.lineBytes }
        var name: String?
        if case .spooled(let file, _) = request.body { name = file }
        self.init(owner: request.owner, texts: Int64(texts), bodyName: name)
    }
}

/// Changes go into the change log first, those of one write as a record, and later into the tables, many at a time. Readers see both.
extension QueueDatabase {
    /// Writes transactions as one record of the change log.
    ///
    /// - Returns: `nil` if they have to go into the tables: they are of a rare kind, the tables may reject them, or the log has no
    ///   room.
    func log(_ transactions: [StoreTransaction], at point: (StorePoint, [StoreTransaction]) -> Void) -> [StoreReceipt]?
    {
        var changes: [LoggedChange] = []
        var rows: [QueueOutbox.Row] = []
        var newest = lastID
        for change in transactions.lazy.flatMap(\.changes) {
            guard LoggedChange.append(change, boot: boot, to: &changes) else { return nil }
            if case .insert(let stored, _) = change {
                // The number was given before: the tables will reject it.
                guard stored.id.rawValue > newest, RowRules.numbers.contains(stored.id.rawValue) else { return nil }
                newest = stored.id.rawValue
            }
        }
        if changes.isEmpty { return nil }
        for transaction in transactions { rows += outbox?.rows(of: transaction.events, after: rows.count) ?? [] }
        changes += rows.map { LoggedChange(kind: .event, id: $0.number, more: [.blob($0.event)]) }
        var record = ByteWriter(capacity: 512 * changes.count)
        for change in changes { change.encode(into: &record) }
        guard record.count <= options.changeLogBytes else { return nil }
        let specifications: [RequestID: QueuedRequest]
        do throws(SQLiteError) {
            // First: what cannot be read now must not be leased.
            specifications = try self.specifications(leasedBy: changes)
            point(.beforeCommit, transactions)
            try makeTablesSafe()
            try changeLog.append(record.bytes)
        } catch {
            return nil
        }
        lastID = newest
        pending.add(changes)
        let receipts = transactions.map { followed($0, specifications) }
        dropSurplus()
        point(.afterCommit, transactions)
        outbox?.note(rows)
        outbox?.deliver()
        return receipts
    }

    /// Removes the outbox's rows up to this one, since their receiver has stored them.
    func trimOutbox(upTo number: Int64) throws(SQLiteError) {
        let change = LoggedChange(kind: .trimEvents, id: number)
        var record = ByteWriter(capacity: 64)
        change.encode(into: &record)
        endReading()
        try makeTablesSafe()
        try changeLog.append(record.bytes)
        pending.add([change])
    }

    /// What is to be sent for the leases among changes; those of requests that are not in the tables yet are in memory.
    ///
    /// - Returns: Without those whose rows are damaged.
    /// - Throws: An error after which another try may succeed.
    private func specifications(leasedBy changes: [LoggedChange]) throws(SQLiteError) -> [RequestID: QueuedRequest] {
        let ids = changes.filter { $0.kind == .lease && !pending.hasInserted(RequestID(rawValue: $0.id)) }.map(\.id)
        var found: [RequestID: QueuedRequest] = [:]
        // Each read by itself would lock and unlock the file.
        let ranges = Self.ranges(of: ids)
        if ranges.count > 1 { try? statements.beginReading.run() }
        defer { if ranges.count > 1 { try? statements.commit.run() } }
        for range in ranges {
            do throws(SQLiteError) {
                try readSpecifications(of: range, into: &found)
            } catch {
                guard case .corrupt = error else { throw error }
            }
        }
        return found
    }

    /// Follows a transaction that is in the change log, and makes its receipt.
    ///
    /// - Parameter specifications: What is to be sent of requests that are in the tables.
    private func followed(
        _ transaction: StoreTransaction, _ specifications: [RequestID: QueuedRequest]
    ) -> StoreReceipt {
        var receipt = StoreReceipt(transaction: transaction, leased: [], doomed: [], isLogged: true)
        for change in transaction.changes {
            switch change {
            case .lease(let id, _, _, _, _):
                if let request = pending.requests[id]?.request ?? specifications[id] {
                    leases[id] = RequestFacts(request)
                    receipt.leased.append((id, request))
                }
            case .finish(let progress, let end, let result, _):
                // A dead request can be sent again, so its body stays; it counts among the dead ones.
                if case .dead = end { leases[progress.id] = nil; break }
                guard let facts = facts(of: progress.id) else { break }
                leases[progress.id] = nil
                if let name = facts.bodyName { receipt.doomed.append(name) }
                pending.count(progress.id, facts.keptBytes + (result?.body.bytesHeld ?? 0), of: facts.owner)
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

    /// The spool files of a forgotten request: those that its rows name, and those that pending changes name.
    private func files(of id: RequestID) -> Set<String> {
        let named = (try? names(statements.spoolNames, .integer(id.rawValue), .integer(id.rawValue))) ?? []
        return pending.files(of: id).union(named)
    }

    // MARK: Into the tables

    /// The bytes of the change log that the tables have to take.
    private var pendingBytes: Int { max(0, changeLog.length - pending.voidBytes) }

    /// Whether the pending changes should go into the tables: they are many, or an owner has more finished requests than may be kept.
    var isFlushDue: Bool {
        if pendingBytes >= options.changeLogBytes || changeLog.length >= options.longestChangeLog { return true }
        return pending.accounts.contains { owner, more in
            let bytes = kept[owner].bytes + more.bytes
            return surplus(of: owner, more) > options.slack
                || (bytes > options.resultBytes && kept[owner].count + more.count > 1)
        }
    }

    /// How many of an owner's requests are over and more than may be kept.
    private func surplus(of owner: UInt32, _ more: PendingChanges.Account) -> Int {
        kept[owner].count - more.doomedRows + more.count - options.resultCount
    }

    private static let surplusTogether = 64

    /// Keeps nothing of the oldest requests that are too many: the more ends go into the tables together, the fewer of them have to be
    /// written there. Where answers were read, which go first, the tables have to say which.
    private func dropSurplus() {
        if pending.hasReadAnswers { return }
        for (owner, more) in pending.accounts {
            let surplus = surplus(of: owner, more)
            guard surplus > Self.surplusTogether else { continue }
            if more.nextRows < surplus, more.doomedRows + more.nextRows < kept[owner].count,
                let rows = try? firstKept(max(surplus, 1024), of: owner, after: more.doomedRows)
            {
                pending.prepare(rows, of: owner)
            }
            pending.forget(surplus, of: owner)
        }
    }

    /// Brings the pending changes into the tables. On a full disk it tries again in the reserve.
    ///
    /// - Throws: An error if the disk may have lost something (``isDoubtful``), or cannot be written.
    func flush() throws(SQLiteError) {
        if isDoubtful { throw Self.doubt }
        try flushAgain()
    }

    /// The same as ``flush()``, even if the disk may have lost what was written before.
    func flushAgain() throws(SQLiteError) {
        if pending.isEmpty { return }
        do throws(SQLiteError) {
            try flushPending()
        } catch {
            guard case .storage = error else { throw error }
            directory.giveUpReserve()
            hasUsedReserve = true
            try flushPending()
        }
        // If this fails, the tables have the changes all the same: the file is doubtful then, and what is written next fails.
        if !isDoubtful, !doomedWhenSafe.isEmpty { try? makeTablesSafe() }
    }

    /// Makes sure that the pending changes fit before a transaction begins. A transaction that fails does not shorten SQLite's log
    /// again: on a full disk the log would take the last of the room, which the change log needs.
    func requireRoom() throws(SQLiteError) {
        guard !pending.isEmpty, !directory.hasRoom(for: 2 * pendingBytes + (128 << 10)) else { return }
        throw .storage("the disk has no room for the changes that wait")
    }

    private func flushPending() throws(SQLiteError) {
        endReading()
        try requireRoom()
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
        doomedWhenSafe += claimDoomed()
    }

    /// Writes the pending changes and the next generation, within a transaction that the caller commits.
    func applyPending() throws(SQLiteError) {
        if pending.isEmpty { return }
        try applyChanges()
        try statements.setGeneration.run(.integer(changeLog.next))
        guard database.changedRows == 1 else { throw .corrupt("the table change_log has no row") }
    }

    /// Writes the pending changes. Those that the tables reject are noted in ``leftOut``.
    private func applyChanges() throws(SQLiteError) {
        let changes = pending.effective
        let before = counters
        try database.execute("SAVEPOINT pending")
        do throws(SQLiteError) {
            for change in changes where change.kind != .purge { try write(change) }
            let purged = changes.filter { $0.kind == .purge && !pending.hasForgotten($0.id) }.map(\.id)
            try purge(purged + pending.doomedRows)
            try delete(pending.forgotten)
        } catch {
            guard case .rejected = error else { throw error }
            try database.execute("ROLLBACK TO pending")
            counters = before
            try applyOneByOne(changes)
        }
        try database.execute("RELEASE pending")
        doomed += pending.doomedFiles
        // Numbers of requests that are forgotten again are not given to others, either.
        if let last = changes.last(where: { $0.kind == .insert })?.id, last == pending.lastInserted { return }
        if pending.lastInserted > 0 {
            try statements.beginNumbers.run()
            try statements.raiseNumber.run(.integer(pending.lastInserted))
        }
    }

    private func applyOneByOne(_ changes: [LoggedChange]) throws(SQLiteError) {
        for change in changes {
            let before = counters
            try database.execute("SAVEPOINT one")
            do throws(SQLiteError) {
                try write(change)
            } catch {
                guard case .rejected(let reason) = error else { throw error }
                try database.execute("ROLLBACK TO one")
                counters = before
                leftOut.append("\(change.kind) of \(change.id): \(reason)")
            }
            try database.execute("RELEASE one")
        }
    }

    /// Notes a committed transaction: nothing is pending any more.
    func didCommit() {
        areTablesSafe = false
        if pending.isEmpty { return }
        pending = PendingChanges()
        changeLog.beginNext()
    }

    /// Waits until all of the tables is on the disk. Only then the change log may be overwritten, so that a loss of power always
    /// leaves the beginning of what was written.
    func makeTablesSafe() throws(SQLiteError) {
        if isDoubtful { throw Self.doubt }
        if areTablesSafe { return }
        guard fdatasync(log) == 0 else {
            let reason = String(cString: strerror(errno))
            isDoubtful = true
            throw .storage("fdatasync: \(reason)")
        }
        areTablesSafe = true
        changeLog.shorten()
        removable += doomedWhenSafe
        doomedWhenSafe = []
    }

    /// Waits for the tables and the change log.
    ///
    /// - Returns: Whether all that was written is on the disk.
    func makeSafe() -> Bool {
        guard (try? makeTablesSafe()) != nil else { return false }
        guard pending.isEmpty || changeLog.sync() else {
            isDoubtful = true
            return false
        }
        return true
    }

    static var doubt: SQLiteError { .storage("what was written may not have reached the disk") }

    /// Moves SQLite's log into the file and the file to the disk, so that nothing depends on SQLite's log or the change log any more.
    ///
    /// - Throws: An error even where another program reads, since SQLite's log then has to stay.
    func endDoubt() throws(SQLiteError) {
        guard try database.checkpoint(truncate: true) else {
            throw .storage("another program reads the queue's file")
        }
        guard fdatasync(log) == 0 else { throw .storage("fdatasync: \(String(cString: strerror(errno)))") }
        isDoubtful = false
    }

    // MARK: At a start

    /// Reads the change log of an earlier run into ``pending``.
    func readChangeLog(at now: Timestamp) throws(SQLiteError) {
        let isDamaged = try changeLog.read { record in
            var changes: [LoggedChange] = []
            var cursor = ByteCursor(record[...])
            while !cursor.isAtEnd {
                guard let change = LoggedChange(&cursor) else { return false }
                changes.append(change)
            }
            pending.add(changes)
            return true
        }
        if isDamaged {
            let aside = "\(directory.changeLogPath).corrupt-\(now.nanosecondsSince1970 / 1_000_000_000)"
            let copy = changeLog.copyAside(to: aside) ? "a copy of it is \(aside)" : "there was no room for a copy"
            let place = "behind its first \(changeLog.length) bytes"
            losses.append(
                "the queue's change log is damaged \(place), perhaps by a loss of power: later changes are lost; \(copy)"
            )
        }
        lastID = max(lastID, pending.lastInserted)
        outbox?.skip(to: pending.lastEvent)
    }

    /// Adds to ``pending`` the requests of an earlier run whose rows do not exist yet.
    func adoptPending(of requests: [StoredRequest]) throws(SQLiteError) {
        for stored in requests where pending.hasInserted(stored.id) {
            if case .dead = stored.state { continue }
            if let request = try specification(stored.id) { pending.adopt(stored, request) }
        }
    }

    /// Takes over the memory of another value of the same file: it is more complete than the disk, which may have lost writes.
    func takeOver(_ old: QueueDatabase) {
        if changeLog.generation == old.changeLog.generation {
            pending = old.pending
            changeLog.replace(old.changeLog)
        } else if changeLog.generation != old.changeLog.next {
            // The file was replaced. The changes since then are written into the new one, as far as they fit.
            pending.add(old.pending.changes)
        }
        leases = old.leases
        lastEnd = old.lastEnd
        lastID = max(lastID, old.lastID)
        doomedWhenSafe = old.doomedWhenSafe
        isDoubtful = old.isDoubtful
        hasUsedReserve = old.hasUsedReserve
        losses += old.losses
        outbox?.skip(to: pending.lastEvent)
    }
}
