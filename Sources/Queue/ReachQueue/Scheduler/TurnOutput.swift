/// What a turn has come to so far.
struct TurnOutput: Sendable {
    /// To be kept until the store can write them.
    var changes: [StoreChange] = []
    /// New requests and leases: refused while the store cannot write.
    var refusable: [StoreChange] = []
    var actions: [QueueAction] = []
    var events: [QueueEvent] = []
    /// Events that are true only if the refusable changes are.
    var refusableEvents: [QueueEvent] = []
    var replies: [PendingReply] = []
    var inserted: [Int32] = []
    var leased: [Lease] = []
    /// Requests whose state is reported at the end of the turn if they wait.
    var asked: [Int32] = []
}

/// One attempt of one request.
struct Lease: Hashable, Sendable {
    let id: RequestID
    let attempt: Int
}

struct PendingReply: Hashable, Sendable {
    let ticket: QueueInput.Ticket
    let reply: QueueReply
    /// It is the answer to a request that may be refused.
    var insertion: RequestID?
}

/// What is reported once a transaction is committed. Transactions are committed in order.
struct PendingWrites: Sendable {
    struct Write: Sendable {
        var events: [QueueEvent] = []
        var replies: [PendingReply] = []
        var inserted: [Int32] = []
        var leased: [Lease] = []
        /// The disk failed. It is written when the disk works again, which may take long.
        var isPostponed = false
    }

    private var writes: [UInt64: Write] = [:]
    private var lastNumber: UInt64 = 0
    /// The last one that is kept until it can be written.
    private var lastNeeded: UInt64 = 0

    mutating func add(_ write: Write, isNeeded: Bool) -> UInt64 {
        lastNumber += 1
        writes[lastNumber] = write
        if isNeeded { lastNeeded = lastNumber }
        return lastNumber
    }

    mutating func remove(_ number: UInt64) -> Write? { writes.removeValue(forKey: number) }

    /// Reports events after the last transaction, if one is being written, so that events stay in order.
    ///
    /// - Returns: Whether there was one.
    mutating func append(_ events: [QueueEvent]) -> Bool {
        guard writes[lastNumber] != nil else { return false }
        writes[lastNumber]?.events += events
        return true
    }

    /// Answers clients after the last transaction that must be written, if one is on its way. One that waits for the disk to work
    /// again keeps no client waiting: no change is accepted meanwhile, so what they hear does not follow from it.
    ///
    /// - Returns: Whether there was one.
    mutating func append(_ replies: [PendingReply]) -> Bool {
        guard writes[lastNeeded]?.isPostponed == false else { return false }
        writes[lastNeeded]?.replies += replies
        return true
    }

    /// Notes that the disk failed under a transaction.
    ///
    /// - Returns: The clients that wait for it. They no longer do, and no others will.
    mutating func postpone(_ number: UInt64) -> [PendingReply] {
        guard let write = writes[number] else { return [] }
        writes[number]?.replies = []
        writes[number]?.isPostponed = true
        return write.replies
    }

    /// Adds a client that waits for a request which is being stored.
    mutating func append(_ reply: PendingReply, toInsertionOf slot: Int32) -> Bool {
        guard let number = writes.first(where: { $0.value.inserted.contains(slot) })?.key else { return false }
        writes[number]?.replies.append(reply)
        return true
    }
}
