internal import Glibc
internal import ReachCore
internal import ReachFleet
internal import ReachLoop

/// What the agent says of itself: a file that `reach fleet self` reads, and one in Prometheus' text format.
struct AgentReport: Equatable, Sendable {
    var host: String
    var word: FleetWord
    var since: Timestamp
    var servers: [String]
    /// The last error of the connection, in words.
    var error: String?
    var behind: UInt64 = 0
    var figures = FleetMachine.Figures()
    var lease: Duration
    /// What the fleet may do to this host.
    var accepts: [String] = []
    /// Whether the fleet holds the queue, and why.
    var queueIsHeld = false
    var queueReason: String?

    static let fileName = "self.json"
    static let metricsName = "reach-fleet.prom"

    init(host: String, word: FleetWord, since: Timestamp, servers: [String], lease: Duration) {
        self.host = host
        self.word = word
        self.since = since
        self.servers = servers
        self.lease = lease
    }

    init?(_ bytes: [UInt8]) {
        guard let json = try? JSONReader.read(bytes), let host = json["host"]?.string,
            let word = json["state"]?.string.flatMap(FleetWord.init),
            let since = json["since"]?.string.flatMap({ Timestamp($0) })
        else { return nil }
        self.init(
            host: host, word: word, since: since, servers: json["servers"]?.array?.compactMap(\.string) ?? [],
            lease: .seconds(json["lease_s"]?.integer ?? 0))
        error = json["error"]?.string
        behind = UInt64(max(0, json["behind"]?.integer ?? 0))
        figures.acknowledged = UInt64(max(0, json["acknowledged"]?.integer ?? 0))
        figures.duplicates = UInt64(max(0, json["duplicates"]?.integer ?? 0))
        figures.dropped = UInt64(max(0, json["dropped"]?.integer ?? 0))
        figures.reconnects = UInt64(max(0, json["connections"]?.integer ?? 0))
        accepts = json["accepts"]?.array?.compactMap(\.string) ?? []
        queueIsHeld = json["queue_held"]?.bool ?? false
        queueReason = json["queue_reason"]?.string
    }

    func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("v", 1)
            json.field("type", "fleet-self")
            json.field("host", host)
            json.field("state", word.rawValue)
            json.field("sentence", word.sentence)
            json.field("since", since)
            json.field("servers", servers)
            json.field("error", error)
            json.field("behind", Int64(clamping: behind))
            json.field("acknowledged", Int64(clamping: figures.acknowledged))
            json.field("duplicates", Int64(clamping: figures.duplicates))
            json.field("dropped", Int64(clamping: figures.dropped))
            json.field("connections", Int64(clamping: figures.reconnects))
            json.field("lease_s", lease.components.seconds)
            json.field("accepts", accepts)
            json.field("queue_held", queueIsHeld)
            json.field("queue_reason", queueReason)
        }
    }

    /// For a collector of Prometheus's text format.
    var metrics: [UInt8] {
        var writer = MetricWriter()
        func add(_ name: StaticString, _ kind: MetricWriter.Kind, _ help: StaticString, _ value: UInt64) {
            writer.family(name, kind, help)
            writer.sample([], value)
        }
        let isConnected = word == .connected || word == .behind
        add("reach_fleet_connected", .gauge, "Whether the engine accepts this host's events.", isConnected ? 1 : 0)
        add("reach_fleet_outbox_events", .gauge, "Events that wait on this host.", behind)
        add("reach_fleet_acked_total", .counter, "Events that the engine acknowledged.", figures.acknowledged)
        add(
            "reach_fleet_duplicates_total", .counter, "Chunks whose acknowledgement was lost.", figures.duplicates)
        add("reach_fleet_dropped_total", .counter, "Events deleted before they were sent.", figures.dropped)
        add("reach_fleet_connections_total", .counter, "Connections made.", figures.reconnects)
        add("reach_fleet_lease_seconds", .gauge, "How often the lease is renewed.", UInt64(lease.components.seconds))
        add("reach_fleet_conflict", .gauge, "Whether another machine uses this identity.", word == .conflict ? 1 : 0)
        writer.family("reach_fleet_state", .gauge, "The agent's state: the one with 1.")
        writer.states([], "state", FleetWord.allCases.map(\.rawValue), word.rawValue)
        return writer.bytes
    }
}
