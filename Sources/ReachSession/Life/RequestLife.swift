/// The life of one request, as AFURLSessionManager and NSURLSessionTask have it: feed it what happens, and do what it
/// answers, in the order in which it answers.
///
/// The table. What is not in it changes nothing and tells nobody.
///
/// | from | what happens | to | what is done |
/// | --- | --- | --- | --- |
/// | suspended | the last reason is cleared | resumed | tell did-resume |
/// | resumed | admitted | running | start |
/// | resumed | suspended for a reason | suspended | tell did-suspend |
/// | running | suspended for a reason | suspended | stop, tell did-suspend |
/// | running | interrupted | resumed | nothing: it starts again in its turn |
/// | running | finished | completed | completion, tell did-complete |
/// | resumed, suspended | failed | completed | completion, tell did-complete |
/// | running | cancelled | cancelled | stop, completion, tell did-complete |
/// | resumed, suspended | cancelled | cancelled | completion, tell did-complete |
///
/// The completion comes once in a life, and before observers are told; AFNetworking tells did-resume and did-suspend of
/// a task that is complete, here they are not told any more.
public struct RequestLife: Hashable, Sendable {
    /// What happens to a request.
    public enum Event: Hashable, Sendable {
        /// It is held back for these reasons too.
        case suspend(SuspensionReasons)
        /// These reasons do not hold it back any more.
        case resume(SuspensionReasons)
        /// Its turn has come.
        case admit
        /// The attempt came to an end that is none, and it is to be made again.
        case interrupt
        /// There is a response, or an error.
        case finish
        /// There will be no attempt: it expired, or cannot be sent.
        case fail
        /// Its user gave it up.
        case cancel
    }

    /// What is to be done about it.
    public enum Effect: Hashable, Sendable {
        /// Begin an attempt.
        case start
        /// Break the attempt off. What it still says does not count.
        case stop
        /// Tell observers that it was resumed.
        case tellResumed
        /// Tell observers that it was suspended.
        case tellSuspended
        /// Call the completion: with the response, or with the error; after a cancellation with that.
        case complete
        /// Tell observers that it is complete, after the completion was called.
        case tellCompleted
    }

    /// Where it stands.
    public private(set) var state: RequestState
    /// Why it is held back; none where it is not.
    public private(set) var reasons: SuspensionReasons

    /// A new request: held by its user, as tasks are, unless other reasons, or none, are given.
    public init(suspendedFor reasons: SuspensionReasons = .user) {
        self.reasons = reasons
        state = reasons.isEmpty ? .resumed : .suspended
    }

    /// Something happens.
    ///
    /// - Returns: What is to be done, in this order.
    public mutating func handle(_ event: Event) -> [Effect] {
        switch (state, event) {
        case (.completed, _), (.cancelled, _): return []
        case (_, .suspend(let more)): return suspend(more)
        case (_, .resume(let cleared)): return resume(cleared)
        case (.resumed, .admit): return change(to: .running, [.start])
        case (.running, .interrupt): return change(to: .resumed, [])
        case (.running, .finish), (.resumed, .fail), (.suspended, .fail):
            return change(to: .completed, [.complete, .tellCompleted])
        case (.running, .cancel): return change(to: .cancelled, [.stop, .complete, .tellCompleted])
        case (.resumed, .cancel), (.suspended, .cancel): return change(to: .cancelled, [.complete, .tellCompleted])
        case (_, .admit), (_, .interrupt), (_, .finish), (_, .fail): return []
        }
    }

    private mutating func suspend(_ more: SuspensionReasons) -> [Effect] {
        reasons.formUnion(more)
        guard !reasons.isEmpty, state != .suspended else { return [] }
        return change(to: .suspended, state == .running ? [.stop, .tellSuspended] : [.tellSuspended])
    }

    private mutating func resume(_ cleared: SuspensionReasons) -> [Effect] {
        reasons.subtract(cleared)
        guard reasons.isEmpty, state == .suspended else { return [] }
        return change(to: .resumed, [.tellResumed])
    }

    private mutating func change(to next: RequestState, _ effects: [Effect]) -> [Effect] {
        state = next
        return effects
    }
}
