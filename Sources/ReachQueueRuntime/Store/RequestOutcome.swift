package import ReachCore
package import ReachQueue

/// What is kept of a request: for whoever asks for its answer.
package struct RequestOutcome: Hashable, Sendable {
    package let id: RequestID
    /// Nobody else may read the answer, but root.
    package let owner: UInt32
    /// `nil` while it is not over.
    package let end: RequestEnd?
    /// When it ended.
    package let time: Timestamp?
    /// The answer, if there was one.
    package let result: RequestResult?

    package init(id: RequestID, owner: UInt32, end: RequestEnd?, time: Timestamp?, result: RequestResult?) {
        self.id = id
        self.owner = owner
        self.end = end
        self.time = time
        self.result = result
    }
}
