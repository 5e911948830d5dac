package import ReachCore

/// An event of a host, as a line of an ``EventChunk`` has it. Readers recognize it by (host, log, n).
package struct FleetEvent: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// The state of a target, which differs from the previous in what `changed` lists.
        case status(HostStatus, previous: ReachabilityStatus?, cause: Cause?, changed: [ReachabilityChange.Aspect])
        /// The machine slept.
        case wake(slept: Duration)
        /// A probe: the event's word and the probe's name, state, target and latest reason.
        case probe(word: String, name: String, state: String, target: String?, reason: String?)
        /// The request queue: the event's word, and the request and the reason, if there are any.
        case queue(word: String, request: Int64?, reason: String?)
        /// Events that the host deleted before it could send them, or that are too large.
        case gap(first: UInt64, last: UInt64, count: UInt64, reason: String?)
        /// The host was not with the server.
        case absence(HostAbsence)
        /// Another type.
        case other
    }

    package let log: String
    package let n: UInt64
    package let type: String
    /// By the host's clocks; ``EventChunk/time(of:storedAt:)`` corrects it.
    package let moment: Instant
    package let kind: Kind
    private let line: [UInt8]

    /// The line, with bounded texts and without control characters. It is read for this.
    package var json: JSONValue { (try? JSONReader.read(line)).map(WireReader.bounded) ?? .null }

    /// The most bytes of a line.
    package static let sizeLimit = 64 << 10

    package init(_ line: [UInt8]) throws(WireError) {
        guard line.count <= Self.sizeLimit else { throw .tooLarge(limit: Self.sizeLimit) }
        let document: JSONOutline
        do throws(JSONError) {
            document = try JSONReader.outline(line)
        } catch {
            throw .notAnObject(error.description)
        }
        guard let reader = try? WireReader(document) else { throw .notAnObject("it is a value of another type") }
        guard try reader.number("v", Int64.self) == 1 else { throw .unknownVersion }
        let log = try reader.requiredText("log")
        guard FleetNames.hostIsValid(log) else { throw reader.fault("log") }
        let type = try reader.requiredText("type")
        // An absence takes no number. It stands behind the event whose number it has; behind none it is 0.
        guard let number: UInt64 = try reader.number("n"), number > 0 || type == "absence" else {
            throw reader.fault("n")
        }
        (self.log, n, self.type, moment) = (log, number, type, try reader.instant())
        kind = try Kind(type, reader)
        self.line = line
    }
}

extension FleetEvent.Kind {
    fileprivate init(_ type: String, _ reader: WireReader) throws(WireError) {
        switch type {
        case "snapshot", "change":
            guard let status = try reader.object("status") else { throw reader.fault("status") }
            self = .status(
                try HostStatus(status), previous: try reader.object("previous")?.word("status"),
                cause: try reader.word("cause"),
                changed: try reader.texts("changed", most: 16).compactMap(ReachabilityChange.Aspect.init))
        case "wake": self = .wake(slept: .milliseconds(try reader.number("slept_ms", Int64.self) ?? 0))
        case "probe":
            guard let probe = try reader.object("probe") else { throw reader.fault("probe") }
            self = .probe(
                word: try reader.requiredText("event"), name: try probe.requiredText("probe"),
                state: try probe.text("state") ?? "", target: try probe.text("target"),
                reason: try probe.object("last")?.text("reason"))
        case "queue":
            self = .queue(
                word: try reader.requiredText("event"), request: try reader.number("id"),
                reason: try reader.text("reason"))
        case "gap":
            guard let first: UInt64 = try reader.number("first"), let last: UInt64 = try reader.number("last"),
                first > 0, last >= first
            else { throw reader.fault("first") }
            self = .gap(
                first: first, last: last, count: try reader.number("count") ?? last - first + 1,
                reason: try reader.text("reason"))
        case "absence": self = .absence(try HostAbsence(reader))
        default: self = .other
        }
    }
}
