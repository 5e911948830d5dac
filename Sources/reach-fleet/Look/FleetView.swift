internal import ReachCore
internal import ReachFleet
internal import ReachFleetLink
internal import ReachLoop

/// The fleet as the engine holds it now.
struct FleetView {
    /// The most reports of connections that are read, the latest: of more hosts than half of this only some have their
    /// address and the reason of their end.
    static let connectionLimit: UInt64 = 20_000

    var roster = Roster()
    var engine: EngineFacts
    /// The engine's clock minus this machine's; `nil` if it does not say.
    var clockOffset: Duration?

    /// A disconnect matters if it is later than the last renewal. No lease lasts longer than this.
    static let connectionAge: Duration = .seconds(1800)

    /// Reads the buckets, and the latest reports of connections.
    static func read(_ link: NATSLink) throws(NATSError) -> FleetView {
        let jetStream = JetStream(link)
        var view = try FleetView(jetStream)
        try view.readHosts(jetStream)
        var roster = view.roster
        try jetStream.entries(of: FleetNames.state) { entry in
            roster.apply(state: entry.value, of: entry.key, storedAt: entry.time)
        }
        try jetStream.entries(of: FleetNames.lease) { entry in
            roster.apply(lease: entry.value, of: entry.key, storedAt: entry.time)
        }
        view.roster = roster
        // Of hosts that are silent for longer the reports say why.
        try view.readConnections(jetStream, all: view.hasSilentHost)
        view.engine.now = view.present
        return view
    }

    /// Reads what the engine says of itself.
    init(_ jetStream: JetStream) throws(NATSError) {
        let status = try ServerStatus.ask(jetStream.link, within: .seconds(2))
        clockOffset = status?.clockOffset
        engine = EngineFacts(now: SystemClock.now.wall, started: status?.started)
        guard let lease = try jetStream.stream(FleetNames.stream(of: FleetNames.lease)) else {
            throw NATSError(.notFound, "the fleet's buckets are missing; `reach-fleet setup` makes them")
        }
        engine.leaseAge = lease["config"]?["max_age"]?.integer.flatMap { $0 > 0 ? .nanoseconds($0) : nil }
        engine.now = present
    }

    /// The present by the engine's clock.
    var present: Timestamp { SystemClock.now.wall + (clockOffset ?? .zero) }

    private var hasSilentHost: Bool {
        roster.hosts.contains { $0.key != nil && $0.presence(engine).word == .silent }
    }

    /// The list of hosts is optional: without it nobody is unseen, and connections cannot be told apart.
    mutating func readHosts(_ jetStream: JetStream) throws(NATSError) {
        var roster = self.roster
        do throws(NATSError) {
            try jetStream.entries(of: HostList.bucket) { entry in
                if let value = entry.value { roster.apply(listed: entry.key, key: HostList.key(value)) }
            }
        } catch {
            guard error.kind == .notFound || error.kind == .notPermitted else { throw error }
        }
        self.roster = roster
    }

    /// - Parameter all: Whether to read as far back as ``connectionLimit`` allows, and not only ``connectionAge``.
    mutating func readConnections(_ jetStream: JetStream, all: Bool) throws(NATSError) {
        guard let info = try jetStream.stream(FleetNames.connections) else { return }
        let last = info["state"]?["last_seq"]?.integer.flatMap { UInt64(exactly: $0) } ?? 0
        let earliest = last > Self.connectionLimit ? last - Self.connectionLimit : 1
        let start = all ? StreamStart.sequence(earliest) : .time(present + (.zero - Self.connectionAge))
        var roster = self.roster
        try jetStream.read(FleetNames.connections, filter: "reach.v1.conn.>", from: start) { message in
            roster.apply(advisory: message.payload)
        }
        self.roster = roster
    }
}
