/// The memory of all backlogs together. What events of several topics share is counted once.
final class BacklogBudget {
    private let limit: Int
    /// How many events of all backlogs have each template.
    private var uses: [ObjectIdentifier: Int] = [:]
    private(set) var byteCount = 0

    /// What an event, and a template, take in memory beyond their bytes, about.
    private static let overhead = 64

    init(limit: Int) { self.limit = limit }

    var isExceeded: Bool { byteCount > limit }

    /// The size to which backlogs are shortened once they exceed the limit, so that this is not done for every event.
    var goal: Int { limit / 4 * 3 }

    func add(_ event: EncodedEvent) {
        byteCount += event.ownCount + Self.overhead
        if uses.increment(ObjectIdentifier(event.template)) { byteCount += event.template.bytes.count + Self.overhead }
    }

    func remove(_ event: EncodedEvent) {
        byteCount -= event.ownCount + Self.overhead
        if uses.decrement(ObjectIdentifier(event.template)) { byteCount -= event.template.bytes.count + Self.overhead }
    }
}

extension [ObjectIdentifier: Int] {
    /// - Returns: Whether it is the first use.
    fileprivate mutating func increment(_ key: ObjectIdentifier) -> Bool {
        self[key, default: 0] += 1
        return self[key] == 1
    }

    /// - Returns: Whether it was the last use.
    fileprivate mutating func decrement(_ key: ObjectIdentifier) -> Bool {
        guard let count = self[key] else { return false }
        self[key] = count > 1 ? count - 1 : nil
        return count == 1
    }
}
