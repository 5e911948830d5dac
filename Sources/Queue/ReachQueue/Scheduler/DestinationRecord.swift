internal import ReachCore

/// What one user's requests have met at a destination, while there are some. What they met holds back that user alone:
/// a request that makes a server look broken would otherwise stop the requests of all.
struct DestinationRecord: Sendable {
    let destination: Destination
    let owner: UInt32
    /// The destination itself, which all users share.
    let site: Int32
    /// How many requests belong to it.
    var count = 0
    var running: Int32 = 0
    /// How many attempts may run: grows from one after a resume (slow start).
    var limit: Int32
    /// The resume since which it grew.
    var generation: UInt32
    var lastStart = BootTime(nanoseconds: .min)

    init(_ key: Key, site: Int32, limit: Int, generation: UInt32) {
        destination = key.destination
        owner = key.owner
        self.site = site
        self.limit = Int32(clamping: limit)
        self.generation = generation
    }
}

extension DestinationRecord {
    struct Key: Hashable, Sendable {
        let destination: Destination
        let owner: UInt32
    }

    var key: Key { Key(destination: destination, owner: owner) }
}

/// A destination with the records of all users who have requests for it.
struct DestinationSite: Sendable {
    let destination: Destination
    /// Whether its addresses are known without a lookup. Every request asks for that.
    let isAddress: Bool
    var records: [Int32] = []
    /// Attempts of all users.
    var running: Int32 = 0
    /// The groups that wait for it to be reachable.
    var targetGroups: [Int32] = []
    /// Whether its requests form groups of their own, since it may have a route of its own: an address has from the
    /// beginning, a name once it turned out to.
    var isApart: Bool
    /// The groups of its own that follow its route.
    var routedGroups: [Int32] = []
    /// Its route; `nil` until it is known.
    var route: DestinationRoute?
    /// How many of its requests belong to each group that it shares with other destinations.
    var sharedGroups: [Int32: Int32] = [:]
    var lookup = NameLookup()

    init(destination: Destination) {
        self.destination = destination
        isAddress = destination.isAddress
        isApart = isAddress
    }
}

/// The lookups of a name whose requests no default route serves.
struct NameLookup: Sendable {
    /// The network in which it was looked up last: ``QueueScheduler/networkNumber``.
    var network: UInt64 = 0
    var failures = 0
    /// The last lookup gave no address.
    var isUnresolved = false
    /// When the last lookup ended.
    var since = BootTime(nanoseconds: .min)
}

/// What is remembered of a destination that failed a user's requests.
struct DestinationTrouble: Sendable {
    var budget: RetryBudget
    /// By the name of the interface that the attempts went by.
    var breakers: [String: CircuitBreaker] = [:]
    /// The status of the last response that counted as its failure; 0 if it did not answer; `nil` if that was in an earlier run.
    var lastFailure: Int16?
    /// Its first attempt after a resume failed.
    var notBefore = BootTime(nanoseconds: .min)
    /// The server asked for it (Retry-After).
    var askedUntil = BootTime(nanoseconds: .min)
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
        notBefore <= now && askedUntil <= now && networkNotBefore <= now && breakers.values.allSatisfy(\.isPristine)
            && budget.isFull(at: now, policy.budget)
    }
}
