internal import ReachCore
internal import ReachQueue

/// The changes that are in the change log and not yet in the tables, in order.
struct PendingChanges {
    private(set) var changes: [LoggedChange] = []
    /// The bytes of the change log that no longer matter, since nothing is kept of their requests.
    private(set) var voidBytes = 0
    /// The requests that these changes add: their rows do not exist yet.
    private(set) var requests: [RequestID: KeptRequest] = [:]
    private var touched: Set<Int64> = []
    /// The requests that were added and those that ended, each with the place of that change.
    private var inserted: [Int64: Int] = [:]
    private var ended: [Int64: Int] = [:]
    /// Whether answers were read: these go first, wherever they are.
    private(set) var hasReadAnswers = false
    /// The spool files that the changes name, by request.
    private var files: [Int64: Set<String>] = [:]
    /// Requests in the tables that are no longer kept, and the spool files of requests that will not come into them. Neither is in the
    /// change log: a start finds out again that these are too many.
    private(set) var doomedRows: [Int64] = []
    private(set) var doomedFiles: [String] = []
    /// The requests that ended and are forgotten. Of those that were added before, the tables have a row without an answer.
    private(set) var forgotten: Set<Int64> = []
    /// The largest number of an added request, even if the request was forgotten again.
    private(set) var lastInserted: Int64 = 0
    /// The newest row of the outbox.
    private(set) var lastEvent: Int64 = 0
    /// The kept requests that the changes add to each owner's account.
    private(set) var accounts: [UInt32: Account] = [:]

    struct Account {
        fileprivate(set) var bytes: Int64 = 0
        /// In the order of their ends.
        fileprivate var requests: [(id: Int64, bytes: Int64)] = []
        /// The number of rows of this owner's among ``doomedRows``, and some that come next, the first of them last.
        fileprivate(set) var doomedRows = 0
        fileprivate var rows: [Int64] = []

        var count: Int { requests.count }
        var nextRows: Int { rows.count }
    }

    var isEmpty: Bool { changes.isEmpty }

    func hasForgotten(_ id: Int64) -> Bool { forgotten.contains(id) }

    func concerns(_ id: RequestID) -> Bool { touched.contains(id.rawValue) }

    func hasInserted(_ id: RequestID) -> Bool { inserted[id.rawValue] != nil }

    /// The spool files of a request's body and answer that these changes name.
    func files(of id: RequestID) -> Set<String> { files[id.rawValue] ?? [] }

    mutating func add(_ more: [LoggedChange]) {
        let first = changes.count
        changes += more
        for (offset, change) in more.enumerated() {
            if change.kind == .event { lastEvent = max(lastEvent, change.id) }
            guard change.isOfRequest else { continue }
            touched.insert(change.id)
            switch change.kind {
            case .insert:
                inserted[change.id] = first + offset
                lastInserted = max(lastInserted, change.id)
            case .finish: ended[change.id] = first + offset
            case .markRead: hasReadAnswers = true
            default: break
            }
            if let name = change.spoolName { files[change.id, default: []].insert(name) }
        }
    }

    /// Applies a change to a request in ``requests``.
    mutating func follow(_ change: StoreChange) {
        switch change {
        case .insert(let stored, let request): requests[stored.id] = KeptRequest(stored, request)
        case .lease(let id, let attempt, _, _, _): requests[id]?.lease(attempt)
        case .update(let progress): requests[progress.id]?.update(progress)
        case .holdRequest(let id, let isHeld): requests[id]?.hold(isHeld)
        case .finish(let progress, let end, let result, let moment):
            requests[progress.id]?.finish(progress, end, result, at: moment.wall)
        case .purge(let ids): for id in ids { requests[id] = nil }
        case .revive, .holdQueue, .markRead, .openBreaker, .closeBreaker: break
        }
    }

    /// Adds a request of an earlier run to ``requests``.
    mutating func adopt(_ stored: StoredRequest, _ request: QueuedRequest) {
        requests[stored.id] = KeptRequest(stored, request)
    }

    /// Counts a request that ended and is kept.
    mutating func count(_ id: RequestID, _ bytes: Int64, of owner: UInt32) {
        accounts[owner, default: Account()].requests.append((id.rawValue, bytes))
        accounts[owner]?.bytes += bytes
    }

    /// Notes which rows of an owner's go next.
    mutating func prepare(_ rows: [Int64], of owner: UInt32) {
        accounts[owner, default: Account()].rows = rows.reversed()
    }

    /// Keeps nothing of an owner's oldest requests that are over: rows first, which readers do not see any more, and then those that
    /// ended here: so what would not stay in the tables does not go into them.
    mutating func forget(_ count: Int, of owner: UInt32) {
        guard var account = accounts.removeValue(forKey: owner) else { return }
        let rows = account.rows.suffix(count)
        account.rows.removeLast(rows.count)
        account.doomedRows += rows.count
        doomedRows += rows
        touched.formUnion(rows)
        let oldest = account.requests.prefix(count - rows.count)
        account.requests.removeFirst(oldest.count)
        account.bytes -= oldest.reduce(0) { $0 + $1.bytes }
        accounts[owner] = account
        for (id, _) in oldest { forget(id) }
    }

    private mutating func forget(_ id: Int64) {
        requests[RequestID(rawValue: id)] = nil
        forgotten.insert(id)
        doomedFiles += files.removeValue(forKey: id) ?? []
        if let place = ended.removeValue(forKey: id) {
            voidBytes += changes[place].bytes
            changes[place] = LoggedChange(kind: .purge, id: id)
        }
        if let place = inserted[id] {
            voidBytes += changes[place].bytes
            changes[place] = LoggedChange(kind: .insert, id: id)
        }
    }

    /// The changes without those that later ones of the same request replace: a request that is added and ends at once is written
    /// once.
    ///
    /// An update or an end has all numbers of a request. A lease has only some of them, so it does not replace an earlier update.
    var effective: [LoggedChange] {
        var purged: Set<Int64> = []
        var lastProgress: [Int64: Int] = [:], lastLease: [Int64: Int] = [:], lastEnd: [Int64: Int] = [:]
        var lastEvent: Int64?, lastTrim: Int64?
        for (index, change) in changes.enumerated() {
            switch change.kind {
            case .purge: purged.insert(change.id)
            case .event: lastEvent = change.id
            case .trimEvents: lastTrim = change.id
            case .lease: lastLease[change.id] = index
            case .update: lastProgress[change.id] = index
            case .finish: (lastProgress[change.id], lastEnd[change.id]) = (index, index)
            case .insert, .hold, .markRead: break
            }
        }
        var left: [LoggedChange] = []
        left.reserveCapacity(changes.count)
        for (index, change) in changes.enumerated() {
            let isWanted =
                switch change.kind {
                // The last event is always written, so that its number is not given again.
                case .event: change.id > lastTrim ?? .min || change.id == lastEvent
                case .trimEvents: change.id == lastTrim
                case .purge: inserted[change.id] == nil
                case .insert, .hold, .markRead: !purged.contains(change.id)
                // The answer of an earlier end counts, even if the request ends again.
                case .finish: !purged.contains(change.id)
                case .update: !purged.contains(change.id) && lastProgress[change.id] == index
                case .lease:
                    !purged.contains(change.id) && lastLease[change.id] == index
                        && index > lastProgress[change.id] ?? -1
                }
            guard isWanted else { continue }
            // Only a dead request can be sent again, and needs its body.
            let end = change.kind == .insert ? lastEnd[change.id].flatMap { changes[$0].endState } : nil
            let keepsBody = end == nil || end == .dead
            left.append(keepsBody ? change : LoggedChange(kind: .insert, id: change.id, row: change.row))
        }
        return left
    }
}
