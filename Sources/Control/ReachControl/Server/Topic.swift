internal import ReachCore

/// A subject with its subscribers. Each event is encoded once and stored once for all of them.
final class Topic {
    enum Subject: Hashable {
        /// A target; with a user, also the events of that user's requests.
        case target(Target, requestsOf: UInt32?)
        /// One request; `nil` for all that the user may see.
        case queue(user: UInt32, request: Int64?)
    }

    /// The functions by which a topic queries and ends the source of its events.
    struct Source {
        /// The first event for a new subscriber, or for one that has missed events; `nil` while there is no state.
        let snapshot: (_ isInitial: Bool) -> EncodedEvent?
        let isStale: () -> Bool
        /// Ends the source when no subscriber is left.
        let cancel: () -> Void
    }

    let subject: Subject
    private(set) var subscribers: [CInt: Connection] = [:]
    private(set) var backlog: Backlog
    private var source: Source?
    /// The target of its changes.
    var quotedTarget: QuotedTarget?
    /// The number after that of the last change.
    private(set) var changeEnd: UInt64 = 0

    init(_ subject: Subject, backlogBytes: Int, of budget: BacklogBudget) {
        self.subject = subject
        backlog = Backlog(limit: backlogBytes, of: budget)
    }

    func begin(_ source: Source) { self.source = source }

    func end() { source?.cancel() }

    /// - Parameter target: The target as the subscriber named it, if that differs from the topic's.
    func add(_ connection: Connection, as target: QuotedTarget? = nil) -> Subscription {
        subscribers[connection.descriptor] = connection
        return Subscription(to: self, as: target, from: backlog.end)
    }

    func remove(_ connection: Connection) {
        subscribers[connection.descriptor] = nil
        forgetRead()
    }

    /// Adds an event to the backlog, and schedules the subscribers.
    ///
    /// - Parameter isChange: Whether the event holds the whole state.
    func publish(_ event: EncodedEvent, isChange: Bool = false) {
        guard !subscribers.isEmpty else { return }
        forgetRead()
        backlog.append(event)
        if isChange { changeEnd = backlog.end }
        for connection in subscribers.values { connection.proceedSoon() }
    }

    /// Drops the events that every subscriber has read.
    func forgetRead() {
        var needed = backlog.end
        for connection in subscribers.values {
            if let position = connection.subscription?.position { needed = min(needed, position) }
        }
        backlog.forget(before: needed)
    }

    /// Drops the events before this number, whether they have been read or not.
    func forget(before number: UInt64) { backlog.forget(before: number) }

    /// Whether the subject cannot be observed at the moment.
    var isStale: Bool { source?.isStale() ?? false }

    /// The current state, for a subscriber without one; `nil` while it is not determined.
    func snapshot(isInitial: Bool) -> EncodedEvent? { source?.snapshot(isInitial) }
}
