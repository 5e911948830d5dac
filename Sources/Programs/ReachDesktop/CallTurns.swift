/// The calls that wait for an answer: those who call have turns, so that nobody waits for all calls of another.
///
/// A bus hands calls over in the order in which they came, whoever made them. Reading one takes a fraction of the time
/// of an answer, so all that came are read first.
package struct CallTurns<Call> {
    /// The most calls that wait, of all senders: a few megabytes.
    package let limit: Int

    private var waiting: [String: [Call]] = [:]
    /// Who has calls that wait; the first is next.
    private var order: [String] = []
    private var count = 0

    package init(limit: Int = 8192) { self.limit = limit }

    package var isEmpty: Bool { count == 0 }

    /// - Parameter sender: The connection that the call came from.
    /// - Returns: A call for which there is no room: the last one of whoever has the most.
    package mutating func add(_ call: Call, of sender: String) -> Call? {
        if waiting[sender] == nil { order.append(sender) }
        waiting[sender, default: []].append(call)
        count += 1
        guard count > limit, let most = waiting.max(by: { $0.value.count < $1.value.count })?.key else { return nil }
        return take(from: most) { $0.removeLast() }
    }

    /// The call that is answered next.
    package mutating func next() -> Call? {
        guard let sender = order.first else { return nil }
        let call = take(from: sender) { $0.removeFirst() }
        if order.first == sender { order.append(order.removeFirst()) }
        return call
    }

    private mutating func take(from sender: String, _ which: (inout [Call]) -> Call) -> Call? {
        guard var calls = waiting.removeValue(forKey: sender) else { return nil }
        let call = which(&calls)
        count -= 1
        if calls.isEmpty { order.removeAll { $0 == sender } } else { waiting[sender] = calls }
        return call
    }
}
