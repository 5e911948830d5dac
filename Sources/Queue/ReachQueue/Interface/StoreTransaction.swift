package import ReachCore

/// Changes that are written together or not at all.
package struct StoreTransaction: Hashable, Sendable {
    /// In the order of their making.
    package let number: UInt64
    package var changes: [StoreChange]
    /// If the store cannot write it now, it is refused instead of kept until it can.
    package let mayBeRefused: Bool
    /// A client gets its answer when this is committed: it must outlast a loss of power.
    package let isAwaited: Bool
    /// What is published when this is committed; a store may keep those that report what it keeps
    /// (``QueueEvent/Kind/isKept``).
    package let events: [QueueEvent]

    package init(
        number: UInt64, changes: [StoreChange], mayBeRefused: Bool, isAwaited: Bool = false, events: [QueueEvent] = []
    ) {
        self.number = number
        self.changes = changes
        self.mayBeRefused = mayBeRefused
        self.isAwaited = isAwaited
        self.events = events
    }
}

/// One change of what is kept. Times are moments on both clocks: boot times mean nothing to another start of the
/// machine.
package indirect enum StoreChange: Hashable, Sendable {
    case insert(StoredRequest, QueuedRequest)
    /// A request carries the bodies of others from now on, in this order. It comes with the first lease, before it.
    case join(RequestID, [RequestID])
    /// An attempt is about to be made.
    /// What may not be repeated is written to last through a loss of power, too.
    case lease(RequestID, attempt: Int, interface: String, isRepeatable: Bool, at: Instant)
    /// An attempt ended and the request goes on; or a user held or released it while it did not run.
    case update(RequestProgress)
    /// A user held or released a request that runs: its lease stands.
    case holdRequest(RequestID, isHeld: Bool)
    case finish(RequestProgress, RequestEnd, RequestResult?, at: Instant)
    /// A dead request is sent again.
    case revive(RequestProgress, deadline: Instant)
    case holdQueue(owner: UInt32?, isHeld: Bool)
    /// What is kept of them is no longer needed.
    case purge([RequestID])
    /// Its owner has read its answer to the end: it goes before those that no one read.
    case markRead(RequestID)
    case openBreaker(StoredBreaker)
    case closeBreaker(Destination, interface: String, owner: UInt32)
    /// What was moved over metered links, with what running attempts may still move: it replaces what was written
    /// before.
    case setMetered(MeteredAccount)
}

/// A circuit breaker that is open.
package struct StoredBreaker: Hashable, Sendable {
    package let destination: Destination
    package let interface: String
    /// Whose requests opened it: it holds back no one else's.
    package let owner: UInt32
    package let openUntil: Instant
    /// At most ``highestStep``: the wait is the longest one long before.
    package let step: Int

    package static let highestStep = 32

    package init(destination: Destination, interface: String, owner: UInt32, openUntil: Instant, step: Int) {
        self.destination = destination
        self.interface = interface
        self.owner = owner
        self.openUntil = openUntil
        self.step = min(step, Self.highestStep)
    }
}

/// The numbers of a request that change.
package struct RequestProgress: Hashable, Sendable {
    package let id: RequestID
    package var attempts: Int
    package var networkFailures: Int
    package var tries: Int
    package var isHeld: Bool
    /// The end of its wait after a failure.
    package var notBefore: Instant?
    package var isNetworkFailure: Bool
    /// Since when it waits, if it was sent before: when its last attempt ended. `nil` for others.
    package var waitsSince: Instant?

    package init(
        id: RequestID, attempts: Int = 0, networkFailures: Int = 0, tries: Int = 0, isHeld: Bool = false,
        notBefore: Instant? = nil, isNetworkFailure: Bool = false, waitsSince: Instant? = nil
    ) {
        self.id = id
        self.attempts = attempts
        self.networkFailures = networkFailures
        self.tries = tries
        self.isHeld = isHeld
        self.notBefore = notBefore
        self.isNetworkFailure = isNetworkFailure
        self.waitsSince = waitsSince
    }
}

/// A request as the store gives it back: all that the scheduler has to know.
@dynamicMemberLookup
package struct StoredRequest: Hashable, Sendable {
    package enum State: Hashable, Sendable {
        case waiting
        /// An attempt was being made when the run ended.
        case leased
        case dead(DeathReason, at: Instant)
    }

    package var progress: RequestProgress
    package var state: State = .waiting
    package var owner: UInt32
    package var destination: Destination
    /// Those of its client; of a row of the queue's file those that are for scheduling.
    package let terms: Shared<RequestTerms>
    package var isRepeatable: Bool
    /// See ``RequestSpecification/exposesSecrets``.
    package var exposesSecrets = false
    /// The request that carries it.
    package var carrier: RequestID?
    /// The length of its body, if it may be joined.
    package var bodyBytes: Int64 = 0
    package var bytesHeld: Int64
    /// Bytes of the answer that a dead request died of.
    package var answerBytes: Int64 = 0
    package var created: Instant
    package var deadline: Instant

    package init(_ id: RequestID, _ request: QueuedRequest, created: Instant, deadline: Instant) {
        let specification = request.specification
        self.init(
            id, owner: request.owner, specification: specification, isRepeatable: specification.isRepeatable,
            bytesHeld: specification.bytesHeld, created: created, deadline: deadline)
        exposesSecrets = specification.exposesSecrets
        bodyBytes = specification.body.count
    }

    /// - Parameter specification: URL, headers and body are not needed.
    package init(
        _ id: RequestID, owner: UInt32, specification: RequestSpecification, isRepeatable: Bool, bytesHeld: Int64,
        created: Instant, deadline: Instant
    ) {
        progress = RequestProgress(id: id)
        self.owner = owner
        destination = specification.destination
        terms = specification.sharedTerms
        self.isRepeatable = isRepeatable
        self.bytesHeld = bytesHeld
        self.created = created
        self.deadline = deadline
    }

    package var id: RequestID { progress.id }
    /// Whether an attempt continues where the last one was cut off.
    package var isResumable: Bool { terms.value.uploadProtocol != nil }

    package subscript<Term>(dynamicMember term: KeyPath<RequestTerms, Term>) -> Term {
        @inline(__always) get { terms.value[keyPath: term] }
    }
}
