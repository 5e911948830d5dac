/// The life of one request, as AFURLSessionManager and NSURLSessionTask define it. The caller passes in events, and
/// performs the returned effects in order.
///
/// This table is complete. Any other event changes nothing and has no effect.
///
/// | from | event | to | effects |
/// | --- | --- | --- | --- |
/// | suspended | the last reason is cleared | resumed | notify did-resume |
/// | resumed | admitted | running | start |
/// | resumed | suspended for a reason | suspended | notify did-suspend |
/// | running | suspended for a reason | suspended | stop, notify did-suspend |
/// | running | interrupted | resumed | none: it starts again in its turn |
/// | running | finished | completed | completion, notify did-complete |
/// | resumed, suspended | failed | completed | completion, notify did-complete |
/// | running | cancelled | cancelled | stop, completion, notify did-complete |
/// | resumed, suspended | cancelled | cancelled | completion, notify did-complete |
///
/// The completion is called once, before observers are notified. AFNetworking still notifies did-resume and did-suspend
/// of a task that is complete; here a completed task causes no further notifications.
package struct RequestLife: Hashable, Sendable {
    /// An event in the life of a request.
    package enum Event: Hashable, Sendable {
        /// The request is suspended for these reasons as well.
        case suspend(SuspensionReasons)
        /// These reasons no longer suspend the request.
        case resume(SuspensionReasons)
        /// The request's turn has come.
        case admit
        /// The attempt was interrupted, and is to be repeated.
        case interrupt
        /// A response or an error arrived.
        case finish
        /// No attempt will be made: the request expired, or cannot be sent.
        case fail
        /// The user cancelled the request.
        case cancel
    }

    /// An action that follows from an event.
    package enum Effect: Hashable, Sendable {
        /// Start an attempt.
        case start
        /// Abort the attempt. Its later results do not count.
        case stop
        /// Notify observers that the request was resumed.
        case tellResumed
        /// Notify observers that the request was suspended.
        case tellSuspended
        /// Call the completion with the response or the error; after a cancellation with that error.
        case complete
        /// Notify observers that the request is complete, after the completion was called.
        case tellCompleted
    }

    /// The state of the request.
    package private(set) var state: RequestState
    /// The reasons why the request is suspended; empty in other states.
    package private(set) var reasons: SuspensionReasons

    /// Creates the life of a new request. By default the user suspends it, as with tasks; without reasons it is
    /// resumed.
    package init(suspendedFor reasons: SuspensionReasons = .user) {
        self.reasons = reasons
        state = reasons.isEmpty ? .resumed : .suspended
    }

    /// Handles an event.
    ///
    /// - Returns: The actions to take, in this order.
    package mutating func handle(_ event: Event) -> [Effect] {
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
