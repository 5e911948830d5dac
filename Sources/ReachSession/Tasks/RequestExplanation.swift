public import ReachCore
internal import ReachQueue

/// Why a request is not on its way, and what would let it.
public struct RequestExplanation: Hashable, Sendable, CustomStringConvertible {
    /// One of the reasons.
    public struct Reason: Hashable, Sendable {
        /// A stable word: `hold`, `class`, `metered`, `target`, `backoff`, ...
        public let word: String
        /// Since when it holds.
        public let since: Timestamp
        /// When it ends by itself, if that is known.
        public let until: Timestamp?
        /// A sentence: what it is.
        public let text: String
        /// A sentence: what would end it.
        public let remedy: String
    }

    /// A stable word: `suspended` before it was resumed; then the queue's own: `waiting`, `held`, `backoff`, `ready`, `running`,
    /// `lingering`; `over` in the end.
    public let state: String
    /// Empty where it runs, or will in a moment.
    public let reasons: [Reason]
    /// The interface that it goes by, or would.
    public let interface: String?
    /// When it is given up; `nil` where it is not in the queue.
    public let deadline: Timestamp?

    /// The reasons in sentences; empty where there is none.
    public var description: String { reasons.map { "\($0.text) \($0.remedy)" }.joined(separator: " ") }

    init(state: String) {
        self.state = state
        reasons = []
        interface = nil
        deadline = nil
    }

    init(_ explanation: QueueExplanation) {
        state = explanation.state.rawValue
        reasons = explanation.reasons.map {
            Reason(
                word: $0.blocker.words.first ?? "", since: $0.since.wall, until: $0.until?.wall, text: $0.text,
                remedy: $0.remedy)
        }
        interface = explanation.path?.interface
        deadline = explanation.deadline.wall
    }
}

extension RequestTask {
    /// Asks the queue why it is not on its way, as of now.
    public func explanation() async -> RequestExplanation {
        await withCheckedContinuation { continuation in
            let isAsked = core.perform { continuation.resume(returning: $0.explain(self)) }
            if !isAsked { continuation.resume(returning: RequestExplanation(state: "over")) }
        }
    }
}
