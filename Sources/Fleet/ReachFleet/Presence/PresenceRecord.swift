package import ReachCore

/// What tells about the past presence of one host, as it comes: connections, its own words, absences that it reports.
package struct PresenceRecord: Sendable {
    /// One connection. Its two reports belong together by its start.
    struct Connection: Hashable, Sendable {
        let start: Timestamp
        /// `nil` while nobody has reported its end.
        var end: Timestamp?
        var ending = Ending.lost
        /// Whether its end shows that the host was there until then.
        var endShowsHost = false
        /// The name of the server that reported it.
        var server: String?
        /// Whether its begin was reported, and not its end alone.
        var isBeginKnown = true

        enum Ending: UInt8, Hashable, Sendable {
            /// The host closed it.
            case closed
            /// The server gave it up, since nothing came any more.
            case lost
            /// The server itself ended.
            case shutdown
        }
    }

    /// What the host says of the Internet, from a time on.
    struct OwnWord: Hashable, Sendable {
        let time: Timestamp
        let state: State
        let reason: Reason?
        /// What it was before; `nil` if the host does not say.
        let previous: State?

        enum State: UInt8, Hashable, Sendable {
            case here, limited, down
        }
    }

    struct Report: Hashable, Sendable {
        let absence: HostAbsence
        let end: Timestamp
    }

    /// The newest that count of each: a host that flaps each minute for three days has as many. A host that writes more
    /// must not use up a reader's memory.
    package static let limit = 4_320
    /// So far back the other report of a connection is looked for.
    private static let openLimit = 64

    private(set) var connections: [Connection] = []
    private(set) var words: [OwnWord] = []
    private(set) var reports: [Report] = []

    var count: Int { connections.count + words.count + reports.count }

    mutating func apply(_ advisory: ConnectionAdvisory) {
        let ending = RosterHost.Connection.ending(advisory.reason)
        let place = connections.suffix(Self.openLimit).lastIndex { $0.start == advisory.start }
        if let place {
            guard !advisory.isUp else { return }
            (connections[place].end, connections[place].ending) = (advisory.time, ending)
            connections[place].endShowsHost = RosterHost.Connection.endShowsHost(advisory.reason)
            return
        }
        connections.append(
            Connection(
                start: advisory.start, end: advisory.isUp ? nil : advisory.time, ending: ending,
                endShowsHost: RosterHost.Connection.endShowsHost(advisory.reason), server: advisory.server,
                isBeginKnown: advisory.isUp))
        guard connections.count >= 2 * Self.limit else { return }
        connections = Self.newest(connections) { $0.start }
    }

    mutating func apply(
        _ status: ReachabilityStatus, _ connectivity: Connectivity, _ reason: Reason?, previous: ReachabilityStatus?,
        at time: Timestamp
    ) {
        guard let state = OwnWord.State(status, connectivity) else { return }
        words.append(
            OwnWord(
                time: time, state: state, reason: reason,
                previous: previous.flatMap { OwnWord.State($0, .unknown) }))
        guard words.count >= 2 * Self.limit else { return }
        words = Self.newest(words) { $0.time }
    }

    mutating func apply(_ absence: HostAbsence, until end: Timestamp) {
        reports.append(Report(absence: absence, end: end))
        guard reports.count >= 2 * Self.limit else { return }
        reports = Self.newest(reports) { $0.end }
    }

    private static func newest<Element>(_ list: [Element], _ time: (Element) -> Timestamp) -> [Element] {
        Array(list.sorted { time($0) < time($1) }.suffix(limit))
    }

    /// Drops what says nothing about the time from `start` on.
    mutating func forget(before start: Timestamp) {
        let ups = connections.map(\.start).filter { $0 < start }.max()
        connections.removeAll { connection in
            if let end = connection.end { return end < start }
            return connection.start < ups ?? connection.start
        }
        reports.removeAll { $0.end < start }
        // The last word before is the one that holds then.
        let last = words.filter { $0.time < start }.max { $0.time < $1.time }
        words.removeAll { $0.time < start && $0 != last }
    }
}

extension PresenceRecord.OwnWord.State {
    /// - Returns: `nil` for what says nothing, such as of a daemon that has just started.
    init?(_ status: ReachabilityStatus, _ connectivity: Connectivity) {
        switch (status, connectivity) {
        case (.unknown, _): return nil
        case (.notReachable, _): self = .down
        case (.reachable, .portal), (.reachable, .limited): self = .limited
        case (.reachable, _): self = .here
        }
    }
}

/// From when to when servers ran, as far as their reports show: a server has another name each time that it starts.
package struct ServerRuns: Sendable {
    /// The most that are kept. A cluster that restarts daily for a year has a thousand.
    private static let limit = 4_096
    var runs: [String: ClosedRange<Timestamp>] = [:]

    package init() {}

    package mutating func note(_ server: String, at time: Timestamp) {
        guard let run = runs[server] else {
            if runs.count < Self.limit { runs[server] = time...time }
            return
        }
        if !run.contains(time) { runs[server] = min(run.lowerBound, time)...max(run.upperBound, time) }
    }

    /// The last report before a time of servers that reported nothing later.
    func last(before time: Timestamp) -> Timestamp? {
        runs.values.lazy.map(\.upperBound).filter { $0 < time }.max()
    }

    /// The earliest report that is known.
    var first: Timestamp? { runs.values.lazy.map(\.lowerBound).min() }

    /// The last report of a server.
    func end(of server: String?) -> Timestamp? { server.flatMap { runs[$0]?.upperBound } }

    /// Whether one server was there from one time to the other.
    func cover(_ start: Timestamp, _ end: Timestamp, _ engine: EngineFacts) -> Bool {
        if let started = engine.started, started <= start { return true }
        return runs.values.contains { $0.contains(start) && $0.contains(end) }
    }
}
