internal import ReachCore

/// Whether the store can write, and what is reported once each transaction is committed.
///
/// Invariants: transactions are numbered and committed in order, so an event is reported after all earlier ones; a
/// client is answered after the changes that the answer follows from.
struct StoreState: Sendable {
    struct Write: Sendable {
        var events: [QueueEvent] = []
        var replies: [PendingReply] = []
        var inserted: [Slot] = []
        var leased: [Lease] = []
        /// The disk failed. It is written when the disk works again, which may take long.
        fileprivate var isPostponed = false
    }

    /// Whether new requests cannot be stored.
    private(set) var isDegraded = false
    /// The time of the last change of ``isDegraded``.
    private(set) var since: BootTime
    /// Whether no change can be stored at all, not even in the space that is reserved for the ends of requests.
    private(set) var isStuck = false
    private var writes: [UInt64: Write] = [:]
    private var lastNumber: UInt64 = 0
    /// The last transaction that is kept until it can be written.
    private var lastNeeded: UInt64 = 0

    init(at now: BootTime) { since = now }

    mutating func setDegraded(_ degraded: Bool, at now: BootTime) {
        if !degraded { isStuck = false }
        guard degraded != isDegraded else { return }
        (isDegraded, since) = (degraded, now)
    }

    /// The transaction is written, or will not be.
    mutating func remove(_ number: UInt64) -> Write? { writes.removeValue(forKey: number) }

    /// The disk failed when a transaction was written that must be.
    ///
    /// - Returns: The clients that wait for it. They no longer do, and no others will.
    mutating func postpone(_ number: UInt64) -> [PendingReply] {
        isStuck = true
        guard let write = writes[number] else { return [] }
        writes[number]?.replies = []
        writes[number]?.isPostponed = true
        return write.replies
    }

    /// Adds a client that waits for a request which is being stored.
    mutating func append(_ reply: PendingReply, toInsertionOf slot: Slot) -> Bool {
        guard let number = writes.first(where: { $0.value.inserted.contains(slot) })?.key else { return false }
        writes[number]?.replies.append(reply)
        return true
    }

    /// Orders the output of a turn: first what must be written, then what may be refused.
    mutating func actions(of turn: Turn) -> [QueueAction] {
        var actions = turn.actions
        let replies = turn.replies.filter { $0.insertion == nil }
        if !turn.changes.isEmpty {
            let number = add(Write(events: turn.events, replies: replies))
            lastNeeded = number
            actions.append(
                .store(
                    StoreTransaction(
                        number: number, changes: turn.changes, mayBeRefused: false, isAwaited: !replies.isEmpty,
                        events: turn.events)))
        } else {
            // An answer to a client may follow from a change that is on its way to the disk: it waits for that.
            if !append(replies) { actions += replies.map { .reply($0.ticket, $0.reply) } }
            if !append(turn.events) { actions += turn.events.map(QueueAction.publish) }
        }
        let insertions = turn.replies.filter { $0.insertion != nil }
        guard !turn.refusable.isEmpty else { return actions + insertions.map { .reply($0.ticket, $0.reply) } }
        let number = add(
            Write(events: turn.refusableEvents, replies: insertions, inserted: turn.inserted, leased: turn.leased))
        actions.append(
            .store(
                StoreTransaction(
                    number: number, changes: turn.refusable, mayBeRefused: true, events: turn.refusableEvents)))
        return actions
    }

    private mutating func add(_ write: Write) -> UInt64 {
        lastNumber += 1
        writes[lastNumber] = write
        return lastNumber
    }

    /// Reports events after the last transaction, if it is being written.
    private mutating func append(_ events: [QueueEvent]) -> Bool {
        guard writes[lastNumber] != nil else { return false }
        writes[lastNumber]?.events += events
        return true
    }

    /// Answers clients after the last transaction that must be written, if it is being written. A transaction that
    /// waits for the disk to work again delays no client: no change is accepted meanwhile, so the answers do not follow
    /// from it.
    private mutating func append(_ replies: [PendingReply]) -> Bool {
        guard writes[lastNeeded]?.isPostponed == false else { return false }
        writes[lastNeeded]?.replies += replies
        return true
    }
}
