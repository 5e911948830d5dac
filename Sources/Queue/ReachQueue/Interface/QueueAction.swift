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
    /// Report how the kernel sends to the destination by ``QueueInput/routes(_:)``, at first and whenever it changes.
    /// The addresses of a name are those that an attempt or a lookup found last.
    case followRoute(Destination)
    case unfollowRoute(Destination)
    /// Resolve the destination's name with whatever name servers can be reached, and report
    /// ``QueueInput/lookedUp(_:_:)``. The owner is that of a request that waits for it.
    case lookUp(Destination, owner: UInt32)
    case reply(QueueInput.Ticket, QueueReply)
    /// An event for those who watch; one that changed what is kept comes after its commit.
    case publish(QueueEvent)
}

/// One attempt to be made. An object, since all that make the attempt pass it on, and none changes it.
package final class AttemptOrder: Hashable, Sendable {
    package let id: RequestID
    /// 1 for the first.
    package let number: Int
    package let destination: Destination
    /// The path it is bound to, unless the destination turns out to have a route of its own.
    package let path: QueuePath
    /// What a path must satisfy by which it is sent.
    package let condition: NetworkCondition
    /// Whether a portal must not read it: see ``RequestSpecification/exposesSecrets``.
    package let exposesSecrets: Bool
    /// The family it is restricted to.
    package var family: IPAddress.Family? { condition.family }
    /// Whether ``QueueInput/answering(_:)`` is wanted, since other requests wait for its answer.
    package let isCanary: Bool
    /// The links that it must not use, since a budget is used up.
    package let bar: MeteredBar
    /// Whether ``QueueInput/spent(_:attempt:total:left:isLast:)`` is wanted.
    package let isCounted: Bool

    init(
        id: RequestID, number: Int, destination: Destination, path: QueuePath, condition: NetworkCondition,
        exposesSecrets: Bool, isCanary: Bool, bar: MeteredBar = MeteredBar(), isCounted: Bool = false
    ) {
        (self.bar, self.isCounted) = (bar, isCounted)
        (self.id, self.number, self.destination, self.path) = (id, number, destination, path)
        (self.condition, self.exposesSecrets, self.isCanary) = (condition, exposesSecrets, isCanary)
    }

    package static func == (left: AttemptOrder, right: AttemptOrder) -> Bool {
        left === right
            || left.id == right.id && left.number == right.number && left.destination == right.destination
                && left.path == right.path && left.condition == right.condition
                && left.exposesSecrets == right.exposesSecrets && left.isCanary == right.isCanary
                && left.bar == right.bar && left.isCounted == right.isCounted
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(id)
        hasher.combine(number)
    }
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
    /// Another request carries it, and it may have arrived with that one.
    case carried(RequestID)

    /// Why a request was not taken: try again later (exit status 75).
    package enum Refusal: String, Hashable, Sendable {
        case queueFull = "queue-full"
        case userLimit = "user-limit"
        case storage
    }
}
