import ReachCore
import ReachFleet
import ReachFleetLink

/// Compares what the engine holds with what happened. Each difference is a sentence.
struct Oracle {
    private(set) var faults: [String] = []
    private(set) var events = 0
    private(set) var chunks = 0
    let jetStream: JetStream

    init(_ jetStream: JetStream) { self.jetStream = jetStream }

    /// Each host's log is in the stream from 1 to its end, each line as the host wrote it, in order and once.
    ///
    /// Of two machines with one identity both write lines of a log that was copied; what one of them could not send
    /// before it began another log stays with it.
    mutating func checkStream(_ hosts: [SimulatedHost]) throws(NATSError) {
        let machines = Dictionary(grouping: hosts, by: \.id)
        var reading = StreamOrder()
        try jetStream.read(FleetNames.events, filter: FleetNames.eventSubject(of: "*"), from: .first) { message in
            guard let (host, chunk) = reading.apply(message) else { return }
            let own = machines[host] ?? []
            for (index, line) in chunk.lines.enumerated() {
                let n = chunk.first + UInt64(index)
                if !own.contains(where: { $0.line(chunk.log, n) == line }) {
                    reading.faults.append("\(host): event \(n) of \(chunk.log) never happened so")
                }
            }
        }
        for (id, own) in machines {
            for machine in own where !machine.isCut && machine.word == .connected {
                for (log, events) in machine.logs {
                    let stored = reading.last[id]?[log] ?? 0
                    let isShared = own.count > 1 && (log != machine.log || own.filter { $0.log == log }.count > 1)
                    if !isShared, stored != UInt64(events.count) {
                        reading.faults.append("\(id): \(stored) of \(events.count) events of \(log) are there")
                    }
                }
            }
        }
        faults += reading.faults
        (chunks, events) = (reading.chunks, reading.events)
    }

    /// The state of each host is that of its last event.
    mutating func checkStates(_ hosts: [SimulatedHost]) throws(NATSError) {
        var states: [String: HostState] = [:]
        try jetStream.entries(of: FleetNames.state) { entry in
            if let value = entry.value, let state = try? HostState(value) { states[entry.key] = state }
        }
        for (id, own) in Dictionary(grouping: hosts, by: \.id) {
            let words = own.filter { !$0.isCut && $0.word == .connected }.map(\.state.status?.status)
            if !words.isEmpty, !words.contains(states[id]?.status?.status) {
                faults.append("\(id): the engine has another state than the host")
            }
        }
    }

    /// Hosts are silent if and only if they are away.
    mutating func checkSilence(_ away: Set<String>, _ engine: EngineFacts) throws(NATSError) {
        let roster = try roster()
        let silent = Set(roster.hosts.filter { $0.presence(engine).word == .silent }.map(\.id))
        for id in silent.subtracting(away).sorted() { faults.append("\(id) is silent although it is here") }
        for id in away.subtracting(silent).sorted() {
            faults.append("\(id) is \(roster[id]?.presence(engine).word.rawValue ?? "missing") although it is away")
        }
    }

    mutating func note(_ found: [String]) { faults += found }

    func roster() throws(NATSError) -> Roster {
        var roster = Roster()
        try jetStream.entries(of: FleetNames.state) { entry in
            roster.apply(state: entry.value, of: entry.key, storedAt: entry.time)
        }
        try jetStream.entries(of: FleetNames.lease) { entry in
            roster.apply(lease: entry.value, of: entry.key, storedAt: entry.time)
        }
        return roster
    }

    /// The outages that readers find.
    func outages(since start: Timestamp, _ engine: EngineFacts) throws(NATSError) -> [Outage] {
        var history = FleetHistory(since: start)
        var timeline = FleetTimeline()
        try jetStream.read(FleetNames.events, filter: FleetNames.eventSubject(of: "*"), from: .first) { message in
            let events = timeline.apply(
                subject: message.subject, headers: message.headers, payload: message.payload, storedAt: message.time,
                sequence: message.sequence)
            for event in events { history.apply(event) }
        }
        return FleetPage(try roster(), history, engine).outages
    }
}

/// What a reader of the stream may expect of each log: its numbers without hole and repeat.
struct StreamOrder: Sendable {
    var faults: [String] = []
    /// The last number of each log of each host.
    private(set) var last: [String: [String: UInt64]] = [:]
    private(set) var chunks = 0
    private(set) var events = 0
    private static let prefix = FleetNames.eventSubject(of: "")

    /// - Returns: Whose chunk it is; `nil` for a message without events.
    mutating func apply(_ message: StoredMessage) -> (host: String, chunk: EventChunk)? {
        let host = String(message.subject.dropFirst(Self.prefix.count))
        guard let chunk = try? EventChunk(headers: message.headers, payload: message.payload) else {
            faults.append("\(host): message \(message.sequence) is no chunk")
            return nil
        }
        chunks += 1
        guard chunk.mark == nil else { return nil }
        let known = last[host]?[chunk.log] ?? 0
        if chunk.first != known + 1 || chunk.lines.count != Int(chunk.last - chunk.first + 1) {
            faults.append("\(host): after event \(known) of \(chunk.log) follow \(chunk.first) to \(chunk.last)")
        }
        events += chunk.lines.count
        last[host, default: [:]][chunk.log] = chunk.last
        return (host, chunk)
    }
}
