internal import ReachCore
internal import ReachFleet
internal import ReachFleetLink

/// The fleet now, and what happened in it within a window that ends now.
///
/// It can be brought up to date: then only what the streams stored since is read.
struct FleetRecord {
    private(set) var view: FleetView
    private var history: FleetHistory
    private var timeline = FleetTimeline()
    private let window: Duration
    /// The last sequences that were read of events and connections; `nil` before the first.
    private var lastEvent: UInt64?
    private var lastConnection: UInt64?

    init(_ link: NATSLink, window: Duration) throws(NATSError) {
        view = try FleetView.read(link)
        history = FleetHistory(since: view.engine.now + (.zero - window))
        self.window = window
        try readStreams(JetStream(link))
    }

    /// Reads what is new.
    mutating func update(_ link: NATSLink) throws(NATSError) {
        let jetStream = JetStream(link)
        guard try isContinued(FleetNames.events, after: lastEvent, jetStream),
            try isContinued(FleetNames.connections, after: lastConnection, jetStream)
        else {
            // The engine was restored from a backup or made again: what was read may not be there any more.
            self = try FleetRecord(link, window: window)
            return
        }
        view = try FleetView.read(link)
        history.forget(before: view.engine.now + (.zero - window))
        try readStreams(jetStream)
    }

    func page(_ arguments: OutageArguments, _ systems: ASNTable) -> FleetPage {
        var page = FleetPage(view.roster, history, view.engine, systems: systems, arguments.options)
        if timeline.damaged > 0 { page.engineNotes.append("\(timeline.damaged) messages of hosts cannot be read") }
        return page
    }

    private func isContinued(
        _ stream: String, after last: UInt64?, _ jetStream: JetStream
    ) throws(NATSError) -> Bool {
        guard let last else { return true }
        guard let end = try jetStream.stream(stream)?["state"]?["last_seq"]?.integer else { return false }
        return UInt64(max(end, 0)) >= last
    }

    private mutating func readStreams(_ jetStream: JetStream) throws(NATSError) {
        var (history, timeline) = (history, timeline)
        var (lastEvent, lastConnection) = (lastEvent, lastConnection)
        // Of what was stored before the window nothing happened in it.
        func start(_ last: UInt64?) -> StreamStart { last.map { .sequence($0 + 1) } ?? .time(history.start) }
        try jetStream.read(FleetNames.events, filter: FleetNames.eventSubject(of: "*"), from: start(lastEvent)) {
            message in
            lastEvent = message.sequence
            let events = timeline.apply(
                subject: message.subject, headers: message.headers, payload: message.payload, storedAt: message.time,
                sequence: message.sequence)
            for event in events { history.apply(event) }
        }
        if try jetStream.stream(FleetNames.connections) != nil {
            let roster = view.roster
            try jetStream.read(
                FleetNames.connections, filter: "reach.v1.conn.>", from: start(lastConnection)
            ) { message in
                lastConnection = message.sequence
                guard let advisory = try? ConnectionAdvisory(message.payload),
                    let host = roster.host(withKey: advisory.user)
                else { return }
                history.apply(advisory, of: host)
            }
        }
        (self.history, self.timeline) = (history, timeline)
        (self.lastEvent, self.lastConnection) = (lastEvent, lastConnection)
    }
}
