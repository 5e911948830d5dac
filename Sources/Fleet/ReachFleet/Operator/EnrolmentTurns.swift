/// Hosts' requests that wait for an answer: a value.
///
/// The server lets each host publish one subject only, so a subject has one place: however many requests a host sends,
/// each other one that waits is answered before its next.
package struct EnrolmentTurns<Message: Sendable>: Sendable {
    private let limit: Int
    private var order: [String] = []
    private var messages: [String: Message] = [:]

    /// - Parameter limit: The most subjects that wait. A host asks again.
    package init(limit: Int) { self.limit = limit }

    package var isEmpty: Bool { order.isEmpty }

    /// Adds a request. One of the same subject that waits loses its place to it: its host has asked again.
    ///
    /// - Returns: Whether one more waits.
    package mutating func add(_ message: Message, of subject: String) -> Bool {
        if messages[subject] != nil {
            messages[subject] = message
            return false
        }
        guard order.count < limit else { return false }
        order.append(subject)
        messages[subject] = message
        return true
    }

    /// Takes the request whose subject has waited longest.
    package mutating func next() -> Message? {
        order.isEmpty ? nil : messages.removeValue(forKey: order.removeFirst())
    }
}
