import ReachCore
import ReachFleet
import ReachTesting

/// A fleet's buckets and streams as a server holds them, filled at random; and what readers make of them, from nothing
/// or with the files of an earlier reading.
struct CopiedFleet {
    private static let hosts = (0..<12).map { "h\($0)" }
    private var random: SeededGenerator
    private(set) var seconds = 0.0
    private var list = SimulatedStream<ListedHost>(isBucket: true)
    private var states = SimulatedStream<ReportedState>(isBucket: true)
    private var events = SimulatedStream<HostEvents>()
    private var connections = SimulatedStream<ReportedConnection>()
    private var leases: [String: (value: [UInt8], stored: Timestamp)] = [:]
    private var keys: [String: String] = [:]
    private var open: [String: Timestamp] = [:]
    private var n: [String: UInt64] = [:]
    /// A backup of which as many messages are deleted as of what was read is not told apart.
    private var isRestored = false

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        for host in Self.hosts.prefix(8) { enlist(host, key: Self.key("K", host)) }
    }

    /// A public key of a user, as lists of hosts have it.
    private static func key(_ kind: String, _ host: String) -> String {
        NKeyText.userPublic(Array((Array((kind + host).utf8) + [UInt8](repeating: 0, count: 32)).prefix(32)))
    }

    // MARK: - The fleet

    mutating func step() {
        seconds += Double(Int.random(in: 1...300, using: &random))
        let host = random.pick(Self.hosts)
        switch Int.random(in: 0..<12, using: &random) {
        case 0: enlist(host, key: Self.key(random.oneIn(4) ? "L" : "K", host))
        case 1, 2: report(host)
        case 3, 4, 5: renew(host)
        case 6, 7: connect(host)
        case 8: say(host, isAbsence: true)
        default: say(host, isAbsence: false)
        }
        if random.oneIn(40) { disturb() }
    }

    /// What a server or an operator does to streams.
    private mutating func disturb() {
        let place = Int.random(in: 0..<20, using: &random)
        switch Int.random(in: 0..<8, using: &random) {
        case 0: events.expire(before: at(seconds - 5000))
        case 1: connections.expire(before: at(seconds - 5000))
        case 2 where !isRestored: events.delete(place)
        case 3 where !isRestored: connections.delete(place)
        case 4: states.delete(place)
        case 5: list.delete(place)
        case 6: events.makeAgain()
        case 7: states.makeAgain()
        default: break
        }
    }

    /// The streams of an earlier time, as a backup has them, under a fleet that went on.
    mutating func restore(_ earlier: CopiedFleet) {
        (list, states, events, connections) = (earlier.list, earlier.states, earlier.events, earlier.connections)
        isRestored = true
    }

    private mutating func enlist(_ host: String, key: String) {
        keys[host] = key
        var json = JSONWriter()
        json.object { json in
            json.field("key", key)
            if random.oneIn(3) { json.field("other_key", Self.key("M", host)) }
            json.field("groups", ["tills"])
            json.field("labels", object: { $0.field("site", "s\(key.utf8.count % 2)") })
            if random.oneIn(3) { json.field("expires", at(seconds + 1e6)) }
        }
        list.append(ListedHost(host, random.oneIn(20) ? nil : json.bytes), at: at(seconds))
    }

    private mutating func report(_ host: String) {
        var state = HostState(
            host: host, version: random.pick(["1", "2"]),
            written: Instant(wall: at(seconds + random.pick([0, 0, 900])), boot: BootTime(nanoseconds: 5)), boot: "b",
            lease: .seconds(120))
        state.name = random.oneIn(2) ? "till \(host)" : nil
        state.labels = ["isp": random.pick(["x", "y"])]
        state.left = random.oneIn(8) ? at(seconds) : nil
        let isDown = random.oneIn(3)
        state.status = HostStatus(
            isDown ? .notReachable : .reachable, reason: isDown ? random.pick(Reason.allCases) : nil,
            linkClass: isDown ? nil : random.pick(LinkClass.allCases), connectivity: random.pick(Connectivity.allCases),
            since: at(seconds - 60),
            ipv4: HostStatus.Path(
                isDown ? .notReachable : .reachable, gateway: IPAddress("203.0.113.7"), source: IPPrefix("192.0.2.0/24")
            ))
        state.status?.connectivityReason = random.oneIn(4) ? .nameNotResolved : nil
        if isDown {
            state.status?.rootCause = RootCause(random.pick(RootCause.Kind.allCases), interface: "eth0")
        }
        let bytes = random.oneIn(15) ? Array("{}".utf8) : state.bytes
        states.append(ReportedState(host, random.oneIn(15) ? nil : bytes, storedAt: at(seconds)), at: at(seconds))
    }

    private mutating func renew(_ host: String) {
        let lease = HostLease(boot: "b", n: 1, since: open[host] ?? at(seconds), behind: 0)
        leases[host] = (lease.bytes, at(seconds))
    }

    private mutating func connect(_ host: String) {
        let isUp = open[host] == nil || random.oneIn(5)
        let start = isUp ? at(seconds) : open[host] ?? at(seconds)
        open[host] = isUp ? start : nil
        let reason = random.pick(["Client Closed", "Stale Connection", "Server Shutdown"])
        let advisory = """
            {"type":"io.nats.server.advisory.v1.client_\(isUp ? "connect" : "disconnect")","timestamp":"\(at(seconds))",\
            "client":{"start":"\(start)","user":"\(keys[host] ?? "K")","acc":"HOSTS",\
            "host":"198.51.100.\(Int.random(in: 1...3, using: &random))"},\
            "reason":"\(reason)","server":{"id":"s\(Int(seconds) / 20_000)"}}
            """
        connections.append(ReportedConnection(random.oneIn(20) ? [] : Array(advisory.utf8)), at: at(seconds))
    }

    private mutating func say(_ host: String, isAbsence: Bool) {
        let moment = Instant(wall: at(seconds), boot: BootTime(nanoseconds: Int64(seconds * 1e9) + 1_000_000))
        guard !isAbsence else {
            let absence = HostAbsence(
                from: at(max(0, seconds - 400)), away: random.oneIn(2) ? .seconds(350) : nil, isKnown: random.oneIn(2),
                hadLeft: random.oneIn(4), hasRestarted: random.oneIn(2), lease: .seconds(30))
            return store(
                EventChunk(absence, log: "l", after: n[host] ?? 1, tail: 1, boot: "b", at: moment), of: host)
        }
        let number = (n[host] ?? 0) + 1
        n[host] = number
        let isDown = random.oneIn(2)
        var json = JSONWriter()
        json.object { json in
            json.field("v", 1)
            json.field("type", random.oneIn(9) ? "note" : "change")
            json.field("time", moment.wall)
            json.field("boottime_ns", moment.boot.nanoseconds)
            json.field("log", "l")
            json.field("n", Int64(number))
            json.field("previous", object: { $0.field("status", isDown ? "reachable" : "not-reachable") })
            json.key("status")
            HostStatus(
                isDown ? .notReachable : .reachable, reason: isDown ? .noCarrier : nil,
                connectivity: isDown ? .none : .full
            ).write(to: &json)
        }
        let chunk = EventChunk(
            log: "l", first: number, last: number, boot: "b", eventBoot: random.oneIn(9) ? nil : "b", sent: moment,
            lines: [json.bytes])
        // Sometimes the acknowledgement is lost, and the host stores it twice.
        for _ in 0..<(random.oneIn(9) ? 2 : 1) { store(chunk, of: host) }
    }

    private mutating func store(_ chunk: EventChunk, of host: String) {
        let subject = random.oneIn(30) ? "strange" : FleetNames.eventSubject(of: host)
        events.append(
            HostEvents(
                subject: subject, headers: chunk.headers(expecting: 0), payload: chunk.payload, storedAt: at(seconds)),
            at: at(seconds))
    }

    // MARK: - Readers

    /// What an earlier reading kept, as its files have it.
    typealias Files = [String: [UInt8]]

    /// - Parameter length: The window that is read, in seconds.
    /// - Returns: What each command prints.
    func read(_ files: inout Files, window length: Double) -> [String] {
        let start = at(max(0, seconds - length))
        var (roster, timeline) = (Roster(), FleetTimeline())
        var history = FleetHistory(since: start, keepsTimelines: false)
        Self.read(list, "list", from: .first, &files) { roster.apply(listed: $0.key, $0.entry) }
        Self.read(states, "states", from: .first, &files) { roster.apply($0) }
        for host in leases.keys.sorted() {
            if let lease = leases[host] { roster.apply(lease: lease.value, of: host, storedAt: lease.stored) }
        }
        let newest = connections.mark.last > 30 ? connections.mark.last - 30 : 1
        let begin = seconds.truncatingRemainder(dividingBy: 2) == 0 ? CopyStart.time(start) : .sequence(newest)
        Self.read(connections, "connections", from: begin, &files) { message in
            guard let advisory = message.advisory, let host = roster.host(withKey: advisory.user) else { return }
            roster.apply(advisory)
            history.apply(advisory, of: host)
        }
        Self.read(events, "events", from: .time(start), &files) { history.apply($0, &timeline) }
        return printed(roster, history, start) + ["\(timeline.damaged) \(roster.damaged) \(roster.lastDamage ?? "")"]
    }

    private static func read<Message: CachedMessage>(
        _ stream: SimulatedStream<Message>, _ name: String, from start: CopyStart, _ files: inout Files,
        _ body: (Message) -> Void
    ) {
        var copy =
            files[name].flatMap { StreamCopy<Message>($0, of: name, isBucket: stream.isBucket) }
            ?? StreamCopy(isBucket: stream.isBucket)
        guard copy.read(stream, from: start, stream.mark, { _, _, message in body(message) }) else {
            return body(Message())
        }
        if copy.isWorthWriting { files[name] = copy.bytes(of: name) }
    }

    private func printed(_ roster: Roster, _ history: FleetHistory, _ start: Timestamp) -> [String] {
        let engine = EngineFacts(now: at(seconds))
        var status = JSONWriter()
        for host in roster.hosts { status.object { $0.members(of: host, host.presence(engine)) } }
        var options = OutageOptions()
        options.leastHosts = 2
        options.within = .seconds(900)
        let outages = OutageFinder.find(
            history.absences(of: roster, engine), among: history.members(of: roster), options)
        var lines = JSONWriter()
        for outage in outages { lines.outage(outage, hosts: roster.hosts.map(\.id)) }
        var report = JSONWriter()
        report.fleetReport(
            FleetReport(roster, history, engine, OperatorNotes(), from: start, options) { _, _ in true })
        let figures = FleetMetrics.text(FleetPage(roster, history, engine), values: 10)
        return [status.bytes, lines.bytes, report.bytes, figures].map { String(decoding: $0, as: UTF8.self) }
    }
}
