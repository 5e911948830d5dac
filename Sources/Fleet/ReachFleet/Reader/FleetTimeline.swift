package import ReachCore

/// An event of a host at its corrected time.
package struct TimelineEvent: Hashable, Sendable {
    package let host: String
    package let event: FleetEvent
    /// By the engine's clock, as well as that is known.
    package let time: Timestamp
    /// What the host's clock showed, if that differs by more than 2 s.
    package let hostTime: Timestamp?
    /// Whether only the host's clock gives the time.
    package let isHostClock: Bool
    /// When the engine stored it, and where.
    package let stored: Timestamp
    package let sequence: UInt64
}

/// Turns the messages of ``FleetNames/events`` into events, each once: by host, log and number.
///
/// A host's log is in order, so the last number of each log is enough to recognize what came before. It remembers the
/// latest logs of a host only: a host makes new ones seldom, and one that makes many must not fill the reader's memory.
package struct FleetTimeline: Sendable {
    private static let logsOfHost = 4

    private struct Log {
        let name: String
        var last: UInt64
    }

    private var logs: [String: [Log]] = [:]
    /// The last absence of each host, which has no number of its own.
    private var absences: [String: Instant] = [:]
    /// Messages and lines that could not be read.
    package private(set) var damaged = 0

    package init() {}

    /// - Parameters:
    ///   - subject: It says whose events these are.
    ///   - time: When the engine stored the message.
    /// - Returns: The events that have not come before, oldest first.
    package mutating func apply(
        subject: String, headers: [HeaderField], payload: [UInt8], storedAt time: Timestamp, sequence: UInt64
    ) -> [TimelineEvent] {
        guard let (host, chunk) = EventChunk.read(subject, headers, payload) else {
            damaged += 1
            return []
        }
        let (events, unreadable) = chunk.events()
        damaged += unreadable
        return events.compactMap { event in
            let (corrected, isHostClock) = chunk.time(of: event, storedAt: time)
            guard isNew(PastEvent(event, (corrected, isHostClock)), of: host) else { return nil }
            let reported = event.moment.wall
            return TimelineEvent(
                host: host, event: event, time: corrected,
                hostTime: RosterHost.isTolerable(reported.duration(to: corrected)) ? nil : reported,
                isHostClock: isHostClock,
                stored: time, sequence: sequence)
        }
    }

    /// The same of what is kept of a message.
    mutating func apply(_ message: HostEvents) -> [PastEvent] {
        damaged += message.damaged
        return message.events.filter { isNew($0, of: message.host) }
    }

    private mutating func isNew(_ event: PastEvent, of host: String) -> Bool {
        if case .absence(_, let moment) = event.kind {
            return absences.updateValue(moment, forKey: host) != moment
        }
        return Self.isNew(event, &logs[host, default: []])
    }

    private static func isNew(_ event: PastEvent, _ seen: inout [Log]) -> Bool {
        if let index = seen.firstIndex(where: { $0.name == event.log }) {
            guard event.n > seen[index].last else { return false }
            seen[index].last = event.n
            return true
        }
        seen.append(Log(name: event.log, last: event.n))
        if seen.count > logsOfHost { seen.removeFirst() }
        return true
    }
}

extension EventChunk {
    /// A message of the stream ``FleetNames/events``, and whose it is.
    ///
    /// - Returns: `nil` if it cannot be read.
    static func read(_ subject: String, _ headers: [HeaderField], _ payload: [UInt8]) -> (String, EventChunk)? {
        guard let host = subject.after(FleetNames.eventSubject(of: "")).map(String.init), FleetNames.hostIsValid(host),
            let chunk = try? EventChunk(headers: headers, payload: payload)
        else { return nil }
        return (host, chunk)
    }
}

extension HostAbsence {
    /// `was not with the server for 4 min, since its last word at ...; the machine has started since`.
    var sentence: String {
        var words = hadLeft ? "was away after its goodbye" : "was not with the server"
        if let away { words += " for \(DurationText.describe(away))" }
        if let from { words += ", since \(from)" }
        if hasRestarted { words += "; the machine has started since" }
        return words + (isKnown ? "" : "; the server may have been away, too")
    }
}

extension FleetEvent {
    /// What happened, in words for people.
    package var sentence: String {
        switch kind {
        case .status(let status, let previous, let cause, _): Self.sentence(status, previous, cause)
        case .wake(let slept): "woke up after \(DurationText.describe(slept))"
        case .probe(_, let name, let state, _, let reason):
            "probe \(name) is \(state)" + (reason.map { " (\($0))" } ?? "")
        case .queue(let word, let request, let reason):
            "queue: " + (request.map { "request \($0) " } ?? "") + word + (reason.map { " (\($0))" } ?? "")
        case .gap(_, _, let count, let reason):
            "\(count) events are lost" + (reason.map { " (\($0))" } ?? "")
        case .absence(let absence): absence.sentence
        case .other: type
        }
    }

    private static func sentence(_ status: HostStatus, _ previous: ReachabilityStatus?, _ cause: Cause?) -> String {
        var words = "\(status.target) \(word(status.status))"
        if let linkClass = status.linkClass { words += " over \(linkClass.rawValue)" }
        if let reason = status.reason { words += " (\(reason.rawValue))" }
        if status.connectivity != .unknown, status.connectivity != .full {
            words += ", \(status.connectivity.rawValue)"
        }
        if let previous, previous != status.status { words += "; was \(word(previous))" }
        if let cause { words += "; cause: \(cause.rawValue)" }
        return words
    }

    private static func word(_ status: ReachabilityStatus) -> String {
        switch status {
        case .reachable: "reachable"
        case .notReachable: "not reachable"
        case .unknown: "unknown"
        }
    }
}
