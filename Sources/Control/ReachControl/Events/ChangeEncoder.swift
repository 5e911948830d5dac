package import ReachClient
package import ReachCore

/// Encodes the events of many targets. A change that differs from the one before it in nothing but the target is not
/// encoded again: with a thousand targets behind one default route, that is nearly every change. Nor is one that two
/// receivers share an encoder for. Confined to one thread.
package final class ChangeEncoder {
    private let source: StatusSource
    private var last: (change: ReachabilityChange, event: EncodedEvent)?

    package init(source: StatusSource) { self.source = source }

    /// - Parameter target: The last target of the events of one stream, whose bytes the next event shares.
    package func encode(_ event: TargetEvent, of target: inout QuotedTarget?) -> EncodedEvent {
        guard case .change(let change) = event, change.previous != nil else { return event.encoded(source: source) }
        let quoted: QuotedTarget
        if let target, target.target == change.state.target, target.name == change.state.name {
            quoted = target
        } else {
            quoted = QuotedTarget(change.state)
            target = quoted
        }
        if let last, last.change.differsOnlyInTarget(from: change) { return last.event.of(quoted) }
        let encoded = EncodedEvent.change(change, source: source, of: quoted)
        last = (change, encoded)
        return encoded
    }
}

extension StreamEvent {
    /// The event as a JSON object.
    ///
    /// - Parameter source: Named in the event's status.
    package func encoded(source: StatusSource) -> EncodedEvent {
        switch self {
        case .target(let event): return event.encoded(source: source)
        case .unavailable(_, let change): return .change(change, source: source)
        case .snapshot(let change, _):
            let moment = Instant(wall: change.time, boot: change.bootTime)
            return .snapshot(change.state, source: source, isInitial: false, cause: .resync, at: moment)
        case .dropped(let moment, let count): return .dropped(count: count, at: moment)
        case .other(let moment, let type, let json): return .other(type, json, at: moment)
        case .disconnected(let moment, let error, let state):
            return .disconnected(reason: error.description, state, source: source, at: moment)
        case .reconnected(let moment, let away, _): return .reconnected(away: away, at: moment)
        }
    }
}

extension TargetEvent {
    /// The event as a JSON object.
    ///
    /// - Parameter source: Named in the event's status.
    package func encoded(source: StatusSource) -> EncodedEvent {
        switch self {
        case .change(let change): .change(change, source: source)
        case .resync(let moment, let reason): .resync(reason: reason, at: moment)
        case .wake(let moment, let slept): .wake(slept: slept, at: moment)
        case .notice(let moment, let notice): .notice(notice, at: moment)
        case .probe(let event): .probe(event)
        }
    }
}
