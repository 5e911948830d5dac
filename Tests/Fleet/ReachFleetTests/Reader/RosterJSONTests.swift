import ReachCore
import ReachFleet
import Testing

/// What programs read about hosts and their events.
@Suite struct RosterJSONTests {
    private static func members(_ write: (inout JSONWriter) -> Void) throws -> [String: JSONValue] {
        var json = JSONWriter()
        write(&json)
        guard case .object(let members) = try JSONReader.read(json.bytes) else { return [:] }
        return members
    }

    private static let roster = {
        var roster = Roster()
        roster.apply(
            listed: "till-1",
            HostList.Entry(host: "till-1", key: "K", groups: ["tills"], labels: ["site": "berlin-7"]))
        var state = HostState(
            host: "till-1", version: "1.2.3", written: Instant(wall: at(0), boot: BootTime(nanoseconds: 0)), boot: "b",
            lease: .seconds(120))
        state.name = "Till 1"
        var status = HostStatus(.reachable, linkClass: .wifi, since: at(0))
        status.ipv4 = .init(
            .reachable, interface: "wlan0", linkClass: .wifi, gateway: IPAddress("192.0.2.1"),
            source: IPPrefix("192.0.2.0/24"), connectivity: .full)
        state.status = status
        state.queue = .init(waiting: 3, dead: 1, holds: ["fleet"])
        state.outbox = .init(behind: 4, oldest: nil, dropped: 2)
        state.desired = 9
        // The host's clock is a minute behind.
        roster.apply(state: state.bytes, of: "till-1", storedAt: at(60))
        return roster
    }()

    @Test func `a host is said with its word, its report and its place`() throws {
        let host = try #require(Self.roster["till-1"])
        let presence = HostPresence(
            .silent, since: at(100), hostSince: at(40), why: "its lease ran out", reason: "lease", isPresumed: true,
            lastSeen: at(90))
        let found = try Self.members { json in json.object { $0.members(of: host, presence, quiet: "stocktaking") } }
        let grounds = JSONValue.object(["since": .string(at(100).description), "why": .string("its lease ran out")])
        let expected: [String: JSONValue] = [
            "host": .string("till-1"), "name": .string("Till 1"), "word": .string("silent"),
            "state": .string(HostWord.silent.shown), "since": .string(at(100).description),
            "host_since": .string(at(40).description), "reason": .string("lease"),
            "why": .string("its lease ran out"), "presumed": grounds, "confirmed": .null,
            "last_seen": .string(at(90).description), "class": .string("wifi"),
            "labels": .object(["site": .string("berlin-7")]), "groups": .array([.string("tills")]),
            "address": .null, "gateway": .string("192.0.2.1"), "source": .string("192.0.2.0/24"),
            "version": .string("1.2.3"), "behind": .integer(4), "dropped": .integer(2),
            "queue_waiting": .integer(3), "queue_held": .array([.string("fleet")]), "desired": .integer(9),
            "clock_offset_ms": .integer(60_000), "quiet": .string("stocktaking"), "retired": .null,
        ]
        #expect(found == expected)
    }

    @Test
    func
        `a host that hung up is known to have gone then, and any other went before its renewal or its connection's end`()
        throws
    {
        func vagueness(_ isUp: Bool, _ seconds: Double, _ reason: String? = nil, start: Double = 10) -> Duration? {
            var roster = Self.roster
            let advisory = ConnectionAdvisory(
                isUp: isUp, time: at(seconds), start: at(start), user: "K", address: nil, reason: reason)
            #expect(roster.apply(advisory) == "till-1")
            return roster["till-1"]?.vagueness
        }
        #expect(Self.roster["till-1"]?.vagueness == .seconds(120))
        #expect(vagueness(false, 70) == .zero)
        // Its state came later, or there is one.
        #expect(vagueness(false, 50) == .seconds(120))
        // Where the server ended the connection, it went before that.
        #expect(vagueness(false, 70, "Stale Connection") == .seconds(10))
        #expect(vagueness(false, 300, "Stale Connection") == .seconds(120))
        #expect(vagueness(true, 70, start: 70) == .seconds(120))
    }

    @Test func `the grounds of a word are presumed or confirmed, and an unseen host has none`() throws {
        let host = try #require(Self.roster["till-1"])
        func grounds(_ presence: HostPresence) throws -> [Bool] {
            let found = try Self.members { json in json.object { $0.members(of: host, presence) } }
            return ["presumed", "confirmed"].map { found[$0] != .null }
        }
        #expect(try grounds(HostPresence(.here, isPresumed: true)) == [true, false])
        #expect(try grounds(HostPresence(.here)) == [false, true])
        #expect(try grounds(HostPresence(.unseen)) == [false, false])
    }

    @Test func `an event is said with the engine's time, and the host's where that differs`() throws {
        let sent = Instant(wall: at(0), boot: BootTime(nanoseconds: 5_000_000_000))
        let line = """
            {"v":1,"type":"wake","time":"\(at(-1))","boottime_ns":4000000000,"slept_ms":7,"log":"logA","n":3}
            """
        let chunk = EventChunk(
            log: "logA", first: 3, last: 3, boot: "b", eventBoot: "b", sent: sent, lines: [Array(line.utf8)])
        func event(storedAt time: Timestamp) throws -> [String: JSONValue] {
            var timeline = FleetTimeline()
            let events = timeline.apply(
                subject: FleetNames.eventSubject(of: "till-1"), headers: chunk.headers(expecting: 0),
                payload: chunk.payload, storedAt: time, sequence: 9)
            let event = try #require(events.first)
            return try Self.members { $0.timelineEvent(event) }
        }
        var found = try event(storedAt: at(60))
        #expect(found.removeValue(forKey: "event")?["slept_ms"]?.integer == 7)
        let expected: [String: JSONValue] = [
            "v": .integer(1), "type": .string("fleet-event"), "host": .string("till-1"), "log": .string("logA"),
            "n": .integer(3), "time": .string(at(59).description), "host_time": .string(at(-1).description),
            "clock": .string("engine"), "stored": .string(at(60).description), "sequence": .integer(9),
        ]
        #expect(found == expected)
        #expect(try event(storedAt: at(1))["host_time"] == .null)
    }
}
