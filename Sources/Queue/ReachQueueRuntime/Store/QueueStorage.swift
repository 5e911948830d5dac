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
    /// How much is kept of requests that are done or cancelled, from now on.
    func keep(_ results: QueuePolicy.Keeping)
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

/// Bytes of answers that are on their way, or begun and waiting for their next attempt: an owner's together.
struct AnswerQuota {
    private var parts: [RequestID: (owner: UInt32, bytes: UInt64)] = [:]
    private var totals: [UInt32: UInt64] = [:]

    mutating func set(_ id: RequestID, of owner: UInt32, to bytes: UInt64) {
        remove(id)
        parts[id] = (owner, bytes)
        totals[owner, default: 0] += bytes
    }

    mutating func remove(_ id: RequestID) {
        guard !parts.isEmpty, let part = parts.removeValue(forKey: id), let total = totals[part.owner] else { return }
        totals[part.owner] = total > part.bytes ? total - part.bytes : nil
    }

    func bytes(of owner: UInt32) -> UInt64 { totals[owner] ?? 0 }

    func bytes(of owner: UInt32, without id: RequestID) -> UInt64 { bytes(of: owner) - (parts[id]?.bytes ?? 0) }

    /// The oldest of an owner's that is so.
    func first(of owner: UInt32, where isWanted: (RequestID) -> Bool) -> RequestID? {
        parts.filter { $0.value.owner == owner && isWanted($0.key) }.keys.min()
    }
}
