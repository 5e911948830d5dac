import ReachCore
import ReachFleet
import Testing

@Suite struct FleetHistoryTests {
    private let engine = EngineFacts(now: at(1000))

    /// - Parameter clock: What the host's clock shows; the right time without it.
    private func status(
        _ word: String, _ seconds: Double, of host: String, n: Int, target: String = "internet", reason: String? = nil,
        clock: Double? = nil, isHostClock: Bool = false
    ) throws -> TimelineEvent {
        let reasonText = reason.map { "\"\($0)\"" } ?? "null"
        let line = """
            {"v":1,"type":"change","log":"l1","n":\(n),"time":"\(at(clock ?? seconds))","boottime_ns":\(Int(seconds * 1e9)),\
            "cause":"neighbour","status":{"target":"\(target)","status":"\(word)","class":"wifi","reason":\(reasonText)}}
            """
        let sent = Instant(wall: at(clock ?? seconds), boot: BootTime(nanoseconds: Int64(seconds * 1e9)))
        let chunk = EventChunk(
            log: "l1", first: UInt64(n), last: UInt64(n), boot: "b", eventBoot: isHostClock ? nil : "b", sent: sent,
            lines: [Array(line.utf8)])
        var timeline = FleetTimeline()
        let events = timeline.apply(
            subject: FleetNames.eventSubject(of: host), headers: chunk.headers(expecting: 0), payload: chunk.payload,
            storedAt: at(seconds), sequence: 1)
        return try #require(events.first)
    }

    private func state(_ host: String, time: Double) -> [UInt8] {
        var state = HostState(
            host: host, version: "1", written: Instant(wall: at(time), boot: BootTime(nanoseconds: 1)), boot: "b",
            lease: .seconds(120))
        state.labels = ["site": "a"]
        state.status = HostStatus(.reachable, linkClass: .wifi, since: at(time))
        return state.bytes
    }

    private func roster(_ count: Int, leaseAt time: Double) -> Roster {
        var roster = Roster()
        for index in 0..<count {
            let host = "h\(index)"
            roster.apply(listed: host, key: "K\(index)")
            roster.apply(state: state(host, time: time), of: host, storedAt: at(time))
            let lease = HostLease(boot: "b", n: 1, since: at(time), behind: 0)
            roster.apply(lease: lease.bytes, of: host, storedAt: at(time))
        }
        return roster
    }

    private func advisory(_ index: Int, _ isUp: Bool, _ seconds: Double) -> ConnectionAdvisory {
        ConnectionAdvisory(
            isUp: isUp, time: at(seconds), start: at(isUp ? seconds : 1), user: "K\(index)",
            address: IPAddress("203.0.113.\(index + 1)"), reason: isUp ? nil : "Stale Connection")
    }

    @Test func `connections that end together are an outage before the hosts say a word`() throws {
        var roster = roster(8, leaseAt: 900)
        var history = FleetHistory(since: at(0))
        for index in 0..<7 {
            let ended = advisory(index, false, 950 + Double(index) * 0.1)
            roster.apply(ended)
            history.apply(ended, of: "h\(index)")
        }
        let page = FleetPage(roster, history, engine)
        #expect(
            page.outages.map(\.line) == [
                "7 of 7 hosts behind 203.0.113.0/24 silent since 03:15:00, or up to 50 s later"
            ])
        #expect(page.hosts[0].presence.word == .silent && page.engineNotes == [])
        roster.apply(state: [0], of: "h0", storedAt: at(960))
        let notes = FleetPage(roster, history, engine).engineNotes
        #expect(notes.count == 1 && notes.first?.hasPrefix("1 entries cannot be read, the last: state of h0") == true)
        #expect(page.hosts[0].timeline.map(\.what) == ["connection ended"])
        #expect(page.hosts[7].presence.word == .here)
    }

    @Test func `what the hosts report when they are back replaces it`() throws {
        let roster = roster(6, leaseAt: 990)
        var history = FleetHistory(since: at(0))
        for index in 0..<6 {
            history.apply(advisory(index, false, 500), of: "h\(index)")
            history.apply(advisory(index, true, 810), of: "h\(index)")
            let host = "h\(index)"
            history.apply(try status("not-reachable", 440, of: host, n: 1, reason: "gateway-unreachable"))
            history.apply(try status("reachable", 800, of: host, n: 2))
        }
        let page = FleetPage(roster, history, engine)
        #expect(
            page.outages.map(\.line) == [
                "6 of 6 hosts behind 203.0.113.0/24 not reachable from 03:07:20, within 1 s: the gateway does not answer; "
                    + "all back by 03:13:20"
            ])
        #expect(
            page.hosts[0].timeline.map(\.what)
                == [
                    "internet not reachable over wifi (gateway-unreachable); cause: neighbour", "connection ended",
                    "internet reachable over wifi; cause: neighbour", "connected",
                ])
        #expect(page.hosts[0].timeline[0].why == "the gateway does not answer")
    }

    @Test func `hosts whose lease ran out went away, also where the server reports no connections`() {
        let page = FleetPage(roster(6, leaseAt: 100), FleetHistory(since: at(0)), engine)
        #expect(page.outages.map(\.members.count) == [6])
        #expect(page.hosts.allSatisfy { $0.presence.word == .silent })
    }

    @Test func `a wrong clock is shown, and does not decide about outages`() throws {
        var history = FleetHistory(since: at(0))
        history.apply(try status("not-reachable", 500, of: "h0", n: 1, clock: 90_000))
        history.apply(try status("not-reachable", 90_000, of: "h1", n: 1, isHostClock: true))
        history.apply(try status("not-reachable", 500, of: "h2", n: 2, clock: 500.5))
        #expect(history.timeline(of: "h0").map(\.hostTime) == [at(90_000)])
        #expect(history.timeline(of: "h1").map(\.isHostClock) == [true])
        #expect(history.timeline(of: "h2").map(\.hostTime) == [nil])
        #expect(history.absences(of: roster(3, leaseAt: 990), engine).map(\.member) == [0, 2])
    }

    @Test func `the newest events of a host are kept, whatever the order they come in`() throws {
        var history = FleetHistory(since: at(0))
        for n in (1...500).reversed() {
            history.apply(try status("reachable", Double(n), of: "h", n: n))
        }
        #expect(history.timeline(of: "h").map(\.time) == (461...500).map { at(Double($0)) })
        #expect(history.timeline(of: "stranger").isEmpty)
    }

    @Test func `hosts that said goodbye are no outage`() {
        var roster = roster(4, leaseAt: 900)
        var history = FleetHistory(since: at(0))
        for index in 0..<4 {
            let end = ConnectionAdvisory(
                isUp: false, time: at(950), start: at(1), user: "K\(index)", address: IPAddress("203.0.113.9"),
                reason: "Client Closed")
            history.apply(end, of: "h\(index)")
            roster.apply(end)
            var state = HostState(
                host: "h\(index)", version: "1", written: Instant(wall: at(950), boot: BootTime(nanoseconds: 1)),
                boot: "b",
                lease: .seconds(120))
            state.labels = ["site": "a"]
            state.left = at(950)
            roster.apply(state: state.bytes, of: "h\(index)", storedAt: at(950))
        }
        let absences = history.absences(of: roster, engine)
        #expect(absences.count == 4)
        #expect(OutageFinder.find(absences, among: history.members(of: roster)) == [])
    }

    @Test func `hosts that closed their connections and said nothing are an outage while they are away`() {
        // For longer than a lease and reconnecting take.
        let engine = EngineFacts(now: at(1101))
        var roster = roster(4, leaseAt: 900)
        var history = FleetHistory(since: at(0))
        for index in 0..<4 {
            let end = ConnectionAdvisory(
                isUp: false, time: at(950), start: at(1), user: "K\(index)", reason: "Client Closed")
            history.apply(end, of: "h\(index)")
            roster.apply(end)
        }
        let found = OutageFinder.find(history.absences(of: roster, engine), among: history.members(of: roster))
        #expect(found.count == 1)
        #expect(found.first?.extent.affected == 4)
    }

    @Test func `what was left out is not known, until the window has passed it`() throws {
        let engine = EngineFacts(now: at(90_000))
        var history = FleetHistory(since: at(10_000))
        #expect(history.known == at(10_000))
        history.leaveOut(before: at(50_000))
        history.apply(advisory(1, true, 5), of: "h1")
        // Events from before that time may come late, from a host that was away.
        history.apply(try status("not-reachable", 40_000, of: "h0", n: 1))
        history.apply(try status("reachable", 41_000, of: "h0", n: 2))
        var page = FleetPage(roster(2, leaseAt: 89_990), history, engine)
        #expect(page.known == at(50_000) && page.isCut)
        #expect(page.hosts[0].timeline.count == 2)
        // The strip begins at 3,600 s. Until 50,000 s it has 25 whole cells of half an hour.
        #expect(page.strips[1] == String(repeating: "3", count: 25) + String(repeating: "0", count: 23))
        history.forget(before: at(60_000))
        page = FleetPage(roster(2, leaseAt: 89_990), history, engine)
        #expect(page.known == at(60_000) && !page.isCut)
    }

    @Test func `that a connection begins says nothing about the time before`() throws {
        let engine = EngineFacts(now: at(90_000))
        var (roster, history) = (roster(2, leaseAt: 89_990), FleetHistory(since: at(3_600)))
        for (index, first) in [(0, 1), (1, 50)] {
            history.apply(try status("reachable", 80_001, of: "h\(index)", n: first))
            let connected = advisory(index, true, 80_000)
            roster.apply(connected)
            history.apply(connected, of: "h\(index)")
        }
        let page = FleetPage(roster, history, engine)
        #expect(page.hosts.map(\.known) == [at(80_000), at(80_000)])
        // 76,400 s after the strip's begin: 42 whole cells.
        #expect(page.strips[0] == String(repeating: "3", count: 42) + String(page.strips[0]?.suffix(6) ?? ""))
        #expect(page.strips[1] == page.strips[0])
    }

    @Test func `another target than the Internet is named, and its trouble is no absence`() throws {
        var history = FleetHistory(since: at(0))
        history.apply(try status("not-reachable", 5, of: "h0", n: 1, target: "till-server"))
        #expect(history.timeline(of: "h0").map(\.what) == ["till-server not reachable over wifi; cause: neighbour"])
        #expect(history.timeline(of: "h0").map(\.word) == [.limited])
        #expect(history.absences(of: roster(1, leaseAt: 990), engine).isEmpty)
    }

    @Test func `a host that reports more than any host should does not use up the reader's memory`() throws {
        var roster = roster(8, leaseAt: 900)
        var history = FleetHistory(since: at(0))
        // The host of the flood, and an outage of the seven others.
        for index in 0..<20_000 { history.apply(advisory(7, index % 2 == 0, Double(index) * 0.01), of: "h7") }
        #expect(history.evidenceCount < 2 * PresenceRecord.limit + 100)
        #expect(history.eventCount < 2 * FleetHistory.eventsOfHost)
        for index in 0..<7 {
            let ended = advisory(index, false, 950 + Double(index) * 0.1)
            roster.apply(ended)
            history.apply(ended, of: "h\(index)")
        }
        let page = FleetPage(roster, history, engine)
        #expect(page.outages.contains { $0.members.count == 7 }, "\(page.outages.map(\.line))")
    }
}
