package import ReachQueue

/// Where the queue's transactions go: a file, or memory.
package protocol QueueStorage: AnyObject, Sendable {
    /// Has a transaction written, in order; answered by ``QueueStore/Notice``.
    func submit(_ transaction: StoreTransaction)
    /// The same, but ``wake()`` has to be called for it.
    func enqueue(_ transaction: StoreTransaction)
    func wake()
    /// Reads all that is kept of a request but its body, on behalf of a user: users take turns. `body` is called on any
    /// thread, with `nil` if nothing is.
    func record(
        of id: RequestID, for user: UInt32,
        _ body: @escaping @Sendable (Result<RequestReport?, QueueStoreError>) -> Void)
    /// Reads what is kept of several, by their numbers from the lowest, on behalf of a user. `body` is called on any
    /// thread.
    func records(
        _ query: RecordQuery, for user: UInt32,
        _ body: @escaping @Sendable (Result<[RequestReport], QueueStoreError>) -> Void)
    func trimOutbox(upTo number: Int64)
    /// - Returns: Whether all was written in this time.
    @discardableResult
    func close(patience: Duration) -> Bool
}

extension QueueStore: QueueStorage {}

/// Which requests are wanted.
package struct RecordQuery: Hashable, Sendable {
    /// `nil` is everybody's.
    package var owner: UInt32?
    /// Only those with larger numbers.
    package var after: Int64
    package var limit: Int
    /// Only those that are over, or only those that are not; `nil` is both.
    package var isOver: Bool?

    package init(owner: UInt32? = nil, after: Int64 = 0, limit: Int, isOver: Bool? = nil) {
        self.owner = owner
        self.after = after
        self.limit = limit
        self.isOver = isOver
    }
}
