/// Limits how many attempts run at a time, over all probes. The others wait in the order of their requests.
///
/// The default is sixteen: three are too few for a machine's probes when the network is slow, and hundreds at once
/// would distort each other's latency.
package struct ProbeAdmission<ID: Hashable & Sendable>: Sendable {
    package var limit: Int
    private var running: Set<ID> = []
    private var waiting: [ID] = []
    /// Index of the first element of `waiting` that still waits, since removing an array's first element takes linear
    /// time.
    private var head = 0

    package init(limit: Int = 16) { self.limit = limit }

    package var runningCount: Int { running.count }
    package var waitingCount: Int { waiting.count - head }

    /// Requests a turn.
    ///
    /// - Returns: Whether the attempt may start now. Otherwise it waits until ``next()`` returns it.
    package mutating func request(_ id: ID) -> Bool {
        guard running.count < limit, waitingCount == 0 else {
            waiting.append(id)
            return false
        }
        running.insert(id)
        return true
    }

    /// Ends a turn, or withdraws the request for one.
    package mutating func release(_ id: ID) {
        if running.remove(id) == nil, let place = waiting[head...].firstIndex(of: id) { waiting.remove(at: place) }
    }

    /// The next attempt that may start; `nil` if none waits, or there is no room.
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
