/// Limits how many attempts run at a time, over all probes. The others wait in the order of their requests.
///
/// The default is sixteen: three are too few for a machine's probes when the network is slow, and hundreds at once
/// would distort each other's latency.
package struct ProbeAdmission<ID: Hashable & Sendable>: Sendable {
    package var limit: Int
    private var running: Set<ID> = []
    /// Those that wait, each with the number of its request.
    private var waiting: [ID: UInt64] = [:]
    /// The requests in their order, from `head` on. Those that were withdrawn stay until their turn: a path that is
    /// lost withdraws many at once.
    private var order: [(id: ID, number: UInt64)] = []
    private var head = 0
    private var lastNumber: UInt64 = 0

    package init(limit: Int = 16) { self.limit = limit }

    package var runningCount: Int { running.count }
    package var waitingCount: Int { waiting.count }

    /// Requests a turn.
    ///
    /// - Returns: Whether the attempt may start now. Otherwise it waits until ``next()`` returns it.
    package mutating func request(_ id: ID) -> Bool {
        guard running.count < limit, waiting.isEmpty else {
            lastNumber += 1
            waiting[id] = lastNumber
            order.append((id, lastNumber))
            return false
        }
        running.insert(id)
        return true
    }

    /// Ends a turn, or withdraws the request for one.
    package mutating func release(_ id: ID) {
        guard running.remove(id) == nil, waiting.removeValue(forKey: id) != nil else { return }
        guard order.count - head > 2 * waiting.count + 64 else { return }
        order = order[head...].filter { waiting[$0.id] == $0.number }
        head = 0
    }

    /// The next attempt that may start; `nil` if none waits, or there is no room.
    package mutating func next() -> ID? {
        guard running.count < limit else { return nil }
        while head < order.count {
            let (id, number) = order[head]
            head += 1
            if head == order.count || head > 256 {
                order.removeFirst(head)
                head = 0
            }
            guard waiting[id] == number else { continue }
            waiting[id] = nil
            running.insert(id)
            return id
        }
        return nil
    }
}
