internal import ReachCore

/// What is known of a destination while requests for it are there.
struct DestinationRecord: Sendable {
    let destination: Destination
    /// How many requests belong to it.
    var count = 0
    var running: Int32 = 0
    /// How many attempts may run: grows from one after a resume (slow start, scheduling.md 4.5).
    var limit: Int32
    /// The resume since which it grew.
    var generation: UInt32
    var lastStart = BootTime(nanoseconds: .min)
    /// The groups that wait for it to be reachable.
    var targetGroups: [Int32] = []

    init(_ destination: Destination, limit: Int, generation: UInt32) {
        self.destination = destination
        self.limit = Int32(clamping: limit)
        self.generation = generation
    }
}

/// What is remembered of a destination that failed.
struct DestinationTrouble: Sendable {
    var budget: RetryBudget
    /// By the name of the interface that the attempts went by.
    var breakers: [String: CircuitBreaker] = [:]
    /// The destination asked for it, or its first attempt after a resume failed.
    var notBefore = BootTime(nanoseconds: .min)
    /// The same after a failure of the network; it holds for one epoch.
    var networkNotBefore = BootTime(nanoseconds: .min)
    var epoch: UInt64 = 0
    /// Since when it is blocked.
    var since: BootTime

    init(_ policy: QueuePolicy, at now: BootTime) {
        budget = RetryBudget(policy.budget, at: now)
        since = now
    }

    /// Nothing is remembered that matters any more.
    mutating func isOver(at now: BootTime, _ policy: QueuePolicy) -> Bool {
        notBefore <= now && networkNotBefore <= now && breakers.values.allSatisfy(\.isPristine)
            && budget.isFull(at: now, policy.budget)
    }
}
