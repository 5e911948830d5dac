package import ReachCore

/// Something about the queue that those who watch it are told.
package struct QueueEvent: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case queued
        case started
        /// It failed and will be tried again.
        case retrying
        /// It cannot start, and why.
        case waiting
        /// It was told to wait, and goes on.
        case resumed
        /// A user holds it.
        case suspended
        /// A user let it go.
        case released
        /// Its attempt was ended by the network, and does not count.
        case interrupted
        case done
        case dead
        case cancelled
        /// Other than these, of the queue as a whole: a condition is met, or no longer.
        case opened
        case closed
        case breakerOpen = "breaker-open"
        case breakerClosed = "breaker-closed"

        /// Whether it reports a change of what is kept: it is then sent only after the commit.
        package var isKept: Bool {
            switch self {
            case .started, .waiting, .resumed, .opened, .closed: false
            default: true
            }
        }
    }

    package let kind: Kind
    package let moment: Instant
    package let epoch: UInt64
    package var request: RequestID?
    package var owner: UInt32?
    /// The number of the attempt.
    package var attempt: Int?
    /// A stable word: of the death, of the cancelling, of what failed.
    package var reason: String?
    package var status: Int?
    package var interface: String?
    package var blockers: Blocker = []
    package var notBefore: Instant?
    package var destination: Destination?
    package var condition: NetworkCondition?
    /// How many requests it concerns.
    package var count: Int?

    package init(_ kind: Kind, at moment: Instant, epoch: UInt64) {
        self.kind = kind
        self.moment = moment
        self.epoch = epoch
    }
}

extension QueueEvent {
    /// One JSON object, with the keys of the stream's other events.
    package var json: [UInt8] {
        var writer = JSONWriter()
        writer.object { object in
            object.field("v", 1)
            object.field("type", "queue")
            object.field("event", kind.rawValue)
            object.field("time", moment.wall)
            object.field("boottime_ns", moment.boot.nanoseconds)
            object.field("epoch", Int64(clamping: epoch))
            if let request { object.field("id", request.rawValue) }
            if let owner { object.field("user", Int64(owner)) }
            if let attempt { object.field("attempt", Int64(attempt)) }
            if let reason { object.field("reason", reason) }
            if let status { object.field("status", Int64(status)) }
            if let interface { object.field("interface", interface) }
            if !blockers.isEmpty { object.field("blockers", blockers.words) }
            if let notBefore { object.field("not_before", notBefore.wall) }
            if let destination { object.field("destination", destination.description) }
            if let condition { object.field("when", condition.description) }
            if let count { object.field("count", Int64(count)) }
        }
        return writer.bytes
    }
}
