package import ReachCore

/// An event as a JSON object, encoded once for any number of readers. Each reader's stream inserts its own sequence
/// number.
///
/// Changes of several targets that differ in nothing but the target share their bytes (``ChangeEncoder``).
package struct EncodedEvent: Sendable {
    /// The bytes without the number, and without the target of a change.
    final class Template: Sendable {
        let bytes: [UInt8]
        /// The offset at which the number is inserted.
        let numberGap: Int
        /// The offset at which the target is inserted; the end if the bytes have it, or need none.
        let targetGap: Int

        init(_ bytes: [UInt8], numberGap: Int, targetGap: Int) {
            self.bytes = bytes
            self.numberGap = numberGap
            self.targetGap = targetGap
        }
    }

    let template: Template
    /// The target as a JSON string; empty if the template has it, or needs none.
    let target: [UInt8]

    /// The length in bytes, without the number.
    package var count: Int { template.bytes.count + target.count }

    /// The bytes that only this event has.
    var ownCount: Int { target.count }

    init(_ type: String, at moment: Instant, _ body: (inout JSONWriter) -> Void) {
        self.init(type, at: moment, target: nil) { json in
            body(&json)
            return nil
        }
    }

    /// - Parameters:
    ///   - target: The target that is left out of what `body` writes.
    ///   - body: Writes the members, and returns where the target is left out.
    private init(
        _ type: String, at moment: Instant, target: QuotedTarget?, _ body: (inout JSONWriter) -> Int?
    ) {
        var json = JSONWriter()
        var (numberGap, targetGap) = (0, nil as Int?)
        json.object { json in
            json.field("v", 1)
            json.field("type", type)
            numberGap = json.gap("seq")
            json.times(moment.wall, moment.boot)
            targetGap = body(&json)
        }
        template = Template(json.bytes, numberGap: numberGap, targetGap: targetGap ?? json.count)
        self.target = target?.json ?? []
    }

    private init(_ template: Template, _ target: [UInt8]) {
        self.template = template
        self.target = target
    }

    /// The event of another target that differs in nothing else.
    func of(_ target: QuotedTarget) -> EncodedEvent { EncodedEvent(template, target.json) }

    /// The object without a number in a stream.
    package var unnumbered: [UInt8] {
        let (bytes, gap, place) = (template.bytes, template.numberGap, template.targetGap)
        // "seq":, and the comma behind the number.
        return Array(bytes[..<(gap - 6)] + bytes[(gap + 1)..<place] + target + bytes[place...])
    }

    /// - Parameter other: The target to write instead of the event's own, for a reader who named it differently.
    package func append(to output: inout [UInt8], numbered number: UInt64, as other: QuotedTarget? = nil) {
        let target = template.targetGap < template.bytes.count ? other?.json ?? target : target
        template.bytes.withUnsafeBufferPointer { bytes in
            let (gap, place) = (template.numberGap, template.targetGap)
            output.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[..<gap]))
            output.append(contentsOf: String(number).utf8)
            output.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[gap..<place]))
            output.append(contentsOf: target)
            output.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[place...]))
        }
    }
}

extension EncodedEvent {
    /// The state of a target without a previous one: the first line, and the one after lost lines.
    package static func snapshot(
        _ state: ReachabilityState, source: StatusSource, isInitial: Bool, cause: Cause, at moment: Instant
    ) -> EncodedEvent {
        EncodedEvent("snapshot", at: moment, target: QuotedTarget(state)) { json in
            json.field("initial", isInitial)
            json.field("cause", cause.rawValue)
            json.field("changed", [])
            json.field("previous", String?.none)
            json.key("status")
            return json.statusWithGap(state, source: source, at: moment.wall, moment.boot)
        }
    }

    /// A change. The initial state is written as a snapshot.
    ///
    /// - Parameter target: The target of the change, if it was quoted before.
    package static func change(
        _ change: ReachabilityChange, source: StatusSource, of target: QuotedTarget? = nil
    ) -> EncodedEvent {
        let moment = Instant(wall: change.time, boot: change.bootTime)
        guard let previous = change.previous else {
            return snapshot(change.state, source: source, isInitial: true, cause: change.cause, at: moment)
        }
        let target = target ?? QuotedTarget(change.state)
        return EncodedEvent("change", at: moment, target: target) { json in
            json.field("initial", false)
            json.field("cause", change.cause.rawValue)
            json.field("changed", change.aspects.map(\.rawValue))
            json.field("previous", object: { $0.summary(of: previous) })
            json.key("status")
            return json.statusWithGap(change.state, source: source, at: change.time, change.bootTime)
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
        let common: Set = ["v", "type", "seq", "time", "boottime_ns"]
        let members = (json.object ?? [:]).filter { !common.contains($0.key) }.sorted { $0.key < $1.key }
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

/// A target as a JSON string, followed by its name if it has one. The events of a topic share its bytes, which would
/// take as much memory as the rest of an event that waits.
package struct QuotedTarget: Sendable {
    let target: Target
    let name: String?
    let json: [UInt8]

    init(_ state: ReachabilityState) { self.init(state.target, name: state.name) }

    /// - Parameter name: Its name in the configuration.
    init(_ target: Target, name: String? = nil) {
        self.target = target
        self.name = name
        var json = JSONWriter(capacity: 64)
        json.value(target.description)
        if let name { json.field("name", name as String?) }
        self.json = json.bytes
    }
}

extension JSONWriter {
    /// Writes an array with an object for each element.
    package mutating func objects<Elements: Sequence>(
        _ name: StaticString, _ elements: Elements, _ body: (inout JSONWriter, Elements.Element) -> Void
    ) {
        field(name, array: { json in for element in elements { json.object { body(&$0, element) } } })
    }

    package mutating func field(_ name: StaticString, share: Double?) {
        key(name)
        if let share { value(share) } else { value(nil) }
    }
}
