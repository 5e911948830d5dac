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
    private(set) var notes = OperatorNotes()
    var engine: EngineFacts
    /// The engine's clock minus this machine's; `nil` if it does not say.
    var clockOffset: Duration?
    /// When each server that has answered started, by its name.
    private var starts: [String: Timestamp] = [:]
    /// How far each bucket was read.
    private var positions: [String: StreamPosition] = [:]

    /// A disconnect matters if it is later than the last renewal. No lease lasts longer than this.
    static let connectionAge: Duration = .seconds(1800)

    private static let buckets = [HostList.bucket, FleetNames.notes, FleetNames.state, FleetNames.lease]
    /// Those that earlier versions of `setup` did not make, or whose list is not for everybody.
    private static let optional: Set = [HostList.bucket, FleetNames.notes]

    /// Reads the buckets, and the latest reports of connections.
    ///
    /// - Parameter allConnections: Whether to read those of the hosts that have been connected for long, too.
    static func read(_ link: NATSLink, allConnections: Bool = false) throws(NATSError) -> FleetView {
        let jetStream = JetStream(link)
        var view = try FleetView(jetStream)
        try view.readBuckets(jetStream)
        // Of hosts that are silent for longer the reports say why.
        try view.readConnections(jetStream, all: allConnections || view.hasSilentHost)
        view.engine.now = view.present
        return view
    }

    /// Reads what the engine says of itself.
    init(_ jetStream: JetStream) throws(NATSError) {
        let status = try ServerStatus.ask(jetStream.link, within: .seconds(2))
        clockOffset = status?.clockOffset
        engine = EngineFacts(now: SystemClock.now.wall, started: status?.started)
        if let status { starts[status.name] = status.started }
        guard let lease = try jetStream.stream(FleetNames.stream(of: FleetNames.lease)) else {
            throw NATSError(.notFound, "the fleet's buckets are missing; `reach-fleet setup` makes them")
        }
        engine.leaseAge = lease["config"]?["max_age"]?.integer.flatMap { $0 > 0 ? .nanoseconds($0) : nil }
        engine.now = present
    }

    /// The present by the engine's clock.
    var present: Timestamp { SystemClock.now.wall + (clockOffset ?? .zero) }

    var hasSilentHost: Bool {
        roster.hosts.contains { $0.key != nil && $0.presence(engine).word == .silent }
    }

    // MARK: - Buckets

    /// Reads the buckets whole. They keep one entry of each key, so that all entries are the last ones of the keys.
    mutating func readBuckets(_ jetStream: JetStream) throws(NATSError) {
        for bucket in Self.buckets {
            let info = try info(of: bucket, jetStream)
            positions[bucket] = StreamPosition(info)
            guard info != nil || !Self.optional.contains(bucket) else { continue }
            switch bucket {
            case HostList.bucket:
                try readThroughCache(
                    bucket, info, jetStream, { ListedHost($0.key, $0.value) }, { $0.apply(listed: $1.key, $1.entry) })
            case FleetNames.state:
                try readThroughCache(
                    bucket, info, jetStream, { ReportedState($0.key, $0.value, storedAt: $0.time) }, { $0.apply($1) })
            // Leases are all new after a minute, and notes are few.
            default: try read(bucket, from: .first, jetStream)
            }
        }
        engine.noteLastWord(in: roster)
    }

    /// Reads what the buckets hold since they were read last.
    ///
    /// - Returns: `false` if they have to be read whole: they were made again, or their server has restarted, and
    ///   buckets in memory count from the beginning then.
    mutating func follow(_ jetStream: JetStream) throws(NATSError) -> Bool {
        let latest = try FleetView(jetStream)
        let hasRestarted = latest.starts.contains { name, start in starts[name].map { $0 != start } ?? false }
        guard !hasRestarted else { return false }
        for bucket in Self.buckets {
            guard positions[bucket]?.isContinued(by: try info(of: bucket, jetStream)) == true else { return false }
        }
        starts.merge(latest.starts) { _, new in new }
        (engine, clockOffset) = (latest.engine.continuing(engine), latest.clockOffset)
        for (bucket, position) in positions where position.exists {
            try read(bucket, from: .sequence(position.last + 1), jetStream)
        }
        return true
    }

    /// The state of a bucket's stream; `nil` for a list of hosts, or notes, that may not be read. Without the list no
    /// host is unseen, and connections cannot be assigned to hosts.
    private func info(of bucket: String, _ jetStream: JetStream) throws(NATSError) -> JSONValue? {
        do throws(NATSError) {
            return try jetStream.stream(FleetNames.stream(of: bucket))
        } catch {
            guard Self.optional.contains(bucket), error.kind == .notPermitted else { throw error }
            return nil
        }
    }

    private mutating func readThroughCache<Message: CachedMessage>(
        _ bucket: String, _ info: JSONValue?, _ jetStream: JetStream, _ message: @escaping (KeyValueEntry) -> Message,
        _ apply: (inout Roster, Message) -> Void
    ) throws(NATSError) {
        var (roster, position) = (roster, positions[bucket])
        // So that the copy above owns what it changes.
        self.roster = Roster()
        defer { (self.roster, positions[bucket]) = (roster, position) }
        let stream = CachedStream(
            jetStream: jetStream, name: FleetNames.stream(of: bucket), isBucket: true,
            message: { KeyValueEntry($0, bucket: bucket).map(message) })
        try stream.read(info, from: .first) { number, _, message in
            position?.note(number)
            apply(&roster, message)
        }
    }

    private mutating func read(
        _ bucket: String, from start: StreamStart, _ jetStream: JetStream
    ) throws(NATSError) {
        var (roster, notes, position) = (roster, notes, positions[bucket])
        // So that the copies above own what they change.
        self.roster = Roster()
        defer {
            (self.roster, self.notes) = (roster, notes)
            positions[bucket] = position
        }
        try jetStream.entries(of: bucket, from: start) { entry in
            position?.note(entry.revision)
            switch bucket {
            case HostList.bucket:
                roster.apply(listed: entry.key, entry.value.flatMap { HostList.entry(entry.key, $0) })
            case FleetNames.notes:
                if let host = notes.apply(key: entry.key, entry.value, storedAt: entry.time) {
                    roster.apply(note: entry.value, of: host)
                }
            case FleetNames.state: roster.apply(state: entry.value, of: entry.key, storedAt: entry.time)
            default:
                roster.apply(
                    lease: entry.value, of: entry.key, storedAt: entry.time, isExpired: entry.isExpired)
            }
        }
    }

    /// Reads what the operator noted about one host.
    mutating func readNote(of host: String, _ jetStream: JetStream) throws(NATSError) {
        guard try info(of: FleetNames.notes, jetStream) != nil,
            let entry = try jetStream.entry(HostNote.key(of: host), in: FleetNames.notes)
        else { return }
        roster.apply(note: entry.value, of: host)
    }

    // MARK: - Connections

    /// The reports of connections. Those that the doctor makes to see whether any come say nothing.
    static func connections(_ jetStream: JetStream) -> CachedStream<ReportedConnection> {
        CachedStream(jetStream: jetStream, name: FleetNames.connections) { message in
            message.subject == FleetNames.probeSubject ? ReportedConnection() : ReportedConnection(message.payload)
        }
    }

    private static func earliestConnection(_ info: JSONValue) -> CopyStart {
        let last = info["state"]?["last_seq"]?.integer.flatMap { UInt64(exactly: $0) } ?? 0
        return .sequence(last > connectionLimit ? last - connectionLimit : 1)
    }

    /// Where the reports begin of which a reader of all since a time needs any: at that time, or earlier for what says
    /// who is here.
    func connectionStart(
        _ jetStream: JetStream, _ info: JSONValue?, since start: Timestamp
    ) throws(NATSError) -> CopyStart {
        // The reports before it say whose connections that ended late had been replaced.
        let late = CopyStart.time(min(start, present) + (.zero - Self.connectionAge))
        guard hasSilentHost, let info else { return late }
        let count = try StreamReader(
            jetStream.link, stream: FleetNames.connections, filter: nil, from: StreamStart(late), waits: false, most: 0
        ).pending
        return count < Self.connectionLimit ? Self.earliestConnection(info) : late
    }

    /// - Parameter all: Whether to read as far back as ``connectionLimit`` allows, and not only ``connectionAge``.
    mutating func readConnections(_ jetStream: JetStream, all: Bool) throws(NATSError) {
        guard let info = try jetStream.stream(FleetNames.connections) else { return }
        let start = all ? Self.earliestConnection(info) : .time(present + (.zero - Self.connectionAge))
        var roster = roster
        self.roster = Roster()
        defer { self.roster = roster }
        try Self.connections(jetStream).read(info, from: start) { _, _, message in roster.apply(message) }
        engine.noteLastWord(in: roster)
    }
}

/// How far a stream was read, to read on behind it.
struct StreamPosition: Sendable {
    /// The sequence of the last message that was read; 0 for none.
    private(set) var last: UInt64
    /// The sequence of the last message that was stored when the position was made.
    private let end: UInt64
    /// When the stream was made, as the engine writes it; `nil` if there was none.
    private let created: String?

    /// - Parameters:
    ///   - info: What the engine says of the stream; `nil` if there is none.
    ///   - last: 0 to begin with the first message.
    init(_ info: JSONValue?, last: UInt64 = 0) {
        created = info?["created"]?.string
        end = Self.end(of: info)
        self.last = last
    }

    var exists: Bool { created != nil }

    mutating func note(_ sequence: UInt64) { last = max(last, sequence) }

    /// Notes that all was looked at which the stream had when the position was made, also where nothing of it counted.
    mutating func noteFirstReading() { note(end) }

    /// Whether the stream has what was read. It has not if it was made again, or if the engine was restored from a
    /// backup.
    func isContinued(by info: JSONValue?) -> Bool {
        created == info?["created"]?.string && Self.end(of: info) >= last
    }

    private static func end(of info: JSONValue?) -> UInt64 {
        info?["state"]?["last_seq"]?.integer.flatMap { UInt64(exactly: $0) } ?? 0
    }
}
