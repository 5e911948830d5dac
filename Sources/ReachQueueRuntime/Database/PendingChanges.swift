internal import ReachCore
internal import ReachQueue

/// The changes that are in the change log and not yet in the tables, in their order.
struct PendingChanges {
    private(set) var changes: [LoggedChange] = []
    /// The requests that were added with them: their rows do not exist yet.
    private(set) var requests: [RequestID: KeptRequest] = [:]
    private var touched: Set<Int64> = []
    /// What they add to what is kept of each owner.
    private(set) var accounts: [UInt32: KeptAccounts.Account] = [:]

    var isEmpty: Bool { changes.isEmpty }

    func concerns(_ id: RequestID) -> Bool { touched.contains(id.rawValue) }

    mutating func add(_ more: [LoggedChange]) {
        changes += more
        for change in more where change.isOfRequest { touched.insert(change.id) }
    }

    /// Follows a change of a request that is among ``requests``.
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

    mutating func count(_ bytes: Int64, of owner: UInt32) {
        accounts[owner, default: KeptAccounts.Account()].count += 1
        accounts[owner]?.bytes += bytes
    }

    /// What is left of the changes of each request when later ones have made earlier ones void: so a request that is added and
    /// ends at once is written once.
    var effective: [LoggedChange] {
        var purged: Set<Int64> = [], inserted: Set<Int64> = []
        var lastProgress: [Int64: Int] = [:]
        var lastEvent: Int64?, lastTrim: Int64?
        for (index, change) in changes.enumerated() {
            switch change.kind {
            case .insert: inserted.insert(change.id)
            case .purge: purged.insert(change.id)
            case .event: lastEvent = change.id
            case .trimEvents: lastTrim = change.id
            case .lease, .update, .finish: lastProgress[change.id] = index
            case .hold, .markRead: break
            }
        }
        var left: [LoggedChange] = []
        left.reserveCapacity(changes.count)
        for (index, change) in changes.enumerated() {
            switch change.kind {
            // The last one is written in any case: its number is not given again.
            case .event: if change.id > lastTrim ?? .min || change.id == lastEvent { left.append(change) }
            case .trimEvents: if change.id == lastTrim { left.append(change) }
            case .purge: if !inserted.contains(change.id) { left.append(change) }
            case .hold, .markRead: if !purged.contains(change.id) { left.append(change) }
            case .lease, .update, .finish:
                if !purged.contains(change.id), lastProgress[change.id] == index { left.append(change) }
            case .insert where purged.contains(change.id): break
            case .insert:
                // Only what is dead can be sent again.
                let end = lastProgress[change.id].flatMap { changes[$0].endState }
                let keepsBody = end == nil || end == .dead
                left.append(keepsBody ? change : LoggedChange(kind: .insert, id: change.id, row: change.row))
            }
        }
        return left
    }
}
