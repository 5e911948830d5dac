/// What the subscribers of each user have yet to read, to shorten the backlogs when all of them together exceed their
/// limit.
///
/// An event counts for each user that needs it, and once for each: an event that is dropped is one that only users with
/// more than their fair share need. So a user that reads slowly takes nothing from one that does not, also where both
/// subscribe to the same target.
struct BacklogShares {
    private var shares: [UInt32: Share] = [:]
    private let topics: [Topic]

    init(_ topics: [Topic]) {
        self.topics = topics
        for topic in topics {
            for (user, position) in topic.unreadPositions {
                shares[user, default: Share()].add(Share.Part(topic, from: position))
            }
        }
    }

    /// Drops events until the backlogs have the size of the budget's goal: those of the users with the most bytes
    /// first. No user keeps less than an equal part of the goal, if it has as much.
    mutating func shorten(_ budget: BacklogBudget) {
        let fair = budget.goal / max(1, shares.count)
        var limit = shares.values.map(\.byteCount).max() ?? 0
        forget()
        while budget.byteCount > budget.goal, limit > fair {
            limit = max(limit / 2, fair)
            for user in shares.keys { shares[user]?.shorten(to: limit) }
            forget()
        }
    }

    /// Drops the events that no user needs any more.
    private func forget() {
        var starts: [ObjectIdentifier: UInt64] = [:]
        for part in shares.values.flatMap(\.parts) {
            starts[ObjectIdentifier(part.topic)] = min(part.start, starts[ObjectIdentifier(part.topic)] ?? .max)
        }
        for topic in topics { topic.forget(before: starts[ObjectIdentifier(topic)] ?? topic.backlog.end) }
    }
}

/// What the subscribers of one user have yet to read.
private struct Share {
    /// The events of one topic.
    struct Part {
        let topic: Topic
        /// The number of the first one.
        private(set) var start: UInt64
        private(set) var byteCount = 0

        init(_ topic: Topic, from start: UInt64) {
            self.topic = topic
            self.start = start
            byteCount = events.reduce(0) { $0 + $1.count }
        }

        var events: some Sequence<EncodedEvent> {
            (start..<topic.backlog.end).lazy.compactMap { [topic] in topic.backlog[$0] }
        }

        /// Gives the oldest events up; the subscribers get the current state in place of all.
        mutating func shorten(to limit: Int, of account: BacklogBudget) {
            while byteCount > limit, let event = topic.backlog[start] {
                byteCount -= event.count
                account.remove(event)
                start += 1
            }
        }
    }

    private(set) var parts: [Part] = []
    private let account = BacklogBudget(limit: .max)

    var byteCount: Int { account.byteCount }

    mutating func add(_ part: Part) {
        parts.append(part)
        for event in part.events { account.add(event) }
    }

    /// Gives events up until this many bytes are left: those of the longest backlogs first. So a slow reader of some
    /// targets takes nothing from the same user's readers of others.
    mutating func shorten(to limit: Int) {
        var longest = parts.map(\.byteCount).max() ?? 0
        while account.byteCount > limit, longest > 0 {
            longest /= 2
            for index in parts.indices { parts[index].shorten(to: longest, of: account) }
        }
    }
}

extension Topic {
    /// The number of the first event that each user's subscribers have yet to read. A subscriber that has missed events
    /// needs none of those that are left: it gets the current state.
    fileprivate var unreadPositions: [UInt32: UInt64] {
        var positions: [UInt32: UInt64] = [:]
        for connection in subscribers.values {
            guard let position = connection.subscription?.position, backlog.start..<backlog.end ~= position else {
                continue
            }
            positions[connection.caller.user] = min(position, positions[connection.caller.user] ?? .max)
        }
        return positions
    }
}
