internal import ReachCore
internal import ReachQueue

/// The changes that are in the change log and not yet committed to the tables, in order.
struct PendingChanges {
    private(set) var changes: [LoggedChange] = []
    /// The number of changes that the open fold has.
    private var folded = 0
    /// The bytes of the change log that no longer matter, since nothing is kept of their requests.
    private(set) var voidBytes = 0
    /// What is to be sent of the requests that these changes add and do not end.
    private var requests: [RequestID: QueuedRequest] = [:]
    /// The requests that were added and those that ended, each with the place of that change.
    private var inserted: [Int64: Int] = [:]
    private var ended: [Int64: Int] = [:]
    /// Whether answers were read: these go first, wherever they are.
    private(set) var hasReadAnswers = false
    /// The spool files that the changes name, by request.
    private var files: [Int64: Set<String>] = [:]
    /// Requests that are no longer kept. The change log does not say so: a start finds out again that these are too
    /// many.
    private var gone: [Gone] = []
    /// The number of those that the open fold has removed.
    private var foldedGone = 0
    /// The largest number of an added request, even if the request was forgotten again.
    private(set) var lastInserted: Int64 = 0
    /// The newest row of the outbox.
    private(set) var lastEvent: Int64 = 0
    /// The kept requests that the changes add to each owner's account.
    private(set) var accounts: [UInt32: Account] = [:]

    struct Gone {
        let id: Int64
        /// The spool files that only the changes name.
        var files: Set<String> = []
    }

    struct Account {
        fileprivate(set) var bytes: Int64 = 0
        /// In the order of their ends.
        fileprivate var requests: [(id: Int64, bytes: Int64)] = []
        /// The number of rows of this owner's that are gone, and some that go next, the first of them last.
        fileprivate(set) var doomedRows = 0
        fileprivate var rows: [Int64] = []

        var count: Int { requests.count }
        var nextRows: Int { rows.count }
    }

    var isEmpty: Bool { changes.isEmpty }

    // MARK: The fold

    /// Whether the open fold has everything.
    var isFolded: Bool { folded == changes.count && foldedGone == gone.count }

    var goneSinceFold: ArraySlice<Gone> { gone[foldedGone...] }

    mutating func markFolded() { (folded, foldedGone) = (changes.count, gone.count) }

    mutating func markUnfolded() { (folded, foldedGone) = (0, 0) }

    // MARK: Requests

    func request(_ id: RequestID) -> QueuedRequest? { requests[id] }

    func hasInserted(_ id: Int64) -> Bool { inserted[id] != nil }

    /// The spool files of a request's body and answer that these changes name.
    func files(of id: RequestID) -> Set<String> { files[id.rawValue] ?? [] }

    func lastEnd(of id: RequestID) -> LoggedChange? { ended[id.rawValue].map { changes[$0] } }

    mutating func note(_ request: QueuedRequest, as id: RequestID) { requests[id] = request }

    mutating func forgetRequest(_ id: RequestID) { requests[id] = nil }

    mutating func add(_ more: [LoggedChange]) {
        let first = changes.count
        changes += more
        for (offset, change) in more.enumerated() {
            switch change.kind {
            case .insert:
                inserted[change.id] = first + offset
                lastInserted = max(lastInserted, change.id)
            case .finish: ended[change.id] = first + offset
            case .markRead: hasReadAnswers = true
            case .event: lastEvent = max(lastEvent, change.id)
            case .lease, .update, .hold, .purge, .trimEvents, .revive, .holdQueue, .releaseQueue, .openBreaker,
                .closeBreaker, .setMetered, .join:
                break
            }
            if let name = change.spoolName { files[change.id, default: []].insert(name) }
        }
    }

    // MARK: What is kept

    /// Counts a request that ended and is kept.
    mutating func count(_ id: RequestID, _ bytes: Int64, of owner: UInt32) {
        requests[id] = nil
        accounts[owner, default: Account()].requests.append((id.rawValue, bytes))
        accounts[owner]?.bytes += bytes
    }

    /// Notes which rows of an owner's go next.
    mutating func prepare(_ rows: [Int64], of owner: UInt32) {
        accounts[owner, default: Account()].rows = rows.reversed()
    }

    /// Keeps nothing of an owner's oldest requests that are over: rows first, which readers do not see any more, and
    /// then those that ended here: so what would not stay in the tables does not go into them.
    mutating func forget(_ count: Int, of owner: UInt32) {
        guard var account = accounts.removeValue(forKey: owner) else { return }
        let rows = account.rows.suffix(count)
        account.rows.removeLast(rows.count)
        account.doomedRows += rows.count
        gone += rows.map { Gone(id: $0) }
        let oldest = account.requests.prefix(count - rows.count)
        account.requests.removeFirst(oldest.count)
        account.bytes -= oldest.reduce(0) { $0 + $1.bytes }
        accounts[owner] = account
        for (id, _) in oldest { forget(id) }
    }

    /// Nothing of the request is written any more, except what the open fold has.
    private mutating func forget(_ id: Int64) {
        gone.append(Gone(id: id, files: files.removeValue(forKey: id) ?? []))
        if let place = ended.removeValue(forKey: id), place >= folded { void(place, .purge) }
        if let place = inserted[id], place >= folded { void(place, .insert) }
    }

    private mutating func void(_ place: Int, _ kind: LoggedChange.Kind) {
        voidBytes += changes[place].bytes
        changes[place] = LoggedChange(kind: kind, id: changes[place].id)
    }

    // MARK: What is written

    /// The changes that the open fold lacks, without those that later ones of the same request replace: a request that
    /// is added and ends at once is written once.
    ///
    /// An update or an end has all numbers of a request. A lease has only some of them, so it does not replace an
    /// earlier update.
    var effective: [LoggedChange] {
        let tail = changes[folded...]
        var purged: Set<Int64> = []
        var lastProgress: [Int64: Int] = [:], lastLease: [Int64: Int] = [:], lastEnd: [Int64: Int] = [:]
        var lastEvent: Int64?, lastTrim: Int64?
        var lastMetered: [String: Int] = [:]
        for (index, change) in zip(tail.indices, tail) {
            switch change.kind {
            case .purge: purged.insert(change.id)
            case .event: lastEvent = change.id
            case .trimEvents: lastTrim = change.id
            case .lease: lastLease[change.id] = index
            case .update, .revive: lastProgress[change.id] = index
            case .finish: (lastProgress[change.id], lastEnd[change.id]) = (index, index)
            case .setMetered: if case .text(let scope)? = change.more.first { lastMetered[scope] = index }
            case .insert, .hold, .markRead, .holdQueue, .releaseQueue, .openBreaker, .closeBreaker, .join: break
            }
        }
        var left: [LoggedChange] = []
        left.reserveCapacity(tail.count)
        for (index, change) in zip(tail.indices, tail) {
            let isWanted =
                switch change.kind {
                // The last event is always written, so that its number is not given again.
                case .event: change.id > lastTrim ?? .min || change.id == lastEvent
                case .trimEvents: change.id == lastTrim
                case .purge: inserted[change.id] ?? -1 < folded
                case .insert, .hold, .markRead: !purged.contains(change.id)
                // The answer of an earlier end counts, even if the request ends again.
                case .finish, .revive: !purged.contains(change.id)
                case .update: !purged.contains(change.id) && lastProgress[change.id] == index
                case .lease:
                    !purged.contains(change.id) && lastLease[change.id] == index
                        && index > lastProgress[change.id] ?? -1
                case .setMetered:
                    if case .text(let scope)? = change.more.first { lastMetered[scope] == index } else { false }
                case .holdQueue, .releaseQueue, .openBreaker, .closeBreaker, .join: true
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
