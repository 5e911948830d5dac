package import ReachCore

/// A message of a host's log: events, oldest first, as lines of JSON, with headers.
///
/// A chunk covers all numbers from `first` to `last`. A number without a line is an event that the host keeps to
/// itself, by its configuration. So each chunk of a log begins with the number after the previous chunk's last; a `gap`
/// line says which events are lost.
package struct EventChunk: Hashable, Sendable {
    /// The most bytes of a payload that readers accept; also the stream's limit of a message.
    package static let sizeLimit = 128 << 10
    /// The most lines.
    package static let lineLimit = 4096

    /// The journal's log: 1 to 64 characters as in a host's identity.
    package var log: String
    package var first: UInt64
    package var last: UInt64
    /// A hash of the boot identifier of the machine when it sent this.
    package var boot: String
    /// A hash of the boot identifier of the machine when the events happened; `nil` if that is not known.
    package var eventBoot: String?
    package var sent: Instant
    /// The stream sequence of the host's last chunk, in a chunk that takes no numbers. It has the line of an absence
    /// (``HostAbsence``), or none: earlier agents asked so whether the stream dropped old events.
    package var mark: UInt64?
    /// The lines, without newlines.
    package var lines: [[UInt8]]

    package init(
        log: String, first: UInt64, last: UInt64, boot: String, eventBoot: String? = nil, sent: Instant,
        mark: UInt64? = nil, lines: [[UInt8]]
    ) {
        self.log = log
        self.first = first
        self.last = last
        self.boot = boot
        self.eventBoot = eventBoot
        self.sent = sent
        self.mark = mark
        self.lines = lines
    }

    package var payload: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(lines.reduce(0) { $0 + $1.count + 1 })
        for line in lines {
            bytes += line
            bytes.append(UInt8(ascii: "\n"))
        }
        return bytes
    }

    /// An absence that the host reports, behind the last event that the engine has.
    ///
    /// - Parameter tail: The sequence of the host's last message in the stream.
    package init(_ absence: HostAbsence, log: String, after n: UInt64, tail: UInt64, boot: String, at moment: Instant) {
        self.init(
            log: log, first: n + 1, last: n, boot: boot, eventBoot: boot, sent: moment, mark: tail,
            lines: [absence.line(log: log, after: n, at: moment)])
    }

    // MARK: - Headers

    /// The header by which the server refuses a message unless the last of its subject has this sequence.
    package static let expectation = "Nats-Expected-Last-Subject-Sequence"

    /// - Parameter tail: The sequence of the host's last message in the stream; 0 for none.
    package func headers(expecting tail: UInt64) -> [HeaderField] {
        [HeaderField(Self.expectation, String(tail))] + ownHeaders
    }

    private var ownHeaders: [HeaderField] {
        var fields = [
            HeaderField("Reach-Log", log), HeaderField("Reach-First", String(first)),
            HeaderField("Reach-Last", String(last)), HeaderField("Reach-Boot", boot),
            HeaderField("Reach-Sent", sent.wall.description),
            HeaderField("Reach-Sent-Boottime", String(sent.boot.nanoseconds)),
        ]
        if let eventBoot { fields.append(HeaderField("Reach-Event-Boot", eventBoot)) }
        if let mark { fields.append(HeaderField("Reach-Mark", String(mark))) }
        return fields
    }

    /// Reads a message as the engine returned it. The lines are not read yet; see ``events()``.
    package init(headers: [HeaderField], payload: [UInt8]) throws(WireError) {
        guard payload.count <= Self.sizeLimit else { throw .tooLarge(limit: Self.sizeLimit) }
        let fields = ChunkHeaders(headers)
        self.init(
            log: try fields.identity("Reach-Log"), first: try fields.number("Reach-First"),
            last: try fields.number("Reach-Last"), boot: try fields.identity("Reach-Boot"),
            sent: try fields.sent(), lines: [])
        eventBoot = try fields.optionalIdentity("Reach-Event-Boot")
        mark = try fields.optionalNumber("Reach-Mark")
        guard first > 0, mark == nil ? last >= first : last == first - 1 else { throw .badHeader("Reach-Last") }
        lines = payload.split(separator: UInt8(ascii: "\n")).map(Array.init)
        guard lines.count <= Self.lineLimit else { throw .tooLarge(limit: Self.sizeLimit) }
    }
}

extension EventChunk {
    /// The chunk's events, and how many of its lines are not events of this chunk.
    package func events() -> (events: [FleetEvent], damaged: Int) {
        var events: [FleetEvent] = []
        var damaged = 0
        for line in lines {
            guard let event = try? FleetEvent(line), event.log == log, takes(event),
                events.last.map({ $0.n < event.n }) ?? true
            else {
                damaged += 1
                continue
            }
            events.append(event)
        }
        return (events, damaged)
    }

    /// Whether the event's number is of this chunk. An absence has a chunk of its own, which takes no number.
    private func takes(_ event: FleetEvent) -> Bool {
        if case .absence = event.kind { return mark != nil && event.n == last }
        return first <= event.n && event.n <= last
    }

    /// The last event of the log that this chunk names, its own or the one before an absence.
    package var lastEvent: HostAbsence.Event? {
        guard let event = events().events.last else { return nil }
        if case .absence(let absence) = event.kind { return absence.after }
        return .init(n: event.n, moment: event.moment)
    }

    /// When an event of this chunk happened, and whether only the host's clock says so.
    ///
    /// The time since the machine started is exact whatever its clock shows. So the time at which the engine stored the
    /// chunk, less the event's age when it was sent, is right but for the time on the way.
    package func time(of event: FleetEvent, storedAt stored: Timestamp) -> (time: Timestamp, isHostClock: Bool) {
        let age = sent.boot.nanoseconds - event.moment.boot.nanoseconds
        guard eventBoot == boot, age >= 0, stored.nanosecondsSince1970 > age else { return (event.moment.wall, true) }
        return (Timestamp(nanosecondsSince1970: stored.nanosecondsSince1970 - age), false)
    }
}

/// The headers of a message, of which a host writes what it likes.
private struct ChunkHeaders {
    private let fields: [HeaderField]

    init(_ fields: [HeaderField]) { self.fields = fields }

    private func value(_ name: String) throws(WireError) -> String? {
        let values = fields.filter { $0.isNamed(name) }
        guard values.count < 2, values.allSatisfy({ $0.value.utf8.count <= 64 }) else { throw .badHeader(name) }
        return values.first?.value
    }

    func optionalIdentity(_ name: String) throws(WireError) -> String? {
        guard let text = try value(name) else { return nil }
        guard FleetNames.hostIsValid(text) else { throw .badHeader(name) }
        return text
    }

    func identity(_ name: String) throws(WireError) -> String {
        guard let text = try optionalIdentity(name) else { throw .badHeader(name) }
        return text
    }

    func optionalNumber(_ name: String) throws(WireError) -> UInt64? {
        guard let text = try value(name) else { return nil }
        // As many as JSON's integers hold, since the lines have the same numbers.
        guard let number = Int64(text), number >= 0 else { throw .badHeader(name) }
        return UInt64(number)
    }

    func number(_ name: String) throws(WireError) -> UInt64 {
        guard let number = try optionalNumber(name) else { throw .badHeader(name) }
        return number
    }

    func sent() throws(WireError) -> Instant {
        guard let time = try value("Reach-Sent").flatMap(Timestamp.init) else { throw .badHeader("Reach-Sent") }
        let boot = try number("Reach-Sent-Boottime")
        return Instant(wall: time, boot: BootTime(nanoseconds: Int64(boot)))
    }
}
