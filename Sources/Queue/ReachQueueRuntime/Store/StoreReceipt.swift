internal import ReachQueue

/// A transaction that is written, and what follows when it is safe.
struct StoreReceipt: Sendable {
    let transaction: StoreTransaction
    var leased: [(RequestID, QueuedRequest)] = []
    /// Spool files that nothing names any more.
    var filesToRemove: [String] = []
    /// Why it is not written, now or later.
    var rejection: String?

    init(transaction: StoreTransaction) { self.transaction = transaction }

    var notice: QueueStore.Notice { .committed(transaction.number, leased: leased) }

    /// Whether somebody relies on it even if the power fails.
    var mustOutlastPower: Bool {
        transaction.isAwaited
            || transaction.changes.contains {
                switch $0 {
                case .lease(_, _, _, let isRepeatable, _): !isRepeatable
                case .update, .holdRequest, .openBreaker, .closeBreaker, .purge, .markRead, .setMetered: false
                // With a lease.
                case .join: false
                case .insert, .finish, .revive, .holdQueue: true
                }
            }
    }
}
