package import ReachCore

/// A change of a request, or of the queue as a whole, as subscribers receive it.
package struct QueueEvent: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case queued
        case started
        /// It failed and will be tried again.
        case retrying
        /// It cannot start, and why.
        case waiting
        /// It had to wait, and can start now.
        case resumed
        /// A user holds it.
        case suspended
        /// A user let it go.
        case released
        /// Its attempt ended without counting as a failure: the path was lost, another user waited, or the queue
        /// stopped.
        case interrupted
        case done
        case dead
        case cancelled
        /// Other than these, of the queue as a whole: a condition is met, or no longer.
        case opened
        case closed
        case breakerOpen = "breaker-open"
        case breakerClosed = "breaker-closed"
        /// The queue's file cannot be written, or can again; or a damaged one was set aside.
        case degraded
        case recovered
        case storageReset = "storage-reset"
        /// Of a budget for metered links: 80 % of it are used, all of it, or its next period has begun.
        case meteredLow = "metered-low"
        case meteredUsed = "metered-used"
        case meteredRenewed = "metered-renewed"

        /// Whether it ends a request.
        package var isEnd: Bool { self == .done || self == .dead || self == .cancelled }

        /// Whether it reports a change of what is kept: it is then sent only after the commit.
        package var isKept: Bool {
            switch self {
            case .started, .waiting, .resumed, .opened, .closed: false
            default: true
            }
        }
    }

    package var kind: Kind
    package var moment: Instant
    package var epoch: UInt64
    /// `nil` for events of the queue as a whole.
    package var request: RequestID?
    package var owner: UInt32?
    /// The number of the attempt.
    package var attempt: Int?
    /// A stable word: of the death, of the cancelling, of what failed.
    package var reason: String?
    package var status: Int?
    package var interface: String?
    package var blockers: Blocker = []
    package var notBefore: Timestamp?
    package var destination: Destination?
    package var condition: NetworkCondition?
    /// How many requests it concerns.
    package var count: Int?
    /// The budget for metered links that it concerns.
    package var budget: MeteredReport?

    package init(_ kind: Kind, at moment: Instant, epoch: UInt64) {
        self.kind = kind
        self.moment = moment
        self.epoch = epoch
    }
}
