public import ReachCore
internal import ReachQueue

/// The reasons why a request is not running, and what would let it run.
public struct RequestExplanation: Hashable, Sendable, CustomStringConvertible {
    /// One reason.
    public struct Reason: Hashable, Sendable {
        /// A stable word: `hold`, `class`, `metered`, `target`, `backoff`, ...
        public let word: String
        /// The time since which the reason holds.
        public let since: Timestamp
        /// The time at which the reason ends by itself, if that is known.
        public let until: Timestamp?
        /// A sentence that describes the reason.
        public let text: String
        /// A sentence that says what would end the reason.
        public let remedy: String
    }

    /// A stable word: `suspended` before the task is first resumed; `dependent` while it waits for other tasks
    /// (``RequestTask/addDependency(on:mustSucceed:)``); then the queue's word: `waiting`, `held`,
    /// `backoff`, `ready`, `running`, `lingering`; `over` at the end.
    public let state: String
    /// The reasons; empty if the request is running, or about to.
    public let reasons: [Reason]
    /// The interface that the request uses, or would use.
    public let interface: String?
    /// The time at which the request expires; `nil` if it is not in the queue.
    public let deadline: Timestamp?

    /// Why the last attempt failed, in the words of its error, or the error with which the task ended; `nil` if there
    /// is none.
    public internal(set) var failure: String?

    /// The reasons and the last failure in sentences; empty if there are none.
    public var description: String {
        let last = failure.map { state == "over" ? "It failed: \($0)." : "The last attempt failed: \($0)." }
        return (reasons.map { "\($0.text) \($0.remedy)" } + [last].compactMap(\.self)).joined(separator: " ")
    }

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
    /// The error with which it ended, in its own words.
    var ending: String? { if case .failure(let error) = result { "\(error)" } else { nil } }

    /// Queries the queue for the reasons why the request is not running now.
    public func explanation() async -> RequestExplanation {
        await withCheckedContinuation { continuation in
            let ending = ending
            let isAsked = core.perform { continuation.resume(returning: $0.explain(self)) }
            if !isAsked {
                var explanation = RequestExplanation(state: "over")
                explanation.failure = ending
                continuation.resume(returning: explanation)
            }
        }
    }
}
