internal import ReachCore
internal import ReachFleet
internal import ReachFleetLink

/// What was read of the hosts' events, and how far.
struct EventReading: Sendable {
    private(set) var history: FleetHistory
    private(set) var timeline: FleetTimeline
    private(set) var position: StreamPosition

    init(history: FleetHistory, timeline: FleetTimeline, position: StreamPosition) {
        (self.history, self.timeline, self.position) = (history, timeline, position)
    }

    /// Reads on; for the first time what the stretch has. After an error it holds what was read before that.
    mutating func read(_ stretch: StreamStretch, isFirst: Bool) throws(NATSError) {
        var (history, timeline, position) = (history, timeline, position)
        // So that the copies own what they change.
        (self.history, self.timeline) = (history.emptied, FleetTimeline())
        defer { (self.history, self.timeline, self.position) = (history, timeline, position) }
        if isFirst, stretch.depth == .whole, !history.keepsTimelines {
            let info = try stretch.jetStream.stream(FleetNames.events)
            try Self.cached(stretch.jetStream).read(info, from: .time(stretch.start)) { number, _, message in
                position.note(number)
                history.apply(message, &timeline)
            }
            if let dropped = try stretch.droppedBefore(FleetNames.events) { history.leaveOut(before: dropped) }
            return
        }
        let unread = try stretch.read(
            FleetNames.events, after: isFirst ? nil : position, whole: .time(stretch.start), .newestEvents,
            since: stretch.start
        ) { message in
            position.note(message.sequence)
            let events = timeline.apply(
                subject: message.subject, headers: message.headers, payload: message.payload, storedAt: message.time,
                sequence: message.sequence)
            for event in events { history.apply(event) }
        }
        if let unread { history.leaveOut(before: unread) }
    }
}

extension EventReading {
    private static func cached(_ jetStream: JetStream) -> CachedStream<HostEvents> {
        CachedStream(jetStream: jetStream, name: FleetNames.events) { HostEvents($0) }
    }
}

extension HostEvents {
    init(_ message: StoredMessage) {
        self.init(
            subject: message.subject, headers: message.headers, payload: message.payload, storedAt: message.time)
    }
}

extension StreamEndLimit {
    /// The newest events and the newest reports of connections that ``FleetRecord/Depth/newest`` reads. 15,000 events
    /// have 8 MiB.
    static let newestEvents = StreamEndLimit(bytes: 8 << 20, messages: 12_000)
    static let newestConnections = StreamEndLimit(bytes: 8 << 20, messages: 10_000)
}

/// The part of the fleet's streams that counts: from a time on, all of it or the newest.
struct StreamStretch: Sendable {
    let jetStream: JetStream
    let depth: FleetRecord.Depth
    let start: Timestamp

    /// Reads what follows a position, or without one what ``depth`` says.
    ///
    /// - Parameters:
    ///   - whole: Where all of the window begins, for ``FleetRecord/Depth/whole``: nothing happened in it of what was
    ///     stored before.
    ///   - since: Where the newest messages begin at the earliest.
    /// - Returns: The time of the oldest message that was read, if older ones were left out.
    func read(
        _ stream: String, after position: StreamPosition?, whole: StreamStart, _ newest: StreamEndLimit,
        since: Timestamp,
        _ body: (StoredMessage) -> Void
    ) throws(NATSError) -> Timestamp? {
        if let position {
            try jetStream.read(stream, filter: nil, from: .sequence(position.last + 1), body)
            return nil
        }
        guard depth == .newest else {
            try jetStream.read(stream, filter: nil, from: whole, body)
            return try droppedBefore(stream)
        }
        var oldest: Timestamp?
        let isCut = try jetStream.readEnd(of: stream, filter: nil, since: since, newest) { message in
            oldest = oldest ?? message.time
            body(message)
        }
        return isCut ? oldest : nil
    }

    /// The time of the first message that a stream still has, if it has dropped some within the window, as a full one
    /// does.
    func droppedBefore(_ stream: String) throws(NATSError) -> Timestamp? {
        let state = try jetStream.stream(stream)?["state"]
        guard let number = state?["first_seq"]?.integer, number > 1,
            let first = state?["first_ts"]?.string.flatMap({ Timestamp($0) }), first > start
        else { return nil }
        return first
    }
}
