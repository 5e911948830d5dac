internal import ReachCore

/// The requests that are not forgotten, their numbers, and the orders in which they follow one another.
///
/// Invariants: each number is given once, and finds its entry until ``remove(_:)``; ``QueueEntry/chain`` names the
/// order whose members include the request.
struct RequestTable: Sendable {
    private var entries = Slab<QueueEntry>()
    private var slots: [RequestID: Slot] = [:]
    private var nextID: Int64
    private var chains = OrderChains()
    private var recent = RecentRequests(capacity: 4096)
    /// The time at which requests of an earlier run were restored; `nil` without any.
    var restored: BootTime?

    init(firstID: Int64) { nextID = firstID }

    var isEmpty: Bool { entries.capacity == 0 }

    subscript(slot: Slot) -> QueueEntry {
        _read { yield entries[slot] }
        _modify { yield &entries[slot] }
    }

    subscript(id: RequestID) -> Slot? { slots[id] }

    /// All slots, also those whose entry is ``QueueEntry/Place/free``.
    var indices: some Sequence<Slot> { entries.indices }

    /// The numbers and slots of all requests.
    var all: [RequestID: Slot] { slots }

    mutating func reserveCapacity(_ count: Int) {
        slots.reserveCapacity(count)
        entries.reserveCapacity(count)
    }

    mutating func newID() -> RequestID {
        defer { nextID += 1 }
        return RequestID(rawValue: nextID)
    }

    mutating func insert(_ entry: QueueEntry) -> Slot {
        nextID = max(nextID, entry.id.rawValue + 1)
        let slot = entries.insert(entry)
        slots[entry.id] = slot
        return slot
    }

    mutating func remove(_ slot: Slot) {
        slots[entries[slot].id] = nil
        entries[slot].place = .free
        entries.remove(slot)
    }

    // MARK: Requests that are over

    /// Remembers the owner of a request that is over.
    mutating func remember(_ slot: Slot) { recent.insert(entries[slot].id, of: entries[slot].owner) }

    /// The owner of a request that ended recently.
    func recentOwner(of id: RequestID) -> UInt32? { recent.owner(of: id) }

    // MARK: Orders

    mutating func join(_ order: OrderChains.Key, _ slot: Slot) { entries[slot].chain = chains.append(slot, to: order) }

    /// - Returns: The request after it in its order.
    mutating func leaveOrder(_ slot: Slot) -> Slot? {
        guard let chain = entries[slot].chain else { return nil }
        entries[slot].chain = nil
        return chains.remove(slot, from: chain)
    }

    func order(of slot: Slot) -> OrderChains.Key? { entries[slot].chain.map(chains.key) }

    func head(of order: OrderChains.Key) -> Slot? { chains.head(of: order) }

    /// The request that has to be over first; `nil` if there is none.
    func predecessor(of slot: Slot) -> Slot? {
        guard let chain = entries[slot].chain, let head = chains.head(of: chain), head != slot else { return nil }
        return head
    }

    /// The requests before it in its order, the first first.
    func predecessors(of slot: Slot) -> [Slot] {
        entries[slot].chain.map { chains.members(of: $0, before: slot) } ?? []
    }
}

/// The owners of the requests that ended last. A call about such a request fails: for its owner because the request is
/// over, for other users as if it had never existed.
struct RecentRequests: Sendable {
    private struct Ended: Sendable {
        let id: RequestID
        let owner: UInt32
    }

    private let capacity: Int
    /// Not by number: every request is inserted here, and few are looked up.
    private var requests: [Ended] = []
    private var oldest = 0

    init(capacity: Int) { self.capacity = capacity }

    func owner(of id: RequestID) -> UInt32? { requests.first { $0.id == id }?.owner }

    mutating func insert(_ id: RequestID, of owner: UInt32) {
        let ended = Ended(id: id, owner: owner)
        if requests.count < capacity {
            requests.append(ended)
        } else {
            requests[oldest] = ended
            oldest = (oldest + 1) % capacity
        }
    }
}
