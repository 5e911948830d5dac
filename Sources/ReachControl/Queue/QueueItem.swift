package import ReachCore

/// A request as it stands.
package struct QueueItem: Hashable, Sendable {
    package let id: Int64
    package var user: UInt32
    /// `held`, `waiting`, `backoff`, `ready`, `running`, `lingering`, `done`, `dead`, or `cancelled`.
    package var state: String
    /// Of its death or its cancelling: a stable word. `nil` for others.
    package var reason: String?
    /// What keeps it from starting: stable words.
    package var blockers: [String] = []
    package var method: String
    package var url: String
    package var when: String
    package var priority: String
    package var order: String?
    package var key: String?
    package var idempotencyKey: String?
    package var bodyBytes: Int64 = 0
    package var created: Timestamp
    /// When it dies if it has not been sent.
    package var deadline: Timestamp
    /// When it is tried again, after a failure.
    package var notBefore: Timestamp?
    /// When it ended.
    package var over: Timestamp?
    /// Failures that count, failures of the network, and attempts of any kind.
    package var attempts = 0
    package var networkFailures = 0
    package var tries = 0
    /// Of the attempt that is being made.
    package var running: QueueProgress?
    /// What was answered in the end: its status, and the length of its body.
    package var status: Int?
    package var answerBytes: Int64?

    package init(
        id: Int64, user: UInt32, state: String, method: String, url: String, when: String, priority: String,
        created: Timestamp, deadline: Timestamp
    ) {
        self.id = id
        self.user = user
        self.state = state
        self.method = method
        self.url = url
        self.when = when
        self.priority = priority
        self.created = created
        self.deadline = deadline
    }
}
