internal import Dispatch
internal import ReachCore
internal import ReachFleet
internal import ReachFleetLink
internal import ReachLoop
internal import Synchronization

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

    /// Whether the events of all hosts were read.
    private var isOfAll = true

    /// - Parameters:
    ///   - timelines: Whether somebody looks at what happened on single hosts.
    ///   - selecting: Which hosts somebody asks about, if not about all: of a few only their own events are read.
    init(
        _ link: NATSLink, window: Duration, _ depth: Depth, timelines: Bool,
        selecting: ((RosterHost, HostPresence) -> Bool)? = nil
    ) throws(NATSError) {
        let jetStream = JetStream(link)
        view = try FleetView(jetStream)
        readWhole = view.engine.now
        history = FleetHistory(since: view.engine.now + (.zero - window), keepsTimelines: timelines)
        hasTimelines = timelines
        (self.window, self.depth) = (window, depth)
        events = StreamPosition(try jetStream.stream(FleetNames.events))
        connections = StreamPosition(try jetStream.stream(FleetNames.connections))
        if let selecting {
            try view.readBuckets(jetStream)
            try readConnections(jetStream, isFirst: true)
            try readEvents(jetStream, of: few(selecting))
        } else {
            try readTogether(jetStream)
        }
        // Else the next reading would begin with the first message of a stream whose messages are older than the
        // window.
        events.noteFirstReading()
        connections.noteFirstReading()
        view.engine.now = view.present
    }

    /// Events and buckets take about as long, and each keeps a processor busy.
    private mutating func readTogether(_ jetStream: JetStream) throws(NATSError) {
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
    }

    /// The hosts that somebody asks about; `nil` if they are so many that reading all events is no more.
    private func few(_ includes: (RosterHost, HostPresence) -> Bool) -> [String]? {
        let hosts = view.roster.hosts.filter { includes($0, $0.presence(view.engine)) }.map(\.id)
        return hosts.count <= Self.fewHosts && hosts.count * 10 <= view.roster.hosts.count ? hosts : nil
    }

    /// Each has a reader of its own, and costs the server a search.
    private static let fewHosts = 32

    /// - Parameter hosts: Whose events; `nil` for all.
    private mutating func readEvents(_ jetStream: JetStream, of hosts: [String]?) throws(NATSError) {
        isOfAll = hosts == nil
        guard let hosts else { return try readEvents(jetStream, isFirst: true) }
        var (history, timeline) = (history, timeline)
        self.history = history.emptied
        defer { (self.history, self.timeline) = (history, timeline) }
        for host in hosts {
            try jetStream.read(
                FleetNames.events, filter: FleetNames.eventSubject(of: host), from: .time(windowStart)
            ) { history.apply(HostEvents($0), &timeline) }
        }
        if let dropped = try stretch(jetStream).droppedBefore(FleetNames.events) { history.leaveOut(before: dropped) }
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
        try readEvents(jetStream, isFirst: false)
        try readConnections(jetStream, isFirst: false)
        view.engine.now = view.present
    }

    func page(_ arguments: OutageArguments, _ systems: ASNTable) -> FleetPage {
        var page = FleetPage(view.roster, history, view.engine, notes: view.notes, systems: systems, arguments.options)
        if timeline.damaged > 0 { page.engineNotes.append("\(timeline.damaged) messages of hosts cannot be read") }
        return page
    }

    /// The outages alone, without what a page shows of each host.
    func outages(_ options: OutageOptions, _ systems: ASNTable) -> [Outage] {
        OutageFinder.find(
            history.absences(of: view.roster, view.engine), among: history.members(of: view.roster), systems: systems,
            options)
    }

    func report(from start: Timestamp, includes: (RosterHost, HostPresence) -> Bool) -> FleetReport {
        FleetReport(
            view.roster, history, view.engine, view.notes, from: start, isOfAll: isOfAll, includes: includes)
    }

    private mutating func readViewWhole(_ link: NATSLink) throws(NATSError) {
        view = try FleetView.read(link)
        readWhole = view.engine.now
    }

    // MARK: - Streams

    private mutating func keep(_ reading: EventReading) {
        (history, timeline, events) = (reading.history, reading.timeline, reading.position)
    }

    private mutating func readEvents(_ jetStream: JetStream, isFirst: Bool) throws(NATSError) {
        var reading = EventReading(history: history, timeline: timeline, position: events)
        // So that the copies own what they change.
        (history, timeline) = (history.emptied, FleetTimeline())
        defer { keep(reading) }
        try reading.read(stretch(jetStream), isFirst: isFirst)
    }

    private func stretch(_ jetStream: JetStream) -> StreamStretch {
        StreamStretch(jetStream: jetStream, depth: depth, start: windowStart)
    }

    private mutating func readConnections(_ jetStream: JetStream, isFirst: Bool) throws(NATSError) {
        guard connections.exists else { return }
        var position = connections
        // What counts for who is here may be older than the window: both are read at once.
        var (start, info) = (CopyStart?.none, JSONValue?.none)
        if depth == .whole, isFirst {
            info = try jetStream.stream(FleetNames.connections)
            start = try view.connectionStart(jetStream, info, since: windowStart)
        }
        var roster = view.roster
        // So that the copies own what they change.
        view.roster = Roster()
        defer {
            view.engine.noteLastWord(in: roster)
            (view.roster, connections) = (roster, position)
        }
        var kept = history
        history = kept.emptied
        defer { history = kept }
        func apply(_ message: ReportedConnection) {
            guard let advisory = message.advisory, let host = roster.apply(advisory) else { return }
            kept.apply(advisory, of: host)
        }
        if let start {
            try FleetView.connections(jetStream).read(info, from: start) { number, _, message in
                position.note(number)
                apply(message)
            }
            let dropped = try stretch(jetStream).droppedBefore(FleetNames.connections)
            if let dropped { kept.leaveOut(before: dropped) }
            return
        }
        // The latest report of a host counts whenever it came: it has the host's address.
        let unread = try stretch(jetStream).read(
            FleetNames.connections, after: isFirst ? nil : position, whole: .first, .newestConnections,
            since: Timestamp(nanosecondsSince1970: 0)
        ) { message in
            position.note(message.sequence)
            apply(ReportedConnection(message.payload))
        }
        if let unread { kept.leaveOut(before: unread) }
    }

    /// When the window begins.
    var windowStart: Timestamp { view.engine.now + (.zero - window) }
}

/// Work on a thread of its own, for whose result somebody waits.
final class BackgroundWork<Value: Sendable>: Sendable {
    private let slot = Mutex<Result<Value, NATSError>?>(nil)
    private let isDone = DispatchSemaphore(value: 0)

    /// - Parameter name: The thread's name.
    init(named name: String, _ work: @escaping @Sendable () throws(NATSError) -> Value) {
        BackgroundThread.start(named: name) { [self] in
            let result: Result<Value, NATSError>
            do throws(NATSError) {
                result = .success(try work())
            } catch {
                result = .failure(error)
            }
            slot.withLock { $0 = result }
            isDone.signal()
        }
    }

    /// Waits for the result, which it hands over once.
    func result() throws(NATSError) -> Value {
        isDone.wait()
        let result = slot.withLock { slot in
            defer { slot = nil }
            return slot
        }
        guard let result else { throw NATSError(.failed, "the result was handed over before") }
        return try result.get()
    }
}
