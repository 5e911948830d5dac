internal import ReachCore

/// The times at which unfinished requests expire, and the dead requests that are kept for a while.
///
/// Invariants: an unfinished request has one deadline, and a dead one has none but is in its owner's list of dead
/// requests, whose bytes are their sum. An owner is listed while they have dead requests.
struct RequestDeadlines: Sendable {
    private struct DeadRequests: Sendable {
        /// The times at which they are deleted.
        var times = DeadlineQueue<Slot>()
        /// Their bytes, with their answers.
        var bytes: Int64 = 0
    }

    private var limits: QueuePolicy.Keeping
    private var unfinished = SlotDeadlines()
    private var dead = DeadlineQueue<Slot>()
    private var owners: [UInt32: DeadRequests] = [:]
    /// The order that each dead request had. It joins this order again when it is retried.
    private var orders: [Slot: OrderChains.Key] = [:]

    init(_ policy: QueuePolicy) { limits = policy.dead }

    mutating func reserveCapacity(_ count: Int) { unfinished.reserveCapacity(count) }

    // MARK: Unfinished requests

    mutating func set(_ slot: Slot, to deadline: BootTime) { unfinished.set(slot, to: deadline) }

    mutating func remove(_ slot: Slot) { unfinished.remove(slot) }

    mutating func popExpired(at now: BootTime) -> Slot? { unfinished.popDue(at: now) }

    /// The next deadline, rounded up to a full second, so that all requests that expire in one second cause one
    /// wake-up.
    var next: BootTime? {
        let second: Int64 = 1_000_000_000
        guard let time = unfinished.earliest?.nanoseconds, time < .max - second else { return unfinished.earliest }
        return BootTime(nanoseconds: (time + second - 1) / second * second)
    }

    // MARK: Dead requests

    mutating func keep(_ slot: Slot, _ entry: QueueEntry, order: OrderChains.Key?) {
        orders[slot] = order
        let end = entry.since + limits.lifetime
        dead.set(slot, to: end)
        owners[entry.owner, default: DeadRequests()].times.set(slot, to: end)
        owners[entry.owner]?.bytes += entry.deadBytes
    }

    /// Keeps the dead requests as long as these limits say.
    mutating func keep(_ slots: some Sequence<(Slot, QueueEntry)>, within limits: QueuePolicy.Keeping) {
        self.limits = limits
        for (slot, entry) in slots {
            let end = entry.since + limits.lifetime
            dead.set(slot, to: end)
            owners[entry.owner]?.times.set(slot, to: end)
        }
    }

    /// The owners of dead requests.
    var ownersOfDead: some Collection<UInt32> { owners.keys }

    /// - Returns: The order that the request had.
    mutating func takeDead(_ slot: Slot, _ entry: QueueEntry) -> OrderChains.Key? {
        dead.remove(slot)
        owners[entry.owner]?.times.remove(slot)
        owners[entry.owner]?.bytes -= entry.deadBytes
        if owners[entry.owner]?.times.isEmpty == true { owners[entry.owner] = nil }
        return orders.removeValue(forKey: slot)
    }

    /// A dead request whose time is over. No timer runs for it.
    func overdueDead(at now: BootTime) -> Slot? {
        guard let end = dead.earliest, end <= now else { return nil }
        return dead.first
    }

    /// The oldest dead request of an owner who has too many. The last one is kept, however long it is.
    func surplusDead(of owner: UInt32) -> Slot? {
        guard let dead = owners[owner] else { return nil }
        let isTooLong = dead.bytes > limits.bytes && dead.times.count > 1
        return dead.times.count > limits.count || isTooLong ? dead.times.first : nil
    }

    /// The bytes of an owner's dead requests beyond those that the policy keeps.
    func surplusBytes(of owner: UInt32) -> Int64 { max(0, (owners[owner]?.bytes ?? 0) - limits.bytes) }

    /// The same of all owners.
    var surplusBytes: Int64 { owners.keys.reduce(0) { $0 + surplusBytes(of: $1) } }
}
