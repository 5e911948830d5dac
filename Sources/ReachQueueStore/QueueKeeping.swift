package import ReachQueue

/// Where the queue's transactions go: a file, or memory.
package protocol QueueKeeping: AnyObject, Sendable {
    /// Has a transaction written, after all before it; answered by ``QueueStore/Notice``.
    func submit(_ transaction: StoreTransaction)
    /// Reads what is kept of a request. `body` is called on any thread, with `nil` if nothing is.
    func outcome(of id: RequestID, _ body: @escaping @Sendable (RequestOutcome?) -> Void)
    /// - Returns: Whether all was written in this time.
    @discardableResult
    func close(patience: Duration) -> Bool
}

extension QueueStore: QueueKeeping {}
