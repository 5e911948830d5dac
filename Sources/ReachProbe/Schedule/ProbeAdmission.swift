/// Who may send now: so many attempts at a time over all probes, the rest in the order in which they came.
///
/// Sixteen at a time by default (scheduling.md 4.8): three are too few for a machine's probes when a network is slow, and
/// hundreds at once would measure each other.
package struct ProbeAdmission<ID: Hashable & Sendable>: Sendable {
    package var limit: Int
    private var running: Set<ID> = []
    private var waiting: [ID] = []
    /// Of `waiting`; those before it are gone. Removing from the front of an array costs its length.
    private var head = 0

    package init(limit: Int = 16) { self.limit = limit }

    package var runningCount: Int { running.count }
    package var waitingCount: Int { waiting.count - head }

    /// - Returns: Whether it may begin now; else it waits, and ``next()`` names it.
    package mutating func ask(_ id: ID) -> Bool {
        guard running.count < limit, waitingCount == 0 else {
            waiting.append(id)
            return false
        }
        running.insert(id)
        return true
    }

    /// It is done, or no longer wants to begin.
    package mutating func leave(_ id: ID) {
        if running.remove(id) == nil, let place = waiting[head...].firstIndex(of: id) { waiting.remove(at: place) }
    }

    /// The next that may begin; `nil` when there is none, or no room.
    package mutating func next() -> ID? {
        guard running.count < limit, head < waiting.count else { return nil }
        let id = waiting[head]
        head += 1
        if head == waiting.count || head > 256 {
            waiting.removeFirst(head)
            head = 0
        }
        running.insert(id)
        return id
    }
}
