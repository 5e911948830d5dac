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

extension ReachabilityChange {
    /// Whether both are known to be the same but for the target. Their states must share their storage, since comparing
    /// all values would cost as much as encoding them.
    fileprivate func differsOnlyInTarget(from other: ReachabilityChange) -> Bool {
        guard let previous, let others = other.previous, state.sharesStorage(with: other.state) else { return false }
        return previous.sharesStorage(with: others) && bootTime == other.bootTime && time == other.time
            && cause == other.cause && aspects == other.aspects
    }
}
