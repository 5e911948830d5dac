internal import ReachCore

/// One turn of the scheduler: its instant, its random numbers, and what it has come to so far.
struct Turn: Sendable {
    var moment: Instant
    var random: SplitMix64
    /// Whether the turn ended before everything that is due was handled, so that the next turn follows at once.
    var hasMore = false
    /// Changes that the store keeps until it can write them.
    var changes: [StoreChange] = []
    /// New requests and leases: refused while the store cannot write.
    var refusable: [StoreChange] = []
    var actions: [QueueAction] = []
    var events: [QueueEvent] = []
    /// Events that are true only if the refusable changes are written.
    var refusableEvents: [QueueEvent] = []
    var replies: [PendingReply] = []
    var inserted: [Slot] = []
    var leased: [Lease] = []
    /// Requests whose state is reported at the end of the turn if they wait.
    var asked: [Slot] = []

    init(at moment: Instant, _ random: SplitMix64) {
        self.moment = moment
        self.random = random
    }

    var now: BootTime { moment.boot }

    /// Ends the turn.
    ///
    /// - Returns: What it has come to.
    mutating func end() -> Turn {
        var next = Turn(at: moment, random)
        next.hasMore = hasMore
        swap(&next, &self)
        return next
    }
}

/// One attempt of one request.
struct Lease: Hashable, Sendable {
    let id: RequestID
    let attempt: Int
}

struct PendingReply: Hashable, Sendable {
    let ticket: QueueInput.Ticket
    let reply: QueueReply
    /// The request whose insertion it answers, which may be refused.
    var insertion: RequestID?
}
