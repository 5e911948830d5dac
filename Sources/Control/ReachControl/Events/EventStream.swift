package import ReachCore

/// Writes the lines of an event stream: one JSON object for each event, numbered from 1 without gaps.
package struct EventStream: Sendable {
    /// The source named in every status.
    package var source: StatusSource
    private var sequenceNumber: UInt64 = 0

    package init(source: StatusSource) { self.source = source }

    package mutating func snapshot(
        _ state: ReachabilityState, isInitial: Bool, cause: Cause, at moment: Instant
    ) -> [UInt8] {
        line(.snapshot(state, source: source, isInitial: isInitial, cause: cause, at: moment))
    }

    package mutating func change(_ change: ReachabilityChange) -> [UInt8] { line(.change(change, source: source)) }

    package mutating func resync(reason: String, at moment: Instant) -> [UInt8] {
        line(.resync(reason: reason, at: moment))
    }

    package mutating func wake(slept: Duration, at moment: Instant) -> [UInt8] {
        line(.wake(slept: slept, at: moment))
    }

    package mutating func dropped(count: Int, at moment: Instant) -> [UInt8] {
        line(.dropped(count: UInt64(count), at: moment))
    }

    package mutating func notice(_ notice: Notice, at moment: Instant) -> [UInt8] {
        line(.notice(notice, at: moment))
    }

    package mutating func line(_ event: EncodedEvent) -> [UInt8] {
        sequenceNumber += 1
        var bytes: [UInt8] = []
        bytes.reserveCapacity(event.count + 24)
        event.append(to: &bytes, numbered: sequenceNumber)
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }
}
