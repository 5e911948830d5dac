import ReachCore
import ReachFleet
import Testing

/// What the engine holds of one host, as a test tells it, in seconds of the tests' day; and what readers make of it.
struct HostEvidence {
    var roster = Roster()
    var history: FleetHistory
    var engine: EngineFacts
    private var n: UInt64 = 0

    /// - Parameters:
    ///   - now: When the readers look. The window begins at 0.
    ///   - renewed: When the lease was renewed last; `nil` for no lease.
    ///   - since: Since when the host's own status holds, if its daemon answers.
    init(now: Double = 1000, renewed: Double? = 990, since: Double? = nil) {
        engine = EngineFacts(now: at(now))
        history = FleetHistory(since: at(0), keepsTimelines: false)
        roster.apply(listed: "h", key: "K")
        state(stored: since ?? renewed ?? now) { if since == nil { $0.status = nil } }
        guard let renewed else { return }
        let lease = HostLease(boot: "b", n: 1, since: at(renewed), behind: 0)
        roster.apply(lease: lease.bytes, of: "h", storedAt: at(renewed))
    }

    mutating func state(stored: Double, clock: Double = 0, _ change: (inout HostState) -> Void = { _ in }) {
        var state = HostState(
            host: "h", version: "1", written: Instant(wall: at(stored + clock), boot: BootTime(nanoseconds: 0)),
            boot: "b",
            lease: .seconds(30))
        state.status = HostStatus(.reachable, connectivity: .full, since: at(stored))
        change(&state)
        roster.apply(state: state.bytes, of: "h", storedAt: at(stored))
    }

    mutating func up(_ time: Double, server: String? = nil) {
        report(
            ConnectionAdvisory(isUp: true, time: at(time), start: at(time), user: "K", server: server))
    }

    mutating func down(_ time: Double, start: Double, _ reason: String = "Stale Connection", server: String? = nil) {
        report(
            ConnectionAdvisory(
                isUp: false, time: at(time), start: at(start), user: "K", reason: reason, server: server))
    }

    private mutating func report(_ advisory: ConnectionAdvisory) {
        roster.apply(advisory)
        history.apply(advisory, of: "h")
    }

    /// - Parameters:
    ///   - stored: When the server had it, if that was later than it happened.
    ///   - clock: How much later the host's clock is than the server's.
    mutating func says(
        _ status: ReachabilityStatus, _ time: Double, was previous: ReachabilityStatus? = nil, _ reason: Reason? = nil,
        connectivity: Connectivity = .full, stored: Double? = nil, clock: Double = 0
    ) throws {
        n += 1
        let moment = Self.moment(time, clock)
        var json = JSONWriter()
        json.object { json in
            json.field("v", 1)
            json.field("type", "change")
            json.field("time", moment.wall)
            json.field("boottime_ns", moment.boot.nanoseconds)
            json.field("log", "l")
            json.field("n", Int64(n))
            if let previous { json.field("previous", object: { $0.field("status", previous.rawValue) }) }
            json.key("status")
            HostStatus(status, reason: reason, connectivity: connectivity).write(to: &json)
        }
        let stored = stored ?? time
        try apply(
            EventChunk(
                log: "l", first: n, last: n, boot: "b", eventBoot: "b", sent: Self.moment(stored, clock),
                lines: [json.bytes]), stored)
    }

    private static func moment(_ time: Double, _ clock: Double) -> Instant {
        Instant(wall: at(time + clock), boot: BootTime(nanoseconds: Int64((time + 10_000) * 1e9)))
    }

    /// At its return the host says that it was away.
    mutating func reports(_ absence: HostAbsence, back time: Double, clock: Double = 0) throws {
        let moment = Self.moment(time, clock)
        try apply(EventChunk(absence, log: "l", after: n, tail: 1, boot: "b", at: moment), time)
    }

    private mutating func apply(_ chunk: EventChunk, _ time: Double) throws {
        var timeline = FleetTimeline()
        let events = timeline.apply(
            subject: FleetNames.eventSubject(of: "h"), headers: chunk.headers(expecting: 0), payload: chunk.payload,
            storedAt: at(time), sequence: 1)
        history.apply(try #require(events.first))
    }

    var past: HostPast { history.pasts(of: roster, engine)[0] }

    /// The intervals: `here 100-400, away 400- (confirmed)`.
    var words: [String] {
        past.intervals.map { interval in
            "\(interval.word) \(Self.seconds(interval.start))-\(Self.seconds(interval.end))"
                + (interval.isConfirmed ? " confirmed" : "")
        }
    }

    private static func seconds(_ time: Timestamp?) -> String {
        time.map { "\(($0.nanosecondsSince1970 - at(0).nanosecondsSince1970) / 1_000_000_000)" } ?? ""
    }

    var availability: Availability {
        Availability(
            past.absences, unknown: past.unknown,
            in: at(0).nanosecondsSince1970..<engine.now.nanosecondsSince1970)
    }
}
