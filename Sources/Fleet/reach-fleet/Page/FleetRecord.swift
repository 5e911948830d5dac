internal import ReachCore
internal import ReachFleet
internal import ReachFleetLink

/// The fleet now, and what happened in it within a window that ends now.
///
/// It can be brought up to date: then it reads only what the buckets and streams stored since.
struct FleetRecord {
    /// How much of the window the first reading covers.
    enum Depth: Sendable {
        /// All of it, however many events there are.
        case whole
        /// The newest events only, which takes a fraction of a second in any fleet.
        case newest
    }

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
        readWhole = view.engine.now
        history = FleetHistory(since: view.engine.now + (.zero - window), keepsTimelines: timelines)
        hasTimelines = timelines
        (self.window, self.depth) = (window, depth)
        events = StreamPosition(try jetStream.stream(FleetNames.events))
        connections = StreamPosition(try jetStream.stream(FleetNames.connections))
        // Events and buckets take about as long, and each keeps a processor busy.
        let begin = EventReading(history: history, timeline: timeline, position: events)
        let stretch = self.stretch(jetStream)
        let work = BackgroundWork(named: "reach-events") { () throws(NATSError) in
            var reading = begin
            try reading.read(stretch, isFirst: true)
            return reading
        }
        try view.readBuckets(jetStream)
        keep(try work.result())
        try readConnections(jetStream, isFirst: true)
        // Else the next reading would begin with the first message of a stream whose messages are older than the
        // window.
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
        try readEvents(jetStream)
        try readConnections(jetStream, isFirst: false)
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

    private mutating func keep(_ reading: EventReading) {
        (history, timeline, events) = (reading.history, reading.timeline, reading.position)
    }

    private mutating func readEvents(_ jetStream: JetStream) throws(NATSError) {
        var reading = EventReading(history: history, timeline: timeline, position: events)
        // So that the copies own what they change.
        (history, timeline) = (history.emptied, FleetTimeline())
        defer { keep(reading) }
        try reading.read(stretch(jetStream), isFirst: false)
    }

    private func stretch(_ jetStream: JetStream) -> StreamStretch {
        StreamStretch(jetStream: jetStream, depth: depth, start: windowStart)
    }

    private mutating func readConnections(_ jetStream: JetStream, isFirst: Bool) throws(NATSError) {
        guard connections.exists else { return }
        var position = connections
        // What counts for who is here may be older than the window: both are read at once.
        let whole = try depth == .whole && isFirst ? view.connectionStart(jetStream, since: windowStart) : .first
        var roster = view.roster
        // So that the copies own what they change.
        view.roster = Roster()
        defer { (view.roster, connections) = (roster, position) }
        var kept = history
        history = kept.emptied
        defer { history = kept }
        // The latest report of a host counts whenever it came: it has the host's address.
        let unread = try stretch(jetStream).read(
            FleetNames.connections, after: isFirst ? nil : position, whole: whole, .newestConnections,
            since: Timestamp(nanosecondsSince1970: 0)
        ) { message in
            position.note(message.sequence)
            guard let advisory = try? ConnectionAdvisory(message.payload),
                let host = roster.host(withKey: advisory.user)
            else { return }
            roster.apply(advisory)
            kept.apply(advisory, of: host)
        }
        if let unread { kept.leaveOut(before: unread) }
    }

    private var windowStart: Timestamp { view.engine.now + (.zero - window) }
}
