package import ReachCore

/// One event as its JSON object, written once for any number of readers: each puts the number of its own stream in.
package struct EncodedEvent: Sendable {
    private let bytes: [UInt8]
    /// Where the number goes.
    private let gap: Int

    /// The room it takes, the number not counted.
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

    /// The same as part of a larger document.
    func enclosed(in before: StaticString, _ after: StaticString) -> EncodedEvent {
        var whole: [UInt8] = []
        whole.reserveCapacity(before.utf8CodeUnitCount + bytes.count + after.utf8CodeUnitCount)
        before.withUTF8Buffer { whole.append(contentsOf: $0) }
        let gap = whole.count + gap
        whole += bytes
        after.withUTF8Buffer { whole.append(contentsOf: $0) }
        return EncodedEvent(whole, gap: gap)
    }

    package func append(to output: inout [UInt8], numbered number: UInt64) {
        output.append(contentsOf: bytes[..<gap])
        output += String(number).utf8
        output.append(contentsOf: bytes[gap...])
    }
}

extension EncodedEvent {
    /// The state of a target, with nothing before it: the first line, and the one after lost lines.
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

    /// A difference; or the initial state, which is a snapshot.
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

    /// Notices were lost and everything was read anew; differences follow.
    package static func resync(reason: String, at moment: Instant) -> EncodedEvent {
        EncodedEvent("resync", at: moment) { $0.field("reason", reason) }
    }

    /// The machine slept; differences follow.
    package static func wake(slept: Duration, at moment: Instant) -> EncodedEvent {
        EncodedEvent("wake", at: moment) { $0.field("slept_ms", slept.nanoseconds / 1_000_000) }
    }

    /// The daemon went away, and is looked for.
    ///
    /// - Parameter state: What was told last, stale from now on.
    package static func disconnected(
        reason: String, _ state: ReachabilityState, source: StatusSource, at moment: Instant
    ) -> EncodedEvent {
        EncodedEvent("disconnected", at: moment) { json in
            json.field("reason", reason)
            json.key("status")
            json.status(state, source: source, at: moment.wall, moment.boot)
        }
    }

    /// The daemon answers again; a difference follows, if there is one.
    package static func reconnected(away: Duration, at moment: Instant) -> EncodedEvent {
        EncodedEvent("reconnected", at: moment) { $0.field("away_ms", away.nanoseconds / 1_000_000) }
    }

    /// An event of a type that this version does not know, as it came.
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

    /// So many lines were not written, since the reader was too slow; a snapshot follows.
    package static func dropped(count: UInt64, at moment: Instant) -> EncodedEvent {
        EncodedEvent("dropped", at: moment) { $0.field("count", count.wide) }
    }
}
