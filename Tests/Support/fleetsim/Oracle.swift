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
    mutating func checkStream(_ hosts: [SimulatedHost]) throws(NATSError) {
        let prefix = FleetNames.eventSubject(of: "")
        var stored: [String: [String: [[UInt8]]]] = [:]
        var found: [String] = []
        var (chunks, events) = (0, 0)
        try jetStream.read(FleetNames.events, filter: FleetNames.eventSubject(of: "*"), from: .first) { message in
            let host = String(message.subject.dropFirst(prefix.count))
            guard let chunk = try? EventChunk(headers: message.headers, payload: message.payload) else {
                return found.append("\(host): message \(message.sequence) is no chunk")
            }
            chunks += 1
            guard chunk.mark == nil else { return }
            let last = stored[host]?[chunk.log]?.count ?? 0
            if chunk.first != UInt64(last + 1) || chunk.lines.count != Int(chunk.last - chunk.first + 1) {
                found.append("\(host): after event \(last) of \(chunk.log) follow \(chunk.first) to \(chunk.last)")
            }
            events += chunk.lines.count
            stored[host, default: [:]][chunk.log, default: []] += chunk.lines
        }
        for host in hosts where !host.isCut {
            for (log, lines) in host.truth where host.word != .conflict {
                let there = stored[host.id]?[log] ?? []
                // A clone begins another log when it finds out; what it had said in the first one is the other machine's.
                if host.isClone, there.isEmpty { continue }
                if there != lines {
                    found.append("\(host.id): \(there.count) of \(lines.count) events of \(log) are right")
                }
            }
        }
        faults += found
        (self.chunks, self.events) = (chunks, events)
    }

    /// The state of each host is that of its last event.
    mutating func checkStates(_ hosts: [SimulatedHost]) throws(NATSError) {
        var states: [String: HostState] = [:]
        try jetStream.entries(of: FleetNames.state) { entry in
            if let value = entry.value, let state = try? HostState(value) { states[entry.key] = state }
        }
        for host in hosts where !host.isCut && !host.isClone && host.word == .connected {
            if states[host.id]?.status?.status != host.state.status?.status {
                faults.append("\(host.id): the engine has another state than the host")
            }
        }
    }

    /// Hosts are silent if and only if they are cut.
    mutating func checkSilence(_ cut: Set<String>, _ engine: EngineFacts) throws(NATSError) {
        let roster = try roster()
        let silent = Set(roster.hosts.filter { $0.presence(engine).word == .silent }.map(\.id))
        for id in silent.subtracting(cut).sorted() { faults.append("\(id) is silent although it is here") }
        for id in cut.subtracting(silent).sorted() {
            faults.append("\(id) is \(roster[id]?.presence(engine).word.rawValue ?? "missing") although it is cut")
        }
    }

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
