internal import ReachCore

/// The lookups of names that no default route serves. Their hosts may have routes of their own, in an intranet or
/// behind a VPN, which is not known before the names are resolved. All names cannot be resolved all the time: each is
/// looked up once in each network, and then after growing waits.
///
/// Invariants: a name is looked up once at a time; at most eight lookups run, at most four of them of one user.
struct NameLookups: Sendable {
    private static let limit = 8
    private static let limitOfUser = 4
    private static let firstWait = Duration.seconds(30)
    private static let longestWait = Duration.seconds(900)
    /// The wait of a name while as many lookups run as may.
    private static let turn = Duration.seconds(1)

    private struct Lookup: Sendable {
        /// The network in which the name was last looked up.
        var network: UInt64 = 0
        var failures = 0
        /// The time since which the name is not resolved; `nil` if the last lookup found addresses.
        var unresolvedSince: BootTime?
    }

    /// Increases with each network, in which names are looked up again.
    private var network: UInt64 = 1
    private var lookups: [SiteIndex: Lookup] = [:]
    private var timers = DeadlineQueue<SiteIndex>()
    /// The names that are being looked up, and the users whose requests need them.
    private var running: [Destination: UInt32] = [:]

    var earliestTimer: BootTime? { timers.earliest }

    /// The machine is in another network.
    mutating func networkChanged() { network += 1 }

    /// Whether the name is still to be looked up in this network.
    func isDue(_ site: SiteIndex) -> Bool { lookups[site]?.network ?? 0 != network }

    mutating func schedule(_ site: SiteIndex, at time: BootTime) { timers.setNoLater(site, than: time) }

    mutating func popDue(at now: BootTime) -> SiteIndex? { timers.popDue(at: now) }

    mutating func forget(_ site: SiteIndex) {
        timers.remove(site)
        lookups[site] = nil
    }

    /// Begins a lookup, for the user with the fewest running lookups; or puts it off while as many run as may.
    ///
    /// - Parameter users: Those with requests for the name.
    /// - Returns: The user; `nil` if no lookup begins now.
    mutating func begin(_ site: SiteIndex, _ destination: Destination, for users: [UInt32], at now: BootTime) -> UInt32?
    {
        guard running[destination] == nil, let user = users.min(by: { count(of: $0) < count(of: $1) }) else {
            return nil
        }
        guard running.count < Self.limit, count(of: user) < Self.limitOfUser else {
            timers.set(site, to: now + Self.turn)
            return nil
        }
        lookups[site, default: Lookup()].network = network
        running[destination] = user
        return user
    }

    private func count(of user: UInt32) -> Int { running.values.count { $0 == user } }

    mutating func ended(_ destination: Destination) { running[destination] = nil }

    mutating func ended(_ site: SiteIndex, isResolved: Bool, at now: BootTime) {
        lookups[site, default: Lookup()].unresolvedSince = isResolved ? nil : now
    }

    /// Schedules the next lookup of a name.
    ///
    /// - Parameter isStranded: Whether its requests still have no path.
    mutating func scheduleNext(_ site: SiteIndex, isStranded: Bool, at now: BootTime) {
        var lookup = lookups[site] ?? Lookup()
        defer { lookups[site] = lookup }
        guard isStranded, lookup.network == network else {
            lookup.failures = 0
            if isStranded { timers.set(site, to: now) }
            return
        }
        lookup.failures += 1
        let wait = Self.firstWait * (1 << min(lookup.failures - 1, 5))
        timers.set(site, to: now + min(wait, Self.longestWait))
    }

    /// The time since which the name is not resolved; `nil` if it is, or was not looked up.
    func unresolvedSince(_ site: SiteIndex) -> BootTime? { lookups[site]?.unresolvedSince }
}
