package import ReachCore

/// Reads the events of one stream, in order.
package struct EventStreamReader: Sendable {
    /// The latest state: an event contains only a summary of its previous state.
    private var latest: ReachabilityState?

    package init() {}

    package mutating func read(_ json: JSONValue) throws(StatusReadingError) -> StreamEvent {
        let reader = try StatusReader(json)
        guard let number: UInt64 = try reader.number("seq") else { throw reader.fault("seq") }
        let moment = try reader.moment()
        switch try reader.value("type", \.string) {
        case "snapshot": return .snapshot(try change(reader, hasPrevious: false).numbered(number))
        case "change": return .target(.change(try change(reader, hasPrevious: true).numbered(number)))
        case "resync": return .target(.resync(moment, reason: try reader.value("reason", \.string)))
        case "wake":
            return .target(.wake(moment, slept: .milliseconds(try reader.value("slept_ms", \.integer))))
        case "dropped":
            guard let count: UInt64 = try reader.number("count") else { throw reader.fault("count") }
            return .dropped(moment, count: count)
        case let type: return .other(moment, type: type, json)
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
        var (reader, summary) = (reader, ReachabilityState(target: state.target, since: state.since))
        summary.summaryMembers(&reader)
        if let fault = reader.firstFault { throw fault }
        guard let latest, latest.status == summary.status, latest.reason == summary.reason,
            latest.linkClass == summary.linkClass, latest.interface == summary.interface
        else { return summary }
        return latest
    }
}
