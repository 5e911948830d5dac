package import ReachCore
package import ReachQueue

/// All that is kept of a request, but for the bytes of its body: for people who ask.
package struct RequestRecord: Hashable, Sendable {
    package let id: RequestID
    /// Its body has the length that it has, and no bytes.
    package var request: QueuedRequest
    package var bodyBytes: Int64
    package var created: Timestamp
    package var deadline: Timestamp
    package var attempts: Int
    package var networkFailures: Int
    package var tries: Int
    package var notBefore: Timestamp?
    /// What became of it; ``RequestOutcome/end`` is `nil` while it is not over.
    package var outcome: RequestOutcome

    package init(
        id: RequestID, request: QueuedRequest, bodyBytes: Int64, created: Timestamp, deadline: Timestamp, attempts: Int,
        networkFailures: Int, tries: Int, notBefore: Timestamp?, outcome: RequestOutcome
    ) {
        self.id = id
        self.request = request
        self.bodyBytes = bodyBytes
        self.created = created
        self.deadline = deadline
        self.attempts = attempts
        self.networkFailures = networkFailures
        self.tries = tries
        self.notBefore = notBefore
        self.outcome = outcome
    }
}
