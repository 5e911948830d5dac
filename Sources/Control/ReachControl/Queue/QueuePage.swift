internal import ReachCore
package import ReachQueue

/// Which requests are listed.
package struct QueueFilter: Hashable, Sendable {
    /// The states that are wanted; none are all.
    package var states: Set<QueuedRequestState> = []
    /// Only those with larger numbers: the last of the page before.
    package var after: Int64 = 0
    /// At most so many, and at most 1000.
    package var limit = 100

    package init() {}

    /// Reads the word of a state.
    package static func state(_ word: String) throws(QueueServiceError) -> QueuedRequestState {
        guard let state = QueuedRequestState(rawValue: word) else {
            let words = QueuedRequestState.allCases.map(\.rawValue)
            let list = words.joined(separator: ", ")
            let hint = NearestWord.hint(for: word, among: words)
            throw .invalid(field: "state", reason: "'\(DisplayText.sanitized(word))' is no state: \(list)\(hint)")
        }
        return state
    }
}

/// Some of the requests, in the order of their numbers.
package struct QueuePage: Hashable, Sendable {
    package let items: [RequestReport]
    /// Where the next page begins (``QueueFilter/after``); `nil` after the last.
    package let next: Int64?
    /// How many of the caller's requests are not over; for root, of everybody's.
    package let count: Int

    package init(items: [RequestReport], next: Int64?, count: Int) {
        self.items = items
        self.next = next
        self.count = count
    }
}
