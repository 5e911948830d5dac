package import ReachCore

/// An event of the daemon's stream.
package struct StreamEvent: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        /// The current state, as a change without a previous state: the first event, and the one after lost events.
        case snapshot(ReachabilityChange)
        case change(ReachabilityChange)
        case resync(reason: String)
        case wake(slept: Duration)
        case dropped(count: UInt64)
        /// An event of a type that this version does not know, as it was received.
        case other(type: String, JSONValue)
    }

    package let sequenceNumber: UInt64
    package let moment: Instant
    package let content: Content
}

/// Reads the events of one stream, in order.
package struct StreamReader: Sendable {
    /// The latest state: an event contains only a summary of its previous state.
    private var latest: ReachabilityState?

    package init() {}

    package mutating func read(_ json: JSONValue) throws(StatusReadingError) -> StreamEvent {
        let reader = try StatusReader(json)
        guard let number: UInt64 = try reader.number("seq") else { throw reader.fault("seq") }
        return StreamEvent(
            sequenceNumber: number, moment: try reader.moment(), content: try content(reader, json, number: number))
    }

    private mutating func content(
        _ reader: StatusReader, _ json: JSONValue, number: UInt64
    ) throws(StatusReadingError) -> StreamEvent.Content {
        switch try reader.value("type", \.string) {
        case "snapshot": return .snapshot(try change(reader, hasPrevious: false).numbered(number))
        case "change": return .change(try change(reader, hasPrevious: true).numbered(number))
        case "resync": return .resync(reason: try reader.value("reason", \.string))
        case "wake":
            let milliseconds = try reader.value("slept_ms", \.integer)
            return .wake(slept: .milliseconds(milliseconds))
        case "dropped":
            guard let count: UInt64 = try reader.number("count") else { throw reader.fault("count") }
            return .dropped(count: count)
        case let type: return .other(type: type, json)
        }
    }

    private mutating func change(
        _ reader: StatusReader, hasPrevious: Bool
    ) throws(StatusReadingError) -> ReachabilityChange {
        let state = try ReachabilityState(reader.object("status"))
        let previous = hasPrevious ? try self.previous(reader.object("previous"), before: state) : nil
        latest = state
        // An unknown cause counts as `poll`: a difference that the engine found without a notice.
        return ReachabilityChange(
            at: try reader.moment(), cause: try reader.word("cause") ?? .poll,
            aspects: try reader.texts("changed").compactMap(ReachabilityChange.Aspect.init), previous: previous,
            state: state)
    }

    /// The latest state if it matches the summary; otherwise a state with no more than the summary.
    private func previous(
        _ reader: StatusReader, before state: ReachabilityState
    ) throws(StatusReadingError) -> ReachabilityState {
        var summary = ReachabilityState(target: state.target, since: state.since)
        try summary.adoptSummary(reader)
        guard let latest, latest.status == summary.status, latest.reason == summary.reason,
            latest.linkClass == summary.linkClass, latest.interface == summary.interface
        else { return summary }
        return latest
    }
}
