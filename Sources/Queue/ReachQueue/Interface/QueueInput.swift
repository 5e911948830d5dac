internal import ReachCore

/// An input of the scheduler. Everything that happens to the queue is one of these, with a moment, since the queue has
/// no clock.
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
    /// Sends again all requests that died for this reason; `nil` means for any.
    case retryAll(DeathReason?, Client, Ticket)
    /// What is kept of a finished request is no longer needed. The owner is known only of dead ones, so only root may
    /// forget others.
    case forget(RequestID, Client, Ticket)
    /// Holds all requests of the client; for root, those of all users.
    case holdQueue(Client, Ticket)
    case releaseQueue(Client, Ticket)
    /// Holds all requests for the fleet, or releases them. No user's hold or release changes that, not even root's.
    ///
    /// - Parameter reason: Why, for people.
    case setFleetHold(Bool, reason: String?, Ticket)

    // MARK: From the network

    case paths(PathSet)
    /// The way to a destination that ``QueueAction/watch(_:)`` asked for; `nil` while it is not reachable.
    case targetPath(Destination, QueuePath?)
    /// The routes to destinations that ``QueueAction/followRoute(_:)`` asked for.
    case routes([DestinationRoute])
    /// An attempt has looked at the routes to its destination's addresses, and goes by this path; `nil` if none of them
    /// may be used.
    case attemptRouted(RequestID, QueuePath?, DestinationRoute)
    /// The lookup that ``QueueAction/lookUp(_:owner:)`` asked for has ended; `nil` if the name was not resolved.
    case lookedUp(Destination, DestinationRoute?)
    /// A check that ``QueueAction/checkPath(_:)`` asked for has ended. It is a proof if something was answered by the
    /// path.
    case pathChecked(interfaceIndex: UInt32, works: Bool, isProof: Bool = false)

    /// The machine woke up after this time. It comes before the paths of then, as far as that is known.
    case woke(after: Duration)

    // MARK: From the store

    /// What an earlier run left, in the order of its numbers. In one piece or several, before the first ``paths(_:)``.
    /// `heldQueues` are the owners whose queues are held; 0 means all owners, and ``Client/fleet`` the fleet's hold.
    case restore([StoredRequest], breakers: [StoredBreaker], heldQueues: [UInt32])
    /// What an earlier run moved over metered links. Before the requests.
    case restoreMetered([MeteredAccount])
    /// Further pieces of ``restore(_:breakers:heldQueues:)`` follow. What they bring is counted from now on.
    case expectRestored(ExpectedRequests)
    /// The last of these pieces has come.
    case allRestored
    /// A transaction is safe.
    case committed(UInt64)
    /// A transaction that may be refused could not be written, and will not be.
    case notCommitted(UInt64)
    /// A transaction that must be written could not be yet: the store keeps it and tries again.
    case postponed(UInt64)
    /// The store cannot write at the moment, or can again.
    case degraded(Bool)

    // MARK: From the executor

    /// The first byte of the request is about to be sent: from now on it may have arrived.
    case requestSent(RequestID)
    /// How many bytes an attempt has moved over its link in all so far, and how many of its bodies are left, if that is
    /// known. The last report of each attempt that was started comes before its end, and also after
    /// ``QueueAction/abort(_:)``.
    ///
    /// It comes only if the policy has budgets (``QueuePolicy/metered``).
    case spent(RequestID, attempt: Int, total: Int64, left: Int64?, isLast: Bool)
    /// The head of the answer to a canary has arrived.
    case answering(RequestID)
    /// The server has more of a resumable upload than ever before.
    case uploadAdvanced(RequestID)
    case ended(RequestID, AttemptEnd)

    // MARK: From interceptors

    /// The names of all interceptors that are registered now.
    case interceptors(Set<String>)
    /// The preparation that ``QueueAction/prepare(_:)`` asked for has ended. Without success the request dies.
    case prepared(RequestID, isReady: Bool)
    /// The attempt has an answer, which its interceptor judges before the queue does. The attempt's slot is free.
    case answerHeld(RequestID)
    /// The attempt has failed, and its interceptor decides whether there is another one before the queue does. The
    /// attempt's slot is free.
    case failureHeld(RequestID)
    /// The interceptor has judged the answer, or the failure.
    case judged(RequestID, InterceptorVerdict)

    // MARK: From the owner of the run

    /// Other numbers to decide by, from now on.
    case policy(QueuePolicy)
    /// Ends all attempts without counting them, and starts no more. The next run continues from there.
    case stop

    // MARK: From the clock

    /// ``QueueScheduler/deadline`` is here.
    case wake
}

extension QueueInput {
    /// The user who asks, from the kernel. Root may change all requests, other users only their own.
    package struct Client: Hashable, Sendable {
        package let user: UInt32

        package init(user: UInt32) { self.user = user }

        package static let root = Client(user: 0)
        /// Stands for the fleet among the owners of holds. It is (uid_t)-1, which no user has.
        package static let fleet = Client(user: .max)

        package func mayTouch(_ owner: UInt32) -> Bool { user == 0 || user == owner }
    }
}

/// What an interceptor decides about an answer, or about a failure.
package enum InterceptorVerdict: Hashable, Sendable {
    /// The request is sent again after this time, prepared again. It counts as no failure.
    case again(after: Duration)
    /// The queue judges it as if there were no interceptor.
    case stands(AttemptEnd)
    /// The request ends without success.
    case refused(RequestResult?)
}

/// The requests of an earlier run that are still to be restored. They count for limits and figures from the beginning,
/// so that new requests can be accepted meanwhile.
package struct ExpectedRequests: Hashable, Sendable {
    /// What one owner has.
    package struct Share: Hashable, Sendable {
        /// The number of requests that are not over.
        package var count: Int
        /// Their bytes, as far as they count for limits.
        package var bytes: Int64

        package init(count: Int, bytes: Int64) {
            self.count = count
            self.bytes = bytes
        }
    }

    package private(set) var shares: [UInt32: Share]
    /// How many requests are restored, the dead ones too: room is made for them.
    package let total: Int

    package init(shares: [UInt32: Share] = [:], total: Int = 0) {
        self.shares = shares
        self.total = total
    }

    /// Takes a request off that was restored.
    ///
    /// - Returns: What no longer counts as expected.
    mutating func remove(_ bytes: Int64, of owner: UInt32) -> Share {
        guard var share = shares[owner], share.count > 0 else { return Share(count: 0, bytes: 0) }
        let removed = Share(count: 1, bytes: share.count == 1 ? share.bytes : min(bytes, share.bytes))
        share.count -= 1
        share.bytes -= removed.bytes
        shares[owner] = share.count > 0 ? share : nil
        return removed
    }
}
