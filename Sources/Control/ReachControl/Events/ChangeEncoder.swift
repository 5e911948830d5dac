package import ReachCore

/// Encodes the events of many targets. A change that differs from the one before it in nothing but the target is not
/// encoded again: with a thousand targets behind one default route, that is nearly every change.
package struct ChangeEncoder {
    private let source: StatusSource
    private var last: (change: ReachabilityChange, event: EncodedEvent)?

    package init(source: StatusSource) { self.source = source }

    /// - Parameter target: The last target of the events of one stream, whose bytes the next event shares.
    package mutating func encode(_ event: TargetEvent, of target: inout QuotedTarget?) -> EncodedEvent {
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
