package import ReachCore

/// An event as a JSON object, encoded once for any number of readers. Each reader's stream inserts its own sequence
/// number.
package struct EncodedEvent: Sendable {
    private let bytes: [UInt8]
    /// The offset at which the number is inserted.
    private let gap: Int

    /// The length in bytes, without the number.
    package var count: Int { bytes.count }

    init(_ type: String, at moment: Instant, _ body: (inout JSONWriter) -> Void) {
        var json = JSONWriter()
        var gap = 0
        json.object { json in
            json.field("v", 1)
            json.field("type", type)
            gap = json.gap("seq")
            json.times(moment.wall, moment.boot)
            body(&json)
        }
        bytes = json.bytes
        self.gap = gap
    }

    private init(_ bytes: [UInt8], gap: Int) {
        self.bytes = bytes
        self.gap = gap
    }

    /// Makes the same event as part of a larger document.
    func enclosed(in before: StaticString, _ after: StaticString) -> EncodedEvent {
        var whole: [UInt8] = []
        whole.reserveCapacity(before.utf8CodeUnitCount + bytes.count + after.utf8CodeUnitCount)
        before.withUTF8Buffer { whole.append(contentsOf: $0) }
        let gap = whole.count + gap
        whole += bytes
        after.withUTF8Buffer { whole.append(contentsOf: $0) }
        return EncodedEvent(whole, gap: gap)
    }

    /// The object without a number in a stream.
    package var unnumbered: [UInt8] {
        // "seq":, and the comma behind the number.
        Array(bytes[..<(gap - 6)] + bytes[(gap + 1)...])
    }

    package func append(to output: inout [UInt8], numbered number: UInt64) {
        output.append(contentsOf: bytes[..<gap])
        output += String(number).utf8
        output.append(contentsOf: bytes[gap...])
    }
}

extension EncodedEvent {
    /// The state of a target without a previous one: the first line, and the one after lost lines.
    package static func snapshot(
        _ state: ReachabilityState, source: StatusSource, isInitial: Bool, cause: Cause, at moment: Instant
    ) -> EncodedEvent {
        EncodedEvent("snapshot", at: moment) { json in
            json.field("initial", isInitial)
            json.field("cause", cause.rawValue)
            json.field("changed", [])
            json.field("previous", String?.none)
            json.key("status")
            json.status(state, source: source, at: moment.wall, moment.boot)
        }
    }

    /// A change. The initial state is written as a snapshot.
    package static func change(_ change: ReachabilityChange, source: StatusSource) -> EncodedEvent {
        let moment = Instant(wall: change.time, boot: change.bootTime)
        guard let previous = change.previous else {
            return snapshot(change.state, source: source, isInitial: true, cause: change.cause, at: moment)
        }
        return EncodedEvent("change", at: moment) { json in
            json.field("initial", false)
            json.field("cause", change.cause.rawValue)
            json.field("changed", change.aspects.map(\.rawValue))
            json.field("previous", object: { $0.summary(of: previous) })
            json.key("status")
            json.status(change.state, source: source, at: change.time, change.bootTime)
        }
    }

    /// Notices were lost, and the engine has read all state again; changes follow.
    package static func resync(reason: String, at moment: Instant) -> EncodedEvent {
        EncodedEvent("resync", at: moment) { $0.field("reason", reason) }
    }

    /// The machine slept; changes follow.
    package static func wake(slept: Duration, at moment: Instant) -> EncodedEvent {
        EncodedEvent("wake", at: moment) { $0.field("slept_ms", slept.nanoseconds / 1_000_000) }
    }

    /// The connection to the daemon was lost; the client is reconnecting.
    ///
    /// - Parameter state: The last state sent, stale from now on.
    package static func disconnected(
        reason: String, _ state: ReachabilityState, source: StatusSource, at moment: Instant
    ) -> EncodedEvent {
        EncodedEvent("disconnected", at: moment) { json in
            json.field("reason", reason)
            json.key("status")
            json.status(state, source: source, at: moment.wall, moment.boot)
        }
    }

    /// The daemon answers again; a change follows if anything differs.
    package static func reconnected(away: Duration, at moment: Instant) -> EncodedEvent {
        EncodedEvent("reconnected", at: moment) { $0.field("away_ms", away.nanoseconds / 1_000_000) }
    }

    /// An event of a type that this version does not know, as it was received.
    package static func other(_ type: String, _ json: JSONValue, at moment: Instant) -> EncodedEvent {
        let own: Set = ["v", "type", "seq", "time", "boottime_ns"]
        let members = (json.object ?? [:]).filter { !own.contains($0.key) }.sorted { $0.key < $1.key }
        return EncodedEvent(type, at: moment) { json in
            for (name, value) in members {
                json.key(named: name)
                json.value(value)
            }
        }
    }

    /// Lines were not written because the reader was too slow; a snapshot follows.
    ///
    /// - Parameter count: The number of those lines.
    package static func dropped(count: UInt64, at moment: Instant) -> EncodedEvent {
        EncodedEvent("dropped", at: moment) { $0.field("count", count.wide) }
    }
}
