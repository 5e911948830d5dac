package import ReachCore

/// What the queue wants done, in this order.
package indirect enum QueueAction: Hashable, Sendable {
    /// To be written as one, after all before it, and answered with ``QueueInput/committed(_:)``.
    case store(StoreTransaction)
    /// Have the request's interceptor prepare its next attempt, and report ``QueueInput/prepared(_:isReady:)``.
    case prepare(RequestID)
    /// End the preparation or the judgement of a request; nothing more of it is to be reported.
    case abandon(RequestID)
    /// The lease is safe: send it.
    case start(AttemptOrder)
    /// End the attempt, and report nothing more of it.
    case abort(RequestID)
    /// Find out whether the path works, and report it by ``QueueInput/pathChecked(interfaceIndex:works:)``. These
    /// checks are never paused.
    case checkPath(QueuePath)
    /// Report the path to the destination, and every change of it. The owner is that of the first request that needs
    /// it.
    case watch(Destination, owner: UInt32)
    case unwatch(Destination)
    case reply(QueueInput.Ticket, QueueReply)
    /// An event for those who watch; one that changed what is kept comes after its commit.
    case publish(QueueEvent)
}

/// One attempt to be made.
package struct AttemptOrder: Hashable, Sendable {
    package let id: RequestID
    /// 1 for the first.
    package let number: Int
    package let destination: Destination
    /// The path it is bound to.
    package let path: QueuePath
    /// The family it is restricted to.
    package let family: IPAddress.Family?
    /// Whether ``QueueInput/answering(_:)`` is wanted, since other requests wait for its answer.
    package let isCanary: Bool
}

/// The answer to a client.
package enum QueueReply: Hashable, Sendable {
    /// It is safe on disk.
    case added(RequestID)
    /// One of the same name is there and stays.
    case kept(RequestID)
    case refused(Refusal)
    case done
    /// How many are sent again.
    case retried(Int)
    /// It is over already; nothing was changed.
    case alreadyOver
    case notFound
    case notPermitted
    /// It is not dead, and cannot be sent again.
    case notDead

    /// Why a request was not taken: try again later (exit status 75).
    package enum Refusal: String, Hashable, Sendable {
        case queueFull = "queue-full"
        case userLimit = "user-limit"
        case storage
    }
}
