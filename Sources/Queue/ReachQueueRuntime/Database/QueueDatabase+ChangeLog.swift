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
        let texts = request.specification.headers.reduce(request.specification.url.utf8.count) { $0 + $1.lineBytes }
        var name: String?
        if case .spooled(let file, _) = request.specification.body { name = file }
        self.init(owner: request.owner, texts: Int64(texts), bodyName: name)
    }
}

/// Every change of the queue is appended to the change log, those of one write as a record. The tables follow
/// (`QueueDatabase+Folding.swift`).
extension QueueDatabase {
    /// Writes transactions as one record. A kill loses nothing of it, a loss of power what was not synced. A
    /// transaction whose requests have numbers that were given before is left out, and its receipt says so.
    ///
    /// - Parameter point: Called before and after the write.
    /// - Returns: A receipt for each, with what is to be sent for the leases in it.
    @discardableResult
    func write(_ transactions: [StoreTransaction], at point: (StorePoint, [StoreTransaction]) -> Void)
        throws(SQLiteError) -> [StoreReceipt]
    {
        var changes: [LoggedChange] = []
        var rows: [QueueOutbox.Row] = []
        var receipts: [StoreReceipt] = []
        var newest = lastID
        for transaction in transactions {
            var receipt = StoreReceipt(transaction: transaction)
            if let last = Self.newestNumber(in: transaction, after: newest) {
                newest = last
                for change in transaction.changes {
                    if case .revive(let progress, _) = change {
                        receipt.filesToRemove += try answerNames(of: progress.id, among: changes)
                    }
                    LoggedChange.append(change, boot: boot, to: &changes)
                }
                rows += outbox?.rows(of: transaction.events, after: rows.count) ?? []
            } else {
                receipt.rejection = "the number of a new request was given before"
            }
            receipts.append(receipt)
        }
        changes += rows.map { LoggedChange(kind: .event, id: $0.number, more: [.blob($0.event)]) }
        // First: what cannot be read now must not be leased.
        let specifications = try specifications(leasedBy: changes)
        point(.beforeCommit, transactions)
        try append(changes)
        lastID = newest
        for index in receipts.indices where receipts[index].rejection == nil {
            follow(&receipts[index], specifications)
        }
        dropSurplus()
        point(.afterCommit, transactions)
        if !rows.isEmpty { outbox?.deliver(rows) }
        return receipts
    }

    /// - Returns: The largest number of a request so far; `nil` if a new request has one that is not larger.
    private static func newestNumber(in transaction: StoreTransaction, after last: Int64) -> Int64? {
        var newest = last
        for case .insert(let stored, _) in transaction.changes {
            guard stored.id.rawValue > newest, RowRules.numbers.contains(stored.id.rawValue) else { return nil }
            newest = stored.id.rawValue
        }
        return newest
    }

    /// Removes the outbox's rows up to this one, since their receiver has stored them.
    func trimOutbox(upTo number: Int64) throws(SQLiteError) {
        try append([LoggedChange(kind: .trimEvents, id: number)])
    }

    private func append(_ changes: [LoggedChange]) throws(SQLiteError) {
        try makeTablesSafe()
        if changes.isEmpty { return }
        var record = ByteWriter(capacity: 512 * changes.count)
        for change in changes { change.encode(into: &record) }
        if !changeLog.hasRoom(for: record.count) {
            try flush()
            try makeTablesSafe()
        }
        try changeLog.append(record.bytes)
        pending.add(changes)
    }

    /// What is to be sent for the leases among changes; those of requests that are not in the tables yet are in memory.
    ///
    /// - Returns: Without those whose rows are damaged.
    /// - Throws: An error after which another try may succeed.
    private func specifications(leasedBy changes: [LoggedChange]) throws(SQLiteError) -> [RequestID: QueuedRequest] {
        let leased = changes.filter { $0.kind == .lease }.map(\.id)
        let wanted = leased + carried(by: leased, changes)
        let ids = wanted.filter { pending.request(RequestID(rawValue: $0)) == nil }
        // Those of an earlier run, whose changes did not fit into the tables.
        if ids.contains(where: pending.hasInserted) { try foldPending() }
        var found: [RequestID: QueuedRequest] = [:]
        // Each read by itself would lock and unlock the file.
        let ranges = Self.ranges(of: ids)
        let isOneReading = ranges.count > 1 && !fold.isOpen
        if isOneReading { try? statements.transactions.beginReading.run() }
        defer { if isOneReading { try? statements.transactions.commit.run() } }
        for range in ranges {
            do throws(SQLiteError) {
                try readSpecifications(of: range, into: &found)
            } catch {
                guard case .corrupt = error else { throw error }
            }
        }
        return found
    }

    /// The numbers of those that requests carry, or will with these changes.
    private func carried(by ids: [Int64], _ changes: [LoggedChange]) -> [Int64] {
        let known = joins.isEmpty ? [] : ids.flatMap { joins[RequestID(rawValue: $0)] ?? [] }.map(\.rawValue)
        return known
            + changes.filter { $0.kind == .join }.flatMap(\.more).compactMap { value in
                if case .integer(let id) = value { id } else { nil }
            }
    }

    /// A request as it is sent, with the bodies of those that it carries.
    private func joined(
        _ request: QueuedRequest, _ id: RequestID, _ specifications: [RequestID: QueuedRequest]
    ) -> QueuedRequest {
        guard request.joinForm != nil else { return request }
        let bodies = ((joins[id] ?? []) + [id]).sorted().compactMap { other -> [UInt8]? in
            let one = other == id ? request : pending.request(other) ?? specifications[other]
            if case .inline(let bytes) = one?.specification.body { return bytes } else { return nil }
        }
        var carrier = request
        carrier.specification = request.specification.carrying(bodies)
        return carrier
    }

    /// Follows a transaction that is in the change log, and completes its receipt.
    ///
    /// - Parameter specifications: What is to be sent of requests that are in the tables.
    private func follow(_ receipt: inout StoreReceipt, _ specifications: [RequestID: QueuedRequest]) {
        for change in receipt.transaction.changes {
            switch change {
            case .insert(let stored, let request): pending.note(request, as: stored.id)
            case .lease(let id, _, _, _, _):
                if let request = pending.request(id) ?? specifications[id] {
                    leases[id] = RequestFacts(request)
                    receipt.leased.append((id, joined(request, id, specifications)))
                }
            case .join(let id, let others): joins[id] = others
            case .finish(let progress, let end, let result, _):
                if !joins.isEmpty { joins[progress.id] = nil }
                // A dead request can be sent again, so its body stays; it counts among the dead ones.
                if case .dead = end { leases[progress.id] = nil; break }
                guard let facts = facts(of: progress.id) else { break }
                leases[progress.id] = nil
                if let name = facts.bodyName { receipt.filesToRemove.append(name) }
                pending.count(progress.id, facts.keptBytes + (result?.body.bytesHeld ?? 0), of: facts.owner)
            case .purge(let ids):
                for id in ids {
                    leases[id] = nil
                    receipt.filesToRemove += files(of: id)
                    pending.forgetRequest(id)
                }
            case .update(let progress): leases[progress.id] = nil
            case .revive, .holdRequest, .markRead, .holdQueue, .openBreaker, .closeBreaker, .setMetered: break
            }
        }
    }

    private func facts(of id: RequestID) -> RequestFacts? {
        if let facts = leases[id] { return facts }
        if let request = pending.request(id) { return RequestFacts(request) }
        return try? statements.requests.facts.first(.integer(id.rawValue)) { row in
            RequestFacts(
                owner: UInt32(clamping: row.integer(0)), texts: row.integer(1),
                bodyName: row.integer(2) == 3 ? row.text(3) : nil)
        }
    }

    /// The spool files of a forgotten request: those that its rows name, and those that pending changes name.
    private func files(of id: RequestID) -> Set<String> {
        let named = (try? names(statements.kept.fileNames, .integer(id.rawValue), .integer(id.rawValue))) ?? []
        return pending.files(of: id).union(named)
    }

    /// The spool files of the answer that a dead request died of.
    ///
    /// - Parameter changes: Those that are about to be written.
    private func answerNames(of id: RequestID, among changes: [LoggedChange]) throws(SQLiteError) -> Set<String> {
        var named = Set(try names(statements.answers.fileName, .integer(id.rawValue)))
        let last = changes.last { $0.kind == .finish && $0.id == id.rawValue } ?? pending.lastEnd(of: id)
        if let name = last?.spoolName { named.insert(name) }
        return named
    }

    // MARK: What is too much

    /// The bytes of the change log that the tables have to take.
    var pendingBytes: Int { max(0, changeLog.length - pending.voidBytes) }

    /// Whether the pending changes should go into the tables: they are many, or an owner has more finished requests
    /// than may be kept.
    var isFlushDue: Bool {
        if pendingBytes >= options.changeLogBytes || changeLog.length >= options.longestChangeLog { return true }
        return pending.accounts.contains { owner, more in
            let inTables = fold.keptInTables[owner]
            return surplus(of: owner, more) > options.slack
                || (inTables.bytes + more.bytes > options.results.bytes && inTables.count + more.count > 1)
        }
    }

    /// How many of an owner's requests are over and more than may be kept.
    private func surplus(of owner: UInt32, _ more: PendingChanges.Account) -> Int {
        fold.keptInTables[owner].count - more.doomedRows + more.count - options.results.count
    }

    private static let surplusTogether = 64

    /// Keeps nothing of the oldest requests that are too many: the more ends go into the tables together, the fewer of
    /// them have to be written there. Where answers were read, which go first, the tables have to say which.
    private func dropSurplus() {
        if pending.hasReadAnswers { return }
        for (owner, more) in pending.accounts {
            let surplus = surplus(of: owner, more)
            guard surplus > Self.surplusTogether else { continue }
            if more.nextRows < surplus, more.doomedRows + more.nextRows < fold.keptInTables[owner].count {
                // Those that are pending must not be among the rows.
                unfold()
                if let rows = try? firstKept(max(surplus, 1024), of: owner, after: more.doomedRows) {
                    pending.prepare(rows, of: owner)
                }
            }
            pending.forget(surplus, of: owner)
        }
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

    /// Takes over the memory of another value of the same file: it is more complete than the disk, which may have lost
    /// writes.
    func takeOver(_ old: QueueDatabase) {
        old.unfold()
        if changeLog.generation == old.changeLog.generation {
            pending = old.pending
            changeLog.replace(old.changeLog)
        } else if changeLog.generation != old.changeLog.next {
            // The file was replaced. The changes since then are written into the new one, as far as they fit.
            pending.add(old.pending.changes)
        }
        leases = old.leases
        joins = old.joins
        fold.now.lastEnd = old.fold.now.lastEnd
        lastID = max(lastID, old.lastID)
        safety.takeOver(old.safety)
        hasUsedReserve = old.hasUsedReserve
        losses += old.losses
        outbox?.skip(to: pending.lastEvent)
    }
}
