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
        for change in more { touched.insert(change.id) }
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
        for (index, change) in changes.enumerated() {
            if change.kind == .insert { inserted.insert(change.id) }
            if change.kind == .purge { purged.insert(change.id) }
            if change.isOfProgress { lastProgress[change.id] = index }
        }
        var left: [LoggedChange] = []
        left.reserveCapacity(changes.count)
        for (index, change) in changes.enumerated() {
            if purged.contains(change.id), change.kind != .purge || inserted.contains(change.id) { continue }
            if change.isOfProgress, lastProgress[change.id] != index { continue }
            guard change.kind == .insert, let last = lastProgress[change.id] else {
                left.append(change)
                continue
            }
            var change = change
            // Only what is dead can be sent again.
            if let end = changes[last].endState, end != .dead { change.more = [] }
            left.append(change)
        }
        return left
    }
}
