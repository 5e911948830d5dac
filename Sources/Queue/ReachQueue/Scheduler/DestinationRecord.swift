internal import ReachCore

typealias DestinationIndex = SlabIndex<DestinationRecord>
typealias SiteIndex = SlabIndex<DestinationSite>

/// The requests of one user for a destination. Their failures delay that user alone: otherwise a request that makes a
/// server look broken would stop the requests of all users.
struct DestinationRecord: Sendable {
    let destination: Destination
    let owner: UInt32
    /// The destination itself, which all users share.
    let site: SiteIndex
    /// The number of its requests.
    var count = 0
    var running: Int32 = 0
    /// The number of attempts that may run. It grows from one after a resume (slow start).
    var limit: Int32
    /// The resume since which the limit has grown: ``Gates/generation``.
    var generation: UInt32
    var lastStart = BootTime(nanoseconds: .min)

    init(_ key: Key, site: SiteIndex, limit: Int, generation: UInt32) {
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
    var records: [DestinationIndex] = []
    /// The attempts of all users.
    var running: Int32 = 0
    /// The groups that wait until it is reachable.
    var targetGroups: [GroupIndex] = []
    /// Whether its requests form groups of their own, since it may have a route of its own: an address from the
    /// beginning, a name once such a route was found.
    var isSeparate: Bool
    /// The groups of its own that follow its route.
    var routedGroups: [GroupIndex] = []
    /// Its route; `nil` until it is known.
    var route: DestinationRoute?
    /// The number of its requests in each group that it shares with other destinations.
    var sharedGroups: [GroupIndex: Int32] = [:]

    init(destination: Destination) {
        self.destination = destination
        isAddress = destination.isAddress
        isSeparate = isAddress
    }
}

/// What is remembered of a destination that failed a user's requests.
struct DestinationTrouble: Sendable {
    var budget: RetryBudget
    /// By the name of the interface that the attempts used.
    var breakers: [String: CircuitBreaker] = [:]
    /// The last failure that counted as its own; `nil` if that was in an earlier run.
    var lastFailure: AttemptFailure?
    /// Its first attempt after a resume failed.
    var notBefore = BootTime(nanoseconds: .min)
    /// The server asked for this wait (Retry-After).
    var askedUntil = BootTime(nanoseconds: .min)
    /// The same after a failure of the network. It is valid for one epoch.
    var networkNotBefore = BootTime(nanoseconds: .min)
    var epoch: UInt64 = 0
    /// The time since which it is blocked.
    var since: BootTime

    init(_ policy: QueuePolicy, at now: BootTime) {
        budget = RetryBudget(policy.budget, at: now)
        since = now
    }

    /// Whether nothing is remembered that still matters.
    mutating func isOver(at now: BootTime, _ policy: QueuePolicy) -> Bool {
        notBefore <= now && askedUntil <= now && networkNotBefore <= now && breakers.values.allSatisfy(\.isPristine)
            && budget.isFull(at: now, policy.budget)
    }
}
