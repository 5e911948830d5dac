internal import ReachCore
internal import ReachQueue

/// The changes that are in the change log and not yet in the tables, in order.
struct PendingChanges {
    private(set) var changes: [LoggedChange] = []
    /// The requests that these changes add: their rows do not exist yet.
    private(set) var requests: [RequestID: KeptRequest] = [:]
    private var touched: Set<Int64> = []
    private var inserted: Set<Int64> = []
    /// The spool files that the changes name, by request.
    private var files: [Int64: Set<String>] = [:]
    /// The largest number of an added request, even if the request was forgotten again.
    private(set) var lastInserted: Int64 = 0
    /// The newest row of the outbox.
    private(set) var lastEvent: Int64 = 0
    /// The kept requests that the changes add to each owner's account.
    private(set) var accounts: [UInt32: KeptAccounts.Account] = [:]

    var isEmpty: Bool { changes.isEmpty }

    func concerns(_ id: RequestID) -> Bool { touched.contains(id.rawValue) }

    func hasInserted(_ id: RequestID) -> Bool { inserted.contains(id.rawValue) }

    /// The spool files of a request's body and answer that these changes name.
    func files(of id: RequestID) -> Set<String> { files[id.rawValue] ?? [] }

    mutating func add(_ more: [LoggedChange]) {
        changes += more
        for change in more {
            if change.kind == .event { lastEvent = max(lastEvent, change.id) }
            guard change.isOfRequest else { continue }
            touched.insert(change.id)
            if change.kind == .insert {
                inserted.insert(change.id)
                lastInserted = max(lastInserted, change.id)
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

    mutating func count(_ bytes: Int64, of owner: UInt32) {
        accounts[owner, default: KeptAccounts.Account()].count += 1
        accounts[owner]?.bytes += bytes
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
                case .purge: !inserted.contains(change.id)
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
