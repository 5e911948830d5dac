package import ReachCore
internal import ReachLoop
package import ReachQueue

/// An event that subscribers of the queue receive.
package enum QueueNotice: Hashable, Sendable {
    case event(QueueEvent)
    /// At most ten times a second for each attempt, and only to subscribers of that request.
    case progress(AttemptProgress)
    /// An event of a newer daemon, as it came.
    case other(JSONValue, at: Instant)

    /// - Returns: `nil` for the event with which a subscription begins.
    package init?(reading json: JSONValue) throws(StatusReadingError) {
        let reader = try StatusReader(json)
        let word = try reader.value("event", \.string)
        if word == Self.beginning { return nil }
        let moment = try reader.moment()
        if word == Self.progressing {
            var progress = try AttemptProgress(reader)
            progress.id = RequestID(rawValue: try reader.value("id", \.integer))
            self = .progress(progress)
        } else if QueueEvent.Kind(rawValue: word) != nil {
            var event = try QueueEvent(reader)
            event.moment = moment
            self = .event(event)
        } else {
            self = .other(json, at: moment)
        }
    }

    package var encoded: EncodedEvent {
        switch self {
        case .event(let event): .queue(event)
        case .progress(let progress): .queueProgress(progress, at: SystemClock.now)
        case .other(let json, let moment): .other("queue", json, at: moment)
        }
    }

    fileprivate static let beginning = "watching"
    fileprivate static let progressing = "progress"
}

/// Encodes what several watches of the queue are told. An event that is the same as the one before it is not encoded
/// again: a user's watches all get it, one after the other.
struct QueueEncoder {
    private var last: (event: QueueEvent, encoded: EncodedEvent)?

    mutating func encode(_ notice: QueueNotice) -> EncodedEvent {
        // Progress has the time at which it is encoded.
        guard case .event(let event) = notice else { return notice.encoded }
        if let last, last.event == event { return last.encoded }
        let encoded = notice.encoded
        last = (event, encoded)
        return encoded
    }
}

extension EncodedEvent {
    /// No later event is missed: the first line of a subscription to the queue, and the one after `dropped`.
    package static func queueWatching(at moment: Instant) -> EncodedEvent {
        EncodedEvent("queue", at: moment) { $0.field("event", QueueNotice.beginning) }
    }

    static func queueProgress(_ progress: AttemptProgress, at moment: Instant) -> EncodedEvent {
        EncodedEvent("queue", at: moment) { json in
            json.field("event", QueueNotice.progressing)
            json.field("id", progress.id.rawValue)
            progress.writeMembers(to: &json)
        }
    }

    /// A `queue` line of the event stream.
    package static func queue(_ event: QueueEvent) -> EncodedEvent {
        EncodedEvent("queue", at: event.moment, event.writeMembers)
    }
}
