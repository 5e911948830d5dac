package import ReachCore

/// A request as it stands: what the store keeps of it, and what the scheduler adds while it is not over. The one form
/// that the store's readers, the daemon, its clients and sessions share.
@dynamicMemberLookup
package struct RequestReport: Hashable, Sendable {
    package var id: RequestID
    /// The request, without the bytes of its body. A client's copy has the parts that `io.reach.Queue` names.
    package var request: QueuedRequest
    package var bodyBytes: Int64 = 0
    package var created: Timestamp
    /// When it dies if it has not been sent.
    package var deadline: Timestamp
    package var state: QueuedRequestState
    /// Why it is dead or cancelled: a stable word.
    package var reason: String?
    /// When it ended.
    package var over: Timestamp?
    /// What keeps it from starting.
    package var blockers: Blocker = []
    /// Failures that count, failures of the network, and attempts of any kind.
    package var attempts = 0
    package var networkFailures = 0
    package var tries = 0
    /// When it is tried again, after a failure.
    package var notBefore: Timestamp?
    /// The bytes of a resumable upload that the server has acknowledged; `nil` if none was begun, or it is over.
    package var uploadedBytes: Int64?
    /// The request that carries its body, or carried it; `nil` if it is sent by itself.
    package var carrier: RequestID?
    /// The attempt under way.
    package var running: AttemptProgress?
    /// The answer, if there was one. A client's copy, and a page's, have its status and the length of its body.
    package var result: RequestResult?
    /// Why it is not running; only in an explanation. Empty if it runs, is about to, or is over.
    package var reasons: [QueueExplanation.Reason] = []
    /// The interface that it uses or would use; only in an explanation.
    package var interface: String?

    package init(
        _ id: RequestID, _ request: QueuedRequest, created: Timestamp, deadline: Timestamp,
        state: QueuedRequestState = .waiting
    ) {
        self.id = id
        self.request = request
        self.created = created
        self.deadline = deadline
        self.state = state
    }

    package subscript<Value>(dynamicMember path: WritableKeyPath<RequestSpecification, Value>) -> Value {
        get { request.specification[keyPath: path] }
        set { request.specification[keyPath: path] = newValue }
    }

    /// The status of the answer.
    package var status: Int? {
        get { result?.status }
        set { result = newValue.map { RequestResult(status: $0) } }
    }

    /// The length of the answer's body.
    package var answerBytes: Int64? {
        get { result?.body.count }
        set { result?.body = newValue.map { .spooled(name: "", bytes: $0) } ?? .none }
    }

    /// `nil` while it is not over.
    package var end: RequestEnd? {
        switch state {
        case .done: .done
        case .dead: .dead(reason.flatMap(DeathReason.init(rawValue:)) ?? .refused)
        case .cancelled: .cancelled(reason.flatMap(CancelReason.init(rawValue:)) ?? .byUser)
        default: nil
        }
    }

    package mutating func finish(_ end: RequestEnd, at time: Timestamp?) {
        (state, reason) = (end.state, end.reason)
        over = time
        notBefore = nil
    }

    /// Adds what the scheduler says of a request that is not over.
    package mutating func add(_ explanation: QueueExplanation, isWhole: Bool) {
        // The scheduler knows of an end before it is written. Until then nobody may rely on it.
        if !explanation.state.isTerminal { state = explanation.state }
        blockers = explanation.reasons.reduce(into: []) { $0.insert($1.blocker) }
        attempts = explanation.attempts
        networkFailures = explanation.networkFailures
        tries = explanation.tries
        guard isWhole else { return }
        reasons = explanation.reasons
        interface = explanation.path?.interface
    }
}

/// The progress of an attempt.
package struct AttemptProgress: Hashable, Sendable {
    package var id: RequestID
    /// Whose request it is; 0 in a client's copy.
    package var owner: UInt32 = 0
    package var interface: String
    package var began: Instant
    package var bytes: ByteProgress

    package init(id: RequestID, owner: UInt32 = 0, interface: String, began: Instant, bytes: ByteProgress) {
        self.id = id
        self.owner = owner
        self.interface = interface
        self.began = began
        self.bytes = bytes
    }
}
