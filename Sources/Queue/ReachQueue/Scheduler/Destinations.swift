internal import ReachCore

/// Destinations: how many attempts each bears, and how long it is left alone after failures. All but the number of
/// attempts is kept for each user separately.
///
/// Invariants: a record exists while it has requests, or while its failures still count; a site exists while it has
/// records. ``attentive`` holds the destinations with a circuit breaker that is not closed, or with a wait that a new
/// epoch ends.
struct Destinations: Sendable {
    private static let idleLimit = 1024

    /// What keeps requests from a destination, and until when; without a time, until an attempt ends.
    typealias Block = (blocker: Blocker, until: BootTime?)

    var fixed: FixedPolicy {
        didSet { limitsFollow(from: oldValue.policy.slots.destination, to: policy.slots.destination) }
    }
    private var records = Slab<DestinationRecord>()
    private var recordIndices: [DestinationRecord.Key: DestinationIndex] = [:]
    private var sites = Slab<DestinationSite>()
    private var siteIndices: [Destination: SiteIndex] = [:]
    /// The destinations without requests whose failures still count, the oldest first.
    private var idle: [DestinationIndex] = []
    private var troubles: [DestinationIndex: DestinationTrouble] = [:]
    private(set) var attentive: Set<DestinationIndex> = []
    private var timers = DeadlineQueue<DestinationIndex>()
    /// Circuit breakers of an earlier run, for destinations whose requests are still to be restored.
    private var storedBreakers: [StoredBreaker] = []
    var lookups = NameLookups()

    init(_ fixed: FixedPolicy) { self.fixed = fixed }

    private var policy: QueuePolicy { fixed.policy }

    subscript(destination: DestinationIndex) -> DestinationRecord { _read { yield records[destination] } }

    subscript(site: SiteIndex) -> DestinationSite { _read { yield sites[site] } }

    /// The site of a destination with requests, or with failures that still count.
    subscript(destination: Destination) -> SiteIndex? { siteIndices[destination] }

    func site(of destination: DestinationIndex) -> DestinationSite { sites[records[destination].site] }

    /// All sites, in the order of their places.
    var allSites: [SiteIndex] { siteIndices.values.sorted() }

    func trouble(at destination: DestinationIndex) -> DestinationTrouble? { troubles[destination] }

    /// The number of circuit breakers that are not closed.
    var openBreakers: Int { troubles.values.reduce(0) { $0 + $1.breakers.values.count { !$0.isClosed } } }

    var earliestTimer: BootTime? { timers.earliest }

    // MARK: Requests

    /// - Parameter generation: ``Gates/generation``. A new destination is approached slowly only after the next resume.
    mutating func index(of key: DestinationRecord.Key, generation: UInt32) -> DestinationIndex {
        if let index = recordIndices[key] { return index }
        let site = siteIndices[key.destination] ?? sites.insert(DestinationSite(destination: key.destination))
        siteIndices[key.destination] = site
        let record = DestinationRecord(key, site: site, limit: policy.slots.destination, generation: generation)
        let index = records.insert(record)
        recordIndices[key] = index
        sites[site].records.append(index)
        return index
    }

    /// What bore all that the policy allowed may bear more; what was found to bear less is not asked for more at once.
    private mutating func limitsFollow(from old: Int, to new: Int) {
        guard old != new else { return }
        for index in recordIndices.values {
            let limit = records[index].limit
            records[index].limit = limit >= Int32(old) ? Int32(new) : min(limit, Int32(new))
        }
    }

    /// All that have requests, or whose failures still count.
    var all: some Collection<DestinationIndex> { recordIndices.values }

    mutating func join(_ destination: DestinationIndex) { records[destination].count += 1 }

    /// One of its requests is forgotten. Its failures still count for a while.
    mutating func leave(_ destination: DestinationIndex, at now: BootTime) {
        records[destination].count -= 1
        guard records[destination].count == 0 else { return }
        if troubles[destination] == nil { return remove(destination) }
        idle.append(destination)
        let first = idle[0]
        if idle.count > Self.idleLimit || isForgivable(first, at: now) {
            idle.removeFirst()
            if records[first].count == 0, recordIndices[records[first].key] == first { remove(first) }
        }
    }

    private mutating func isForgivable(_ destination: DestinationIndex, at now: BootTime) -> Bool {
        guard records[destination].count == 0, var trouble = troubles[destination] else { return true }
        return trouble.isOver(at: now, policy)
    }

    private mutating func remove(_ destination: DestinationIndex) {
        troubles[destination] = nil
        attentive.remove(destination)
        timers.remove(destination)
        recordIndices[records[destination].key] = nil
        idle.removeAll { $0 == destination }
        records.remove(destination)
        let site = records[destination].site
        sites[site].records.removeAll { $0 == destination }
        guard sites[site].records.isEmpty else { return }
        siteIndices[sites[site].destination] = nil
        lookups.forget(site)
        sites.remove(site)
    }

    // MARK: Attempts

    /// - Parameter resume: The generation of the request's group. The first attempt after a resume goes alone.
    /// - Returns: Whether this is that attempt.
    mutating func start(_ destination: DestinationIndex, resume: UInt32, at now: BootTime) -> Bool {
        if records[destination].generation < resume { approachSlowly(destination, since: resume) }
        records[destination].running += 1
        sites[records[destination].site].running += 1
        records[destination].lastStart = now
        return records[destination].limit == 1 && policy.slots.destination > 1
    }

    /// Counts an attempt again whose answer was judged.
    mutating func regain(_ destination: DestinationIndex) {
        records[destination].running += 1
        sites[records[destination].site].running += 1
    }

    mutating func end(_ destination: DestinationIndex) {
        records[destination].running -= 1
        sites[records[destination].site].running -= 1
    }

    mutating func approachSlowly(_ destination: DestinationIndex, since generation: UInt32) {
        records[destination].limit = 1
        records[destination].generation = max(records[destination].generation, generation)
    }

    // MARK: Whether it bears one more attempt

    /// - Parameter isSpaced: Whether starts are spaced now.
    func block(
        of destination: DestinationIndex, in group: RequestGroup, isRetry: Bool, isSpaced: Bool, at now: BootTime,
        epoch: UInt64
    ) -> Block? {
        if let block = troubleBlock(of: destination, by: group.path, isRetry: isRetry, at: now, epoch: epoch) {
            return block
        }
        let (record, bearable) = (records[destination], Int32(policy.slots.destination))
        let limit = record.generation < group.generation ? 1 : record.limit
        if record.running >= limit { return (.concurrency, nil) }
        // Others may take all of its room; but a user who has none there gets one more.
        if record.running > 0, sites[record.site].running >= bearable { return (.concurrency, nil) }
        // Only until it has shown that it bears more than one at a time.
        guard isSpaced, limit < bearable, record.lastStart.nanoseconds != .min,
            case let next = record.lastStart + policy.starts.destinationSpacing, next > now
        else { return nil }
        return (.rate, next)
    }

    private func troubleBlock(
        of destination: DestinationIndex, by path: QueuePath?, isRetry: Bool, at now: BootTime, epoch: UInt64
    ) -> Block? {
        guard var trouble = troubles[destination] else { return nil }
        if trouble.askedUntil > now { return (.rate, trouble.askedUntil) }
        if trouble.notBefore > now { return (.rate, trouble.notBefore) }
        if trouble.networkNotBefore > now, trouble.epoch == epoch { return (.rate, trouble.networkNotBefore) }
        if let interface = path?.interface, var breaker = trouble.breakers[interface] {
            breaker.advance(to: now)
            if !breaker.admits(running: Int(records[destination].running)) {
                if case .open(let until) = breaker.state { return (.breaker, until) }
                return (.breaker, nil)
            }
        }
        guard isRetry, !trouble.budget.allowsRetry(at: now, policy.budget) else { return nil }
        return (.budget, trouble.budget.allowsRetryFrom(now, policy.budget))
    }

    /// The destination is looked at again at that time, or earlier.
    mutating func setTimer(_ destination: DestinationIndex, noLaterThan time: BootTime) {
        timers.setNoLater(destination, than: time)
    }

    /// A destination whose time may have come.
    mutating func popDue(at now: BootTime, epoch: UInt64) -> DestinationIndex? {
        guard let destination = timers.popDue(at: now) else { return nil }
        if attentive.contains(destination), let trouble = troubles[destination],
            trouble.networkNotBefore <= now || trouble.epoch != epoch, trouble.breakers.values.allSatisfy(\.isClosed)
        {
            attentive.remove(destination)
        }
        return destination
    }

    // MARK: What attempts show

    /// It answered: whatever it said, it is there.
    ///
    /// - Returns: Whether that closed the circuit breaker of the interface.
    mutating func answered(
        _ destination: DestinationIndex, by interface: String, isSuccess: Bool, at now: BootTime
    ) -> Bool {
        if records[destination].limit < Int32(policy.slots.destination) { records[destination].limit += 1 }
        guard var trouble = troubles.removeValue(forKey: destination) else { return false }
        if isSuccess { trouble.budget.succeed(at: now, policy.budget) }
        let wasClosed = trouble.breakers[interface]?.isClosed ?? true
        trouble.breakers[interface]?.succeed(at: now, policy.breaker)
        let isClosed = trouble.breakers[interface]?.isClosed ?? true
        troubles[destination] = trouble
        return !wasClosed && isClosed
    }

    /// It failed, on a path that works.
    ///
    /// - Returns: The circuit breaker of the interface, and until when it is open, if this opened it.
    mutating func failed(
        _ destination: DestinationIndex, by interface: String, _ failure: AttemptFailure, trips: Bool, at now: BootTime,
        using random: inout SplitMix64
    ) -> (step: Int, until: BootTime)? {
        var trouble = troubles.removeValue(forKey: destination) ?? DestinationTrouble(policy, at: now)
        trouble.lastFailure = failure
        trouble.budget.fail(at: now, policy.budget)
        var breaker = trouble.breakers[interface] ?? CircuitBreaker()
        let step = breaker.step
        if trips {
            breaker.trip(at: now, policy.breaker, using: &random)
        } else {
            breaker.fail(at: now, policy.breaker, using: &random)
        }
        trouble.breakers[interface] = breaker
        let hasOpened = breaker.step > step
        if hasOpened { trouble.since = now }
        troubles[destination] = trouble
        guard hasOpened, case .open(let until) = breaker.state else { return nil }
        attentive.insert(destination)
        timers.setNoLater(destination, than: until)
        return (breaker.step, until)
    }

    /// The server asked for a wait until that time.
    mutating func leaveAlone(_ destination: DestinationIndex, until time: BootTime, at now: BootTime) {
        delay(destination, until: time, at: now) { $0.askedUntil = max($0.askedUntil, time) }
    }

    /// Nothing of this user is sent to it before that time.
    ///
    /// - Parameter epoch: The epoch that ends the wait, after a failure of the network; `nil` after other failures.
    mutating func hold(
        off destination: DestinationIndex, until time: BootTime, inEpoch epoch: UInt64?, at now: BootTime
    ) {
        delay(destination, until: time, at: now) { trouble in
            if let epoch {
                (trouble.networkNotBefore, trouble.epoch) = (time, epoch)
            } else {
                trouble.notBefore = max(trouble.notBefore, time)
            }
        }
        if epoch != nil { attentive.insert(destination) }
    }

    private mutating func delay(
        _ destination: DestinationIndex, until time: BootTime, at now: BootTime,
        _ change: (inout DestinationTrouble) -> Void
    ) {
        var trouble = troubles.removeValue(forKey: destination) ?? DestinationTrouble(policy, at: now)
        trouble.since = now
        change(&trouble)
        troubles[destination] = trouble
        timers.setNoLater(destination, than: time)
    }

    /// Earlier attempts turned out to be no failures.
    mutating func refund(_ failures: Int, to destination: DestinationIndex, at now: BootTime) {
        let rules = policy.budget
        troubles[destination]?.budget.refund(failures, at: now, rules)
    }

    mutating func epochChanged() {
        for destination in attentive {
            for interface in troubles[destination]?.breakers.keys.map(\.self) ?? [] {
                troubles[destination]?.breakers[interface]?.epochChanged()
            }
        }
    }

    // MARK: Circuit breakers of an earlier run

    /// - Parameter isLast: Whether all requests are restored, so that the breakers of no other destinations are needed.
    mutating func restore(_ breakers: [StoredBreaker], isLast: Bool, at now: BootTime) {
        let all = storedBreakers + breakers
        storedBreakers = []
        for breaker in all where !restore(breaker, at: now) && !isLast { storedBreakers.append(breaker) }
    }

    mutating func endRestoring() { storedBreakers = [] }

    /// - Returns: Whether there are requests that it concerns.
    private mutating func restore(_ breaker: StoredBreaker, at now: BootTime) -> Bool {
        let key = DestinationRecord.Key(destination: breaker.destination, owner: breaker.owner)
        guard let index = recordIndices[key] else { return false }
        guard breaker.openUntil.boot > now else { return true }
        var trouble = troubles.removeValue(forKey: index) ?? DestinationTrouble(policy, at: now)
        // A clock that was set back must not keep it open.
        let until = min(breaker.openUntil.boot, now + policy.breaker.openLongest)
        trouble.breakers[breaker.interface] = CircuitBreaker(openUntil: until, step: breaker.step)
        troubles[index] = trouble
        attentive.insert(index)
        return true
    }
}

// MARK: Routes

extension Destinations {
    func route(to destination: Destination) -> DestinationRoute? {
        siteIndices[destination].flatMap { sites[$0].route }
    }

    /// Whether a separate destination is reached by the default routes, as the others are.
    func usesDefaultRoutes(_ destination: Destination) -> Bool {
        route(to: destination).map { $0.isByDefault && $0.own.isEmpty } ?? false
    }

    /// - Returns: Whether the route is another one than before.
    mutating func setRoute(_ route: DestinationRoute, of site: SiteIndex) -> Bool {
        defer { sites[site].route = route }
        return sites[site].route != route
    }

    mutating func separate(_ site: SiteIndex) { sites[site].isSeparate = true }

    /// A failure over another route delays no attempt over the new one.
    ///
    /// - Returns: The destinations whose requests may start.
    mutating func endNetworkWaits(at site: SiteIndex) -> [DestinationIndex] {
        let concerned = sites[site].records.filter { troubles[$0] != nil }
        for record in concerned { troubles[record]?.networkNotBefore = BootTime(nanoseconds: .min) }
        return concerned
    }

    /// Counts one more request, or one less, of a destination in a group that it shares with others.
    mutating func share(_ group: GroupIndex, at destination: DestinationIndex, _ change: Int32) {
        let site = records[destination].site
        let count = (sites[site].sharedGroups[group] ?? 0) + change
        sites[site].sharedGroups[group] = count > 0 ? count : nil
    }

    /// - Parameter isTarget: Whether the group's condition asks for the host.
    /// - Returns: The first group that follows the same; `nil` if this is the first.
    mutating func follow(_ site: SiteIndex, _ group: GroupIndex, isTarget: Bool) -> GroupIndex? {
        let first = isTarget ? sites[site].targetGroups.first : sites[site].routedGroups.first
        if isTarget { sites[site].targetGroups.append(group) } else { sites[site].routedGroups.append(group) }
        return first
    }

    /// - Returns: Whether no group follows the same any more.
    mutating func unfollow(_ site: SiteIndex, _ group: GroupIndex, isTarget: Bool) -> Bool {
        guard !isTarget else {
            sites[site].targetGroups.removeAll { $0 == group }
            return sites[site].targetGroups.isEmpty
        }
        sites[site].routedGroups.removeAll { $0 == group }
        guard sites[site].routedGroups.isEmpty else { return false }
        sites[site].route = nil
        sites[site].isSeparate = sites[site].isAddress
        return true
    }
}
