internal import ReachCore

/// What the queue is told. Everything that happens to it is one of these, with a moment: it has no clock and asks nobody.
package indirect enum QueueInput: Sendable {
    /// A client's answer is addressed by its ticket.
    package typealias Ticket = UInt64

    // MARK: From clients

    /// `request` is complete and checked. The reply comes when it is stored.
    case add(QueuedRequest, Ticket)
    case hold(RequestID, Client, Ticket)
    case release(RequestID, Client, Ticket)
    case cancel(RequestID, Client, Ticket)
    /// Sends a dead request again.
    case retry(RequestID, Client, Ticket)
    /// Sends again all that died of it; `nil`: of anything.
    case retryAll(DeathReason?, Client, Ticket)
    /// What is kept of a request that is over is not needed any more. Whose it was is known only of dead ones: of others,
    /// root alone can say so.
    case forget(RequestID, Client, Ticket)
    /// Holds all of the client's requests; root's hold is for everybody's.
    case holdQueue(Client, Ticket)
    case releaseQueue(Client, Ticket)

    // MARK: From the network

    case paths(PathSet)
    /// The way to a destination that ``QueueAction/watch(_:)`` asked for; `nil` while it is not reachable.
    case targetPath(Destination, QueuePath?)
    /// A check that ``QueueAction/checkPath(_:)`` asked for has ended.
    case pathChecked(interfaceIndex: UInt32, works: Bool)

    // MARK: From the store

    /// What an earlier run left, in the order of its numbers. In one piece or several, before the first ``paths(_:)``.
    /// `heldQueues` are the owners whose queues are held; 0 is everybody's.
    case restore([StoredRequest], breakers: [StoredBreaker], heldQueues: [UInt32])
    /// A transaction is safe.
    case committed(UInt64)
    /// A transaction that may be refused could not be written, and will not be.
    case notCommitted(UInt64)
    /// A transaction that must be written could not be yet: the store keeps it and tries again.
    case postponed(UInt64)
    /// The store cannot write at the moment, or can again.
    case degraded(Bool)

    // MARK: From whoever makes the attempts

    /// The first byte of the request is about to be sent: from now on it may have arrived.
    case requestSent(RequestID)
    case ended(RequestID, AttemptEnd)

    // MARK: From interceptors

    /// The names of all interceptors that are registered now.
    case interceptors(Set<String>)
    /// The preparation that ``QueueAction/prepare(_:)`` asked for has ended. Without success the request dies.
    case prepared(RequestID, isReady: Bool)
    /// The attempt has an answer, which its interceptor judges before the queue does. The attempt's slot is free.
    case answerHeld(RequestID)
    /// The interceptor has judged the answer.
    case judged(RequestID, InterceptorVerdict)

    // MARK: From whoever ends the run

    /// Attempts are ended as if their path were lost, and nothing starts any more: the next run goes on from there.
    case stop

    // MARK: From the clock

    /// ``QueueScheduler/deadline`` is here.
    case wake
}

extension QueueInput {
    /// Who asks, as the kernel named it. Root may do everything, others only with what is theirs.
    package struct Client: Hashable, Sendable {
        package let user: UInt32

        package init(user: UInt32) { self.user = user }

        package static let root = Client(user: 0)

        package func mayTouch(_ owner: UInt32) -> Bool { user == 0 || user == owner }
    }
}
