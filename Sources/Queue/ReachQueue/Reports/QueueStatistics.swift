package import ReachCore

/// Figures of the queue as a whole, of all users together: they name no user, no host and no request, since metrics may
/// be read by everyone.
package struct QueueStatistics: Hashable, Sendable {
    /// Unfinished requests without an attempt, apart from those that are held.
    package var waiting = 0
    /// Unfinished requests that are held, each by itself.
    package var held = 0
    package var running = 0
    package var dead = 0
    /// The age of the oldest unfinished request.
    package var oldest: Duration?
    /// Bytes of unfinished requests and of uploads, and how many there may be.
    package var bytes: Int64 = 0
    package var bytesAllowed: Int64 = 0
    /// Circuit breakers that are not closed.
    package var openBreakers = 0
    /// Whether root or the fleet holds the queue.
    package var isHeld = false
    /// Whether the queue's file cannot be written.
    package var isDegraded = false
    /// The budgets for metered links of all users and of links.
    package var budgets: [MeteredReport] = []

    package init() {}
}

extension QueueScheduler {
    /// Looks at each request once: 10,000 of them take some ten microseconds.
    package func statistics(at now: BootTime) -> QueueStatistics {
        var statistics = QueueStatistics()
        var oldest: BootTime?
        for slot in requests.indices {
            let entry = requests[slot]
            switch entry.place {
            case .free: continue
            case .dead:
                statistics.dead += 1
                continue
            case .running, .judged: statistics.running += 1
            case .storing, .ready, .networkWait, .destinationWait, .parked, .preparing:
                if entry.flags.contains(.held) { statistics.held += 1 } else { statistics.waiting += 1 }
            }
            oldest = min(oldest ?? entry.created, entry.created)
        }
        statistics.oldest = oldest.map { max(.zero, now - $0) }
        statistics.bytes = owners.bytes
        statistics.bytesAllowed = policy.limits.bytesOfAll(diskRoom).bytes
        statistics.openBreakers = destinations.openBreakers
        statistics.isHeld = owners.holdsAll
        statistics.isDegraded = store.isDegraded
        statistics.budgets = meteredReports(for: .root, at: moment.at(now).wall).filter { $0.scope.owner == nil }
        return statistics
    }
}
