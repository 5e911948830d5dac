internal import ReachQueue

/// A transaction that is written, and what follows when it is safe.
struct StoreReceipt: Sendable {
    let transaction: StoreTransaction
    var leased: [(RequestID, QueuedRequest)]
    /// Spool files that nothing names any more.
    var doomed: [String]
    /// Why the tables do not take it: it is not written.
    var rejection: String?
    /// Whether it is in the change log, and not in SQLite's.
    var isLogged = false

    var notice: QueueStore.Notice { .committed(transaction.number, leased: leased) }

    /// Whether somebody relies on it even if the power fails.
    var mustOutlastPower: Bool {
        transaction.isAwaited
            || transaction.changes.contains {
                switch $0 {
                case .lease(_, _, _, let isRepeatable, _): !isRepeatable
                case .update, .holdRequest, .openBreaker, .closeBreaker, .purge, .markRead: false
                case .insert, .finish, .revive, .holdQueue: true
                }
            }
    }
}
