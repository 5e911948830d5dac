internal import ReachCore

/// Requests whose bodies are sent together: those that wait for others, and those that another one carries.
///
/// Invariants: a request waits here only until its first attempt, since an earlier one may have arrived; a request that
/// is carried has one carrier, in whose attempts it is until the carrier ends. Who is carried is committed with the
/// carrier's first lease.
struct Joins: Sendable {
    struct Key: Hashable, Sendable {
        let owner: UInt32
        let group: String
    }

    private struct Waiting: Sendable {
        var slots: [Slot] = []
        var bytes: Int64 = 0
    }

    var fixed: FixedPolicy
    private var waiting: [Key: Waiting] = [:]
    /// Of those that wait, or are carried.
    private var keys: [Slot: Key] = [:]
    private var bytes: [Slot: Int64] = [:]
    private var carriers: [Slot: RequestID] = [:]
    private var members: [RequestID: [Slot]] = [:]
    /// Carriers of an earlier run that ended before all that they carried was restored.
    private var ended: [RequestID: (end: RequestEnd, status: Int?)] = [:]
    /// Whether requests of an earlier run may still come.
    private(set) var isRestoring = true

    init(_ fixed: FixedPolicy) { self.fixed = fixed }

    private var policy: JoinPolicy { fixed.policy.joining }

    var isEmpty: Bool { keys.isEmpty }

    // MARK: Waiting

    mutating func wait(_ slot: Slot, key: Key, bytes count: Int64) {
        keys[slot] = key
        bytes[slot] = count
        waiting[key, default: Waiting()].slots.append(slot)
        waiting[key]?.bytes += count
    }

    func isWaiting(_ slot: Slot) -> Bool { keys[slot] != nil && carriers[slot] == nil }

    /// Whether there is no reason to wait for more.
    func isFull(_ slot: Slot) -> Bool {
        guard let waiting = keys[slot].flatMap({ waiting[$0] }) else { return false }
        return waiting.slots.count >= policy.count || waiting.bytes >= policy.bytes
    }

    /// The first that waits of the same key.
    func first(like slot: Slot) -> Slot? { keys[slot].flatMap { waiting[$0]?.slots.first } }

    private mutating func leave(_ slot: Slot, _ key: Key) {
        guard let place = waiting[key]?.slots.firstIndex(of: slot) else { return }
        waiting[key]?.slots.remove(at: place)
        waiting[key]?.bytes -= bytes[slot] ?? 0
        if waiting[key]?.slots.isEmpty == true { waiting[key] = nil }
    }

    // MARK: Carrying

    /// Those that wait for the same as a request, in their order.
    func others(like slot: Slot) -> [Slot] {
        guard isWaiting(slot), let key = keys[slot] else { return [] }
        return waiting[key]?.slots ?? []
    }

    /// The first attempt of a request begins: it carries others, as many as the limits allow.
    ///
    /// - Returns: Those that it carries.
    mutating func begin(_ slot: Slot, _ id: RequestID, among others: some Sequence<Slot>) -> [Slot] {
        guard isWaiting(slot), let key = keys[slot] else { return [] }
        var (carried, room) = ([Slot](), policy.bytes - (bytes[slot] ?? 0))
        for other in others where other != slot {
            let count = bytes[other] ?? 0
            guard carried.count + 1 < policy.count, count <= room else { break }
            room -= count
            carried.append(other)
        }
        for gone in carried + [slot] { leave(gone, key) }
        (keys[slot], bytes[slot]) = (nil, nil)
        for other in carried { carriers[other] = id }
        if !carried.isEmpty { members[id] = carried }
        return carried
    }

    /// A request that an earlier run gave a carrier.
    mutating func carry(_ slot: Slot, by carrier: RequestID, key: Key, bytes count: Int64) {
        (keys[slot], bytes[slot], carriers[slot]) = (key, count, carrier)
        members[carrier, default: []].append(slot)
    }

    func carrier(of slot: Slot) -> RequestID? { carriers.isEmpty ? nil : carriers[slot] }

    /// The carrier is over.
    ///
    /// - Returns: Those that it carried.
    mutating func end(_ id: RequestID) -> [Slot] {
        guard !members.isEmpty, let carried = members.removeValue(forKey: id) else { return [] }
        for slot in carried { (carriers[slot], keys[slot], bytes[slot]) = (nil, nil, nil) }
        return carried
    }

    /// Nothing was sent or written: those that were to be carried wait again, and the carrier goes alone.
    mutating func undo(_ id: RequestID) -> [Slot] {
        guard !members.isEmpty, let carried = members.removeValue(forKey: id) else { return [] }
        for slot in carried {
            carriers[slot] = nil
            if let key = keys[slot] { wait(slot, key: key, bytes: bytes[slot] ?? 0) }
        }
        return carried
    }

    /// The request is over or forgotten.
    mutating func remove(_ slot: Slot) {
        guard !keys.isEmpty, let key = keys.removeValue(forKey: slot) else { return }
        leave(slot, key)
        bytes[slot] = nil
        if let carrier = carriers.removeValue(forKey: slot) {
            members[carrier]?.removeAll { $0 == slot }
            if members[carrier]?.isEmpty == true { members[carrier] = nil }
        }
    }

    // MARK: An earlier run

    /// A carrier ended while requests of an earlier run were still being restored.
    mutating func note(_ end: RequestEnd, _ status: Int?, of id: RequestID) { ended[id] = (end, status) }

    func end(of carrier: RequestID) -> (end: RequestEnd, status: Int?)? { ended[carrier] }

    /// The carriers of those that are carried.
    var carrierIDs: [RequestID] { members.keys.sorted() }

    /// All are restored.
    mutating func endRestoring() { (ended, isRestoring) = ([:], false) }
}

/// How many bodies are sent together, and how long the first one waits for others.
package struct JoinPolicy: Hashable, Sendable {
    package var count = 500
    package var bytes: Int64 = 256 << 10
    /// From its adding on. Urgent requests do not wait.
    package var wait: Duration = .seconds(10)

    package init() {}
}
