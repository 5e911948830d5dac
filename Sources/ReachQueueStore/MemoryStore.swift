package import ReachQueue
internal import ReachCore
internal import Synchronization

/// Keeps the queue in memory: for a program's own queue, which ends with the program. Any thread.
package final class MemoryStore: QueueKeeping {
    fileprivate struct Row {
        var request: QueuedRequest
        var outcome: RequestOutcome
    }

    fileprivate struct State {
        var rows: [RequestID: Row] = [:]
        /// Those that are over and can be forgotten, the oldest first.
        var over: [RequestID] = []
    }

    private let state = Mutex(State())
    private let resultCount: Int
    private let deliver: @Sendable (QueueStore.Notice) -> Void

    /// - Parameters:
    ///   - resultCount: So many answers are kept.
    ///   - deliver: Called from within ``submit(_:)``, and once from here: an empty store is open.
    package init(resultCount: Int, deliver: @escaping @Sendable (QueueStore.Notice) -> Void) {
        self.resultCount = resultCount
        self.deliver = deliver
        deliver(.opened(StoreContents()))
    }

    package func submit(_ transaction: StoreTransaction) {
        let leased = state.withLock { state in
            var leased: [(RequestID, QueuedRequest)] = []
            for change in transaction.changes {
                if case .lease(let id, _, _, _, _) = change, let row = state.rows[id] {
                    leased.append((id, row.request))
                }
                state.apply(change)
            }
            state.forget(beyond: resultCount)
            return leased
        }
        deliver(.committed(transaction.number, leased: leased))
    }

    package func outcome(of id: RequestID, _ body: @escaping @Sendable (RequestOutcome?) -> Void) {
        body(state.withLock { $0.rows[id]?.outcome })
    }

    @discardableResult
    package func close(patience: Duration) -> Bool { true }
}

extension MemoryStore.State {
    fileprivate mutating func apply(_ change: StoreChange) {
        switch change {
        case .insert(let stored, let request):
            let outcome = RequestOutcome(id: stored.id, owner: stored.owner, end: nil, time: nil, result: nil)
            rows[stored.id] = MemoryStore.Row(request: request, outcome: outcome)
        case .finish(let progress, let end, let result, let moment):
            guard let row = rows[progress.id] else { return }
            rows[progress.id]?.outcome = RequestOutcome(
                id: progress.id, owner: row.outcome.owner, end: end, time: moment.wall, result: result)
            // The dead are the scheduler's to forget.
            if case .dead = end { return }
            rows[progress.id]?.request.body = .none
            over.append(progress.id)
        case .revive(let progress, _):
            guard let row = rows[progress.id] else { return }
            rows[progress.id]?.outcome = RequestOutcome(
                id: progress.id, owner: row.outcome.owner, end: nil, time: nil, result: nil)
        case .purge(let ids): for id in ids { rows[id] = nil }
        case .lease, .update, .holdQueue, .openBreaker, .closeBreaker: break
        }
    }

    /// A portion at a time, since to take from the front of an array moves the rest.
    fileprivate mutating func forget(beyond count: Int) {
        guard over.count > 2 * count + 64 else { return }
        for id in over.dropLast(count) { rows[id] = nil }
        over = Array(over.suffix(count))
    }
}
