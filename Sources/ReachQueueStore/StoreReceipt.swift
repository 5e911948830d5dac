internal import ReachQueue

/// A transaction that is written, and what is told of it when it is safe.
struct StoreReceipt: Sendable {
    let transaction: StoreTransaction
    let leased: [(RequestID, QueuedRequest)]

    var notice: QueueStore.Notice { .committed(transaction.number, leased: leased) }

    /// Whether those who are told of it rely on it even if the power fails.
    var mustOutlastPower: Bool {
        transaction.changes.contains {
            switch $0 {
            case .lease(_, _, _, let isRepeatable, _): !isRepeatable
            case .update, .holdRequest, .openBreaker, .closeBreaker, .purge: false
            case .insert, .finish, .revive, .holdQueue: true
            }
        }
    }
}
