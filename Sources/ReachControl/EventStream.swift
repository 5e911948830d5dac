package import ReachCore

/// Writes the lines of an event stream: one JSON object each, numbered from 1 without a gap.
package struct EventStream: Sendable {
    private let source: StatusSource
    private var sequenceNumber: UInt64 = 0

    package init(source: StatusSource) { self.source = source }

    /// The state of a target, with nothing before it: the first line, and the one after lost lines.
    package mutating func snapshot(
        _ state: ReachabilityState, isInitial: Bool, cause: Cause, at moment: Moment
    ) -> [UInt8] {
        line("snapshot", at: moment) { [source] json in
            json.field("initial", isInitial)
            json.field("cause", cause.rawValue)
            json.field("changed", [])
            json.field("previous", String?.none)
            json.key("status")
            json.status(state, source: source, at: moment.wall, moment.boot)
        }
    }

    /// A difference; or the initial state, which is a snapshot.
    package mutating func change(_ change: ReachabilityChange) -> [UInt8] {
        let moment = Moment(wall: change.time, boot: change.bootTime)
        guard let previous = change.previous else {
            return snapshot(change.state, isInitial: true, cause: change.cause, at: moment)
        }
        return line("change", at: moment) { [source] json in
            json.field("initial", false)
            json.field("cause", change.cause.rawValue)
            json.field("changed", change.aspects.map(\.rawValue))
            json.field("previous", object: { $0.summary(of: previous) })
            json.key("status")
            json.status(change.state, source: source, at: change.time, change.bootTime)
        }
    }

    /// Notices were lost and everything was read anew; differences follow.
    package mutating func resync(reason: String, at moment: Moment) -> [UInt8] {
        line("resync", at: moment) { $0.field("reason", reason) }
    }

    /// The machine slept; differences follow.
    package mutating func wake(slept: Duration, at moment: Moment) -> [UInt8] {
        line("wake", at: moment) { $0.field("slept_ms", slept.nanoseconds / 1_000_000) }
    }

    /// So many lines were not written, since the reader was too slow; a snapshot follows.
    package mutating func dropped(count: Int, at moment: Moment) -> [UInt8] {
        line("dropped", at: moment) { $0.field("count", count.wide) }
    }

    mutating func line(_ type: String, at moment: Moment, _ body: (inout JSONWriter) -> Void) -> [UInt8] {
        sequenceNumber += 1
        var json = JSONWriter()
        json.object { json in
            json.field("v", 1)
            json.field("type", type)
            json.field("seq", sequenceNumber.wide)
            json.times(moment.wall, moment.boot)
            body(&json)
        }
        json.newline()
        return json.bytes
    }
}
