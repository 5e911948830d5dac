package import ReachCore

/// What those who watch the queue are told.
package enum QueueNotice: Hashable, Sendable {
    case event(QueueEventRecord)
    /// At most ten times a second for each attempt, and only to those who watch that request.
    case progress(QueueProgress)
}

/// Something that happened to a request, or to the queue as a whole.
package struct QueueEventRecord: Hashable, Sendable {
    /// A stable word: `queued`, `started`, `retrying`, `waiting`, `resumed`, `suspended`, `released`, `interrupted`,
    /// `done`, `dead`, `cancelled`, `opened`, `closed`, `breaker-open`, `breaker-closed`, `degraded`, `recovered`,
    /// `storage-reset`.
    package let event: String
    package let moment: Instant
    package let epoch: UInt64
    /// `nil` for what concerns the queue as a whole.
    package var id: Int64?
    package var user: UInt32?
    package var attempt: Int?
    package var reason: String?
    package var status: Int?
    package var interface: String?
    package var blockers: [String] = []
    package var notBefore: Timestamp?
    package var destination: String?
    package var when: String?
    /// How many requests it concerns.
    package var count: Int?

    package init(_ event: String, at moment: Instant, epoch: UInt64) {
        self.event = event
        self.moment = moment
        self.epoch = epoch
    }

    /// Nothing further happens to the request, unless it is dead and sent again.
    package var isLast: Bool { ["done", "dead", "cancelled"].contains(event) }
}

extension EncodedEvent {
    /// A `queue` line of the event stream.
    package static func queue(_ record: QueueEventRecord) -> EncodedEvent {
        EncodedEvent("queue", at: record.moment) { json in
            json.field("event", record.event)
            json.field("epoch", Int64(clamping: record.epoch))
            if let id = record.id { json.field("id", id) }
            if let user = record.user { json.field("user", Int64(user)) }
            if let attempt = record.attempt { json.field("attempt", Int64(attempt)) }
            if let reason = record.reason { json.field("reason", reason) }
            if let status = record.status { json.field("status", Int64(status)) }
            if let interface = record.interface { json.field("interface", interface) }
            if !record.blockers.isEmpty { json.field("blockers", record.blockers) }
            if let notBefore = record.notBefore { json.field("not_before", notBefore) }
            if let destination = record.destination { json.field("destination", destination) }
            if let when = record.when { json.field("when", when) }
            if let count = record.count { json.field("count", Int64(count)) }
        }
    }
}
