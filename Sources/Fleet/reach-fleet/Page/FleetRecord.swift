internal import ReachCore
internal import ReachFleet
internal import ReachFleetLink

/// The fleet now, and what happened in it within a window that ends now.
///
/// It can be brought up to date: then it reads only what the buckets and streams stored since.
struct FleetRecord {
    /// How much of the window the first reading covers.
    enum Depth {
        /// All of it, however many events there are.
        case whole
        /// The newest events only, which takes a fraction of a second in any fleet.
        case newest
    }

    /// The newest events and the newest reports of connections that ``Depth/newest`` reads. 15,000 events have 8 MiB.
    private static let newestEvents = StreamEndLimit(bytes: 8 << 20, messages: 12_000)
    private static let newestConnections = StreamEndLimit(bytes: 8 << 20, messages: 10_000)
    /// The buckets are followed for this long, and then read whole again, so that no mistake stays.
    private static let followLimit: Duration = .seconds(600)

    private(set) var view: FleetView
    private var history: FleetHistory
    private var timeline = FleetTimeline()
    private let window: Duration
    private let depth: Depth
    private let hasTimelines: Bool
    private var readWhole: Timestamp
    /// How far the streams were read; `nil` for a stream that is not there.
    private var events = StreamPosition(nil)
    private var connections = StreamPosition(nil)

    /// - Parameter timelines: Whether somebody looks at what happened on single hosts.
    init(_ link: NATSLink, window: Duration, _ depth: Depth, timelines: Bool) throws(NATSError) {
        let jetStream = JetStream(link)
        view = try FleetView(jetStream)
        try view.readBuckets(jetStream)
        readWhole = view.engine.now
        history = FleetHistory(since: view.engine.now + (.zero - window), keepsTimelines: timelines)
        hasTimelines = timelines
        (self.window, self.depth) = (window, depth)
        events = StreamPosition(try jetStream.stream(FleetNames.events))
        connections = StreamPosition(try jetStream.stream(FleetNames.connections))
        try readStreams(jetStream, isFirst: true)
        // Else the next reading would begin with the first message of a stream whose messages are older than the window.
        events.noteFirstReading()
        connections.noteFirstReading()
        view.engine.now = view.present
    }

    /// Reads what is new.
    mutating func update(_ link: NATSLink) throws(NATSError) {
        let jetStream = JetStream(link)
        guard events.isContinued(by: try jetStream.stream(FleetNames.events)),
            connections.isContinued(by: try jetStream.stream(FleetNames.connections))
        else {
            // The engine was restored from a backup or made again: what was read may not be there any more.
            self = try FleetRecord(link, window: window, depth, timelines: hasTimelines)
            return
        }
        if view.present > readWhole + Self.followLimit {
            try readViewWhole(link)
        } else if try !view.follow(jetStream) {
            try readViewWhole(link)
        }
        history.forget(before: windowStart)
        try readStreams(jetStream, isFirst: false)
        view.engine.now = view.present
    }

    func page(_ arguments: OutageArguments, _ systems: ASNTable) -> FleetPage {
        var page = FleetPage(view.roster, history, view.engine, notes: view.notes, systems: systems, arguments.options)
        if timeline.damaged > 0 { page.engineNotes.append("\(timeline.damaged) messages of hosts cannot be read") }
        return page
    }

    /// The outages alone, without what a page shows of each host.
    func outages(_ arguments: OutageArguments, _ systems: ASNTable) -> [Outage] {
        OutageFinder.find(
            history.absences(of: view.roster, view.engine), among: history.members(of: view.roster), systems: systems,
            arguments.options)
    }

    func report(from start: Timestamp, includes: (RosterHost, HostPresence) -> Bool) -> FleetReport {
        FleetReport(view.roster, history, view.engine, view.notes, from: start, includes: includes)
    }

    private mutating func readViewWhole(_ link: NATSLink) throws(NATSError) {
        view = try FleetView.read(link)
        readWhole = view.engine.now
    }

    // MARK: - Streams

    private mutating func readStreams(_ jetStream: JetStream, isFirst: Bool) throws(NATSError) {
        var (history, timeline, position) = (history, timeline, events)
        // So that the copies own what they change.
        self.history = history.emptied
        self.timeline = FleetTimeline()
        defer { (self.history, self.timeline, events) = (history, timeline, position) }
        let unread = try read(
            FleetNames.events, after: position, isFirst: isFirst, whole: .time(windowStart), Self.newestEvents,
            since: windowStart, jetStream
        ) { message in
            position.note(message.sequence)
            let events = timeline.apply(
                subject: message.subject, headers: message.headers, payload: message.payload, storedAt: message.time,
                sequence: message.sequence)
            for event in events { history.apply(event) }
        }
        if let unread { history.leaveOut(before: unread) }
        guard connections.exists else { return }
        if let unread = try readConnections(jetStream, isFirst, &history) { history.leaveOut(before: unread) }
    }

    private mutating func readConnections(
        _ jetStream: JetStream, _ isFirst: Bool, _ history: inout FleetHistory
    ) throws(NATSError) -> Timestamp? {
        var position = connections
        // What counts for who is here may be older than the window: both are read at once.
        let whole = try depth == .whole && isFirst ? view.connectionStart(jetStream, since: windowStart) : .first
        var roster = view.roster
        view.roster = Roster()
        defer { (view.roster, connections) = (roster, position) }
        var kept = history
        history = kept.emptied
        defer { history = kept }
        // The latest report of a host counts whenever it came: it has the host's address.
        return try read(
            FleetNames.connections, after: position, isFirst: isFirst, whole: whole, Self.newestConnections,
            since: Timestamp(nanosecondsSince1970: 0), jetStream
        ) { message in
            position.note(message.sequence)
            guard let advisory = try? ConnectionAdvisory(message.payload),
                let host = roster.host(withKey: advisory.user)
            else { return }
            roster.apply(advisory)
            kept.apply(advisory, of: host)
        }
    }

    /// Reads what follows a position, or for the first time what ``depth`` says.
    ///
    /// - Parameters:
    ///   - whole: Where all of the window begins, for ``Depth/whole``: nothing happened in it of what was stored before.
    ///   - since: Where the newest messages begin at the earliest.
    /// - Returns: The time of the oldest message that was read, if older ones were left out.
    private func read(
        _ stream: String, after position: StreamPosition, isFirst: Bool, whole: StreamStart, _ newest: StreamEndLimit,
        since: Timestamp, _ jetStream: JetStream, _ body: (StoredMessage) -> Void
    ) throws(NATSError) -> Timestamp? {
        guard isFirst else {
            try jetStream.read(stream, filter: nil, from: .sequence(position.last + 1), body)
            return nil
        }
        guard depth == .newest else {
            try jetStream.read(stream, filter: nil, from: whole, body)
            return try droppedBefore(stream, jetStream)
        }
        var oldest: Timestamp?
        let isCut = try jetStream.readEnd(of: stream, filter: nil, since: since, newest) { message in
            oldest = oldest ?? message.time
            body(message)
        }
        return isCut ? oldest : nil
    }

    /// The time of the first message that a stream still has, if it has dropped some within the window, as a full one does.
    private func droppedBefore(_ stream: String, _ jetStream: JetStream) throws(NATSError) -> Timestamp? {
        let state = try jetStream.stream(stream)?["state"]
        guard let number = state?["first_seq"]?.integer, number > 1,
            let first = state?["first_ts"]?.string.flatMap({ Timestamp($0) }), first > windowStart
        else { return nil }
        return first
    }

    private var windowStart: Timestamp { view.engine.now + (.zero - window) }
}
