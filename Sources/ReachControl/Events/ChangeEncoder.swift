package import ReachCore

/// Encodes the events of many targets. A change that differs from the one before it in nothing but the target is not
/// encoded again: with a thousand targets behind one default route, that is nearly every change.
package struct ChangeEncoder {
    private let source: StatusSource
    private var last: (change: ReachabilityChange, event: EncodedEvent)?

    package init(source: StatusSource) { self.source = source }

    package mutating func encode(_ event: TargetEvent) -> EncodedEvent {
        guard case .change(let change) = event, change.previous != nil else { return event.encoded(source: source) }
        if let last, last.change.differsOnlyInTarget(from: change) { return last.event.of(change.state.target) }
        let encoded = EncodedEvent.change(change, source: source)
        last = (change, encoded)
        return encoded
    }
}
