internal import Synchronization
internal import ReachCore
package import ReachQueue

/// Keeps a queue for as long as the process lives. Every transaction is committed at once.
package final class MemoryStore: QueueStorage {
    private struct State {
        var records: [RequestID: KeptRequest] = [:]
        /// Those that are over, in the order of their ends; the dead are not among them, since the scheduler purges
        /// them.
        var over: [RequestID] = []
        var firstOver = 0
        /// Whom requests carry.
        var joins: [RequestID: [RequestID]] = [:]
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
            transaction.changes.compactMap { apply($0, to: &state) }
        }
        deliver(.committed(transaction.number, leased: leased))
    }

    package func enqueue(_ transaction: StoreTransaction) { submit(transaction) }

    package func wake() {}

    package func record(
        of id: RequestID, for user: UInt32,
        _ body: @escaping @Sendable (Result<RequestReport?, QueueStoreError>) -> Void
    ) {
        body(.success(state.withLock { state in state.records[id]?.report(id) }))
    }

    package func records(
        _ query: RecordQuery, for user: UInt32,
        _ body: @escaping @Sendable (Result<[RequestReport], QueueStoreError>) -> Void
    ) {
        let found = state.withLock { state in
            state.records.filter { id, kept in
                id.rawValue > query.after && (query.owner == nil || kept.request.owner == query.owner)
                    && (query.isOver == nil || query.isOver == (kept.end != nil))
            }.sorted { $0.key < $1.key }.prefix(query.limit).map { $0.value.report($0.key) }
        }
        body(.success(found))
    }

    /// There is none.
    package func trimOutbox(upTo number: Int64) {}

    /// What a process keeps in memory does not change.
    package func keep(_ results: QueuePolicy.Keeping) {}

    @discardableResult
    package func close(patience: Duration) -> Bool { true }

    /// - Returns: What is to be sent, for a lease.
    private func apply(_ change: StoreChange, to state: inout State) -> (RequestID, QueuedRequest)? {
        switch change {
        case .insert(let stored, let request):
            state.records[stored.id] = KeptRequest(stored, request)
        case .lease(let id, let attempt, _, _, _):
            guard let kept = state.records[id] else { return nil }
            kept.lease(attempt)
            return (id, joined(kept.request, id, state))
        case .join(let id, let others): state.joins[id] = others
        case .update(let progress): state.records[progress.id]?.update(progress)
        case .holdRequest(let id, let isHeld): state.records[id]?.hold(isHeld)
        case .finish(let progress, let end, let result, let moment):
            guard let kept = state.records[progress.id] else { return nil }
            kept.finish(progress, end, result, at: moment.wall)
            state.joins[progress.id] = nil
            if case .dead = end { return nil }
            state.over.append(progress.id)
            forgetOldest(&state)
        case .revive(let progress, let deadline):
            state.records[progress.id]?.revive(progress, deadline: deadline.wall)
        case .purge(let ids): for id in ids { state.records[id] = nil }
        case .holdQueue, .openBreaker, .closeBreaker, .markRead, .setMetered: break
        }
        return nil
    }

    private func joined(_ request: QueuedRequest, _ id: RequestID, _ state: State) -> QueuedRequest {
        guard request.joinForm != nil else { return request }
        let bodies = ((state.joins[id] ?? []) + [id]).sorted().compactMap { other -> [UInt8]? in
            if case .inline(let bytes)? = state.records[other]?.request.specification.body { bytes } else { nil }
        }
        var carrier = request
        carrier.specification = request.specification.carrying(bodies)
        return carrier
    }

    private func forgetOldest(_ state: inout State) {
        while state.over.count - state.firstOver > resultCount {
            state.records[state.over[state.firstOver]] = nil
            state.firstOver += 1
        }
        guard state.firstOver > 1024, state.firstOver * 2 > state.over.count else { return }
        state.over.removeFirst(state.firstOver)
        state.firstOver = 0
    }
}
