package import ReachQueue

/// Where a queue is kept: a file, or the memory of this process.
///
/// What is submitted is answered with ``QueueStore/Notice`` by whatever the storage was made with. Any thread may call.
package protocol QueueStorage: AnyObject, Sendable {
    /// Has a transaction written.
    func submit(_ transaction: StoreTransaction)

    /// Reads what is kept of a request. `body` runs on any thread, with `nil` if nothing is.
    func record(of id: RequestID, _ body: @escaping @Sendable (RequestRecord?) -> Void)

    /// Reads what is kept of several, by their numbers from the lowest. `body` runs on any thread.
    func records(_ query: RecordQuery, _ body: @escaping @Sendable ([RequestRecord]) -> Void)

    /// Writes what is there, and ends.
    ///
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
