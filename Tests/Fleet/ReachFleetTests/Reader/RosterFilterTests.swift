import ReachCore
import ReachFleet
import ReachTesting
import Testing

@Suite struct RosterFilterTests {
    private static func included(_ filter: RosterFilter, linkClass: LinkClass? = .wifi) throws -> [HostWord] {
        var roster = Roster()
        var state = HostState(
            host: "a", version: "1", written: Instant(wall: at(0), boot: BootTime(nanoseconds: 0)), boot: "b",
            lease: .seconds(120))
        state.status = linkClass.map { HostStatus(.reachable, linkClass: $0, since: at(0)) }
        roster.apply(state: state.bytes, of: "a", storedAt: at(0))
        let host = try #require(roster["a"])
        return HostWord.allCases.filter { filter.includes(host, HostPresence($0)) }
    }

    @Test func `a filter includes the hosts that fulfil each of its parts`() throws {
        #expect(RosterFilter().isEmpty)
        #expect(try Self.included(RosterFilter()) == HostWord.allCases)
        var filter = RosterFilter()
        filter.isOffline = true
        #expect(!filter.isEmpty)
        #expect(try Self.included(filter) == [.silent, .left, .unseen])
        filter = RosterFilter()
        filter.linkClass = .wifi
        #expect(!filter.isEmpty)
        #expect(try Self.included(filter) == HostWord.allCases)
        #expect(try Self.included(filter, linkClass: .wired) == [])
        #expect(try Self.included(filter, linkClass: nil) == [])
        filter = RosterFilter()
        filter.query = try HostQuery("state=silent")
        #expect(!filter.isEmpty)
        #expect(try Self.included(filter) == [.silent])
        filter.linkClass = .wired
        #expect(try Self.included(filter) == [])
    }

    @Test func `the totals count each word, in their order`() {
        var totals = RosterTotals()
        #expect(totals.sentence == "0 hosts")
        totals.add(HostPresence(.silent))
        #expect(totals.sentence == "1 host: 1 silent")
        for word in [.here, .here, .unseen] as [HostWord] { totals.add(HostPresence(word)) }
        #expect(totals.total == 4 && totals.sentence == "4 hosts: 2 online, 1 silent, 1 unseen")
    }

    @Test func `a reader sees each change of a word once, and none before the beginning or of a retired host`() throws {
        var watch = FleetWatchState(engine: EngineFacts(now: at(0)))
        func state(_ host: String) -> [UInt8] {
            HostState(
                host: host, version: "1", written: Instant(wall: at(0), boot: BootTime(nanoseconds: 0)), boot: "b",
                lease: .seconds(120)
            ).bytes
        }
        func lease(_ seconds: Double) -> FleetWatchState.Change? {
            watch.apply(
                lease: HostLease(boot: "b", n: 0, since: at(0), behind: 0).bytes, of: "a", storedAt: at(seconds))
        }
        #expect(watch.apply(state: state("a"), of: "a", storedAt: at(0)) == nil)
        #expect(lease(0) == nil)
        #expect(watch.tick(at(1)) == [])
        let totals = watch.begin()
        #expect(totals.total == 1 && watch.isReady)
        let word = try #require(HostWord.allCases.first { totals.counts[$0] == 1 })
        #expect(lease(1) == nil && watch.tick(at(2)) == [])
        let gone = watch.tick(at(10_000))
        #expect(gone.map(\.previous) == [word] && gone.map(\.presence.word) == [.silent])
        #expect(watch.tick(at(10_001)) == [])
        #expect(lease(10_001)?.previous == .silent)
        // One that was not known before.
        #expect(watch.apply(state: state("c"), of: "c", storedAt: at(10_001)).map { $0.previous } == .some(nil))
        let note = HostNote(retired: at(10_002)).bytes
        #expect(watch.apply(noteKey: "host.a", note, storedAt: at(10_002)) == "a")
        #expect(lease(10_002) == nil && watch.tick(at(10_002)) == [])
        #expect(watch.apply(noteKey: "host.a", HostNote().bytes, storedAt: at(10_002)) == nil)
        #expect(watch.apply(noteKey: "key.K", nil, storedAt: at(10_002)) == nil)
        // It is known again, as a new one.
        #expect(lease(10_003)?.previous == .some(nil))
    }

    @Test func `the words that a reader follows are those of all hosts at each second`() throws {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<20 {
            var facts = EngineFacts(now: at(0), leaseAge: random.oneIn(2) ? .seconds(90) : nil)
            facts.started = random.oneIn(2) ? at(-200) : nil
            var watch = FleetWatchState(engine: facts)
            for host in 0..<6 { watch.apply(listed: "h\(host)", HostList.Entry(host: "h\(host)", key: "K\(host)")) }
            var words: [String: HostWord] = [:]
            _ = watch.begin()
            for host in watch.roster.hosts { words[host.id] = host.presence(watch.engine).word }
            for second in 1..<1200 {
                for _ in 0..<(random.oneIn(15) ? 1 : 0) {
                    if let change = Self.disturb(&watch, Double(second) - 0.3, &random) {
                        words[change.host.id] = change.presence.word
                    }
                }
                if second == 500, random.oneIn(2) {
                    watch.reconnected(started: at(500))
                    watch.engine.now = at(500)
                }
                for change in watch.tick(at(Double(second))) { words[change.host.id] = change.presence.word }
                let now = Dictionary(
                    uniqueKeysWithValues: watch.roster.hosts.map { ($0.id, $0.presence(watch.engine).word) })
                #expect(words == now, "second \(second)")
                guard words == now else { return }
            }
        }
    }

    /// Something comes from a host.
    private static func disturb(
        _ watch: inout FleetWatchState, _ second: Double, _ random: inout SeededGenerator
    ) -> FleetWatchState.Change? {
        let number = Int.random(in: 0..<6, using: &random)
        let host = "h\(number)"
        watch.engine.now = at(second)
        switch Int.random(in: 0..<5, using: &random) {
        case 0:
            var state = HostState(
                host: host, version: "1", written: Instant(wall: at(second), boot: BootTime(nanoseconds: 0)), boot: "b",
                lease: .seconds(random.pick([10, 30, 120])))
            state.left = random.oneIn(5) ? at(second) : nil
            state.status = HostStatus(.reachable, connectivity: .full, since: at(second))
            return watch.apply(state: state.bytes, of: host, storedAt: at(second))
        case 1:
            let type = random.oneIn(2) ? "client_connect" : "client_disconnect"
            let advisory = """
                {"type":"io.nats.server.advisory.v1.\(type)","timestamp":"\(at(second))",\
                "client":{"start":"\(at(second - 5))","user":"K\(number)"},"reason":"Stale Connection"}
                """
            return watch.apply(advisory: Array(advisory.utf8))
        case 2: return watch.apply(lease: nil, of: host, storedAt: at(second), isExpired: random.oneIn(2))
        default:
            return watch.apply(
                lease: HostLease(boot: "b", n: 0, since: at(second), behind: 0).bytes, of: host, storedAt: at(second))
        }
    }

    @Test func `a host that was silent before a restart stays so, although all others have renewed since`() {
        var roster = Roster()
        for (host, renewed) in [("gone", 0.0), ("here", 640)] {
            roster.apply(listed: host, key: "K\(host)")
            let lease = HostLease(boot: "b", n: 0, since: at(renewed), behind: 0)
            roster.apply(lease: lease.bytes, of: host, storedAt: at(renewed))
            let state = HostState(
                host: host, version: "1", written: Instant(wall: at(renewed), boot: BootTime(nanoseconds: 0)),
                boot: "b",
                lease: .seconds(30))
            roster.apply(state: state.bytes, of: host, storedAt: at(renewed))
        }
        var engine = EngineFacts(now: at(650), started: at(630))
        engine.noteLastWord(in: roster)
        // Nobody knows when the server stopped.
        #expect(roster["gone"]?.presence(engine).reason == "engine-restart")
        // A reader's connection, which is no host's.
        roster.apply(ConnectionAdvisory(isUp: true, time: at(600), start: at(600), user: "KR", server: "a"))
        engine.noteLastWord(in: roster)
        #expect(roster["gone"]?.presence(engine).word == .silent)
        #expect(roster["here"]?.presence(engine).word != .silent)
    }

    @Test func `a host that is retired or shown again leaves the others as they are`() throws {
        var roster = Roster()
        for host in ["a", "b", "c"] { roster.apply(listed: host, key: "K\(host)") }
        func note(_ host: String, _ retired: Timestamp?) {
            roster.apply(note: HostNote(retired: retired).bytes, of: host)
        }
        func keys() -> [String?] { ["a", "b", "c"].map { roster[$0]?.key } }
        note("a", at(1))
        #expect(roster.hosts.map(\.id) == ["c", "b"] && roster.retired.map(\.id) == ["a"])
        for host in ["a", "b", "c"] { roster.apply(listed: host, key: "L\(host)") }
        #expect(keys() == ["La", "Lb", "Lc"] && roster.hosts.map(\.key) == ["Lc", "Lb"])
        note("a", at(2))
        #expect(roster.hosts.map(\.id) == ["c", "b"] && roster["a"]?.retired == at(2))
        note("a", nil)
        #expect(roster.hosts.map(\.id) == ["c", "b", "a"] && roster.retired == [])
        roster.apply(listed: "a", key: "M")
        #expect(roster.hosts.map(\.key) == ["Lc", "Lb", "M"] && roster.host(withKey: "M") == "a")
        note("a", at(3))
        #expect(roster.hosts.map(\.id) == ["c", "b"] && keys() == ["M", "Lb", "Lc"])
    }

    @Test func `what is no event of a known host is counted, and shown to no one`() {
        var timeline = FleetTimeline()
        let moment = Instant(wall: at(0), boot: BootTime(nanoseconds: 5))
        let chunk = EventChunk(log: "l", first: 1, last: 2, boot: "b", sent: moment, lines: [Array("{}".utf8)])
        func apply(_ subject: String, _ headers: [HeaderField]) -> Int {
            let events = timeline.apply(
                subject: subject, headers: headers, payload: chunk.payload, storedAt: at(1), sequence: 1)
            #expect(events == [])
            return timeline.damaged
        }
        let subject = FleetNames.eventSubject(of: "a")
        #expect(apply("other.a", chunk.headers(expecting: 0)) == 1)
        #expect(apply(FleetNames.eventSubject(of: "a b"), chunk.headers(expecting: 0)) == 2)
        #expect(apply(subject, []) == 3)
        #expect(apply(subject, chunk.headers(expecting: 0)) == 4)
    }

    @Test func `a new host is online at once, whichever of its state and its lease arrives first`() throws {
        for leaseFirst in [false, true] {
            var watch = FleetWatchState(engine: EngineFacts(now: at(0)))
            _ = watch.begin()
            var state = HostState(
                host: "a", version: "1", written: Instant(wall: at(1), boot: BootTime(nanoseconds: 0)), boot: "b",
                lease: .seconds(120))
            state.status = HostStatus(.reachable, linkClass: .wifi, connectivity: .full, since: at(0))
            var changes: [FleetWatchState.Change?] = []
            for isLease in [leaseFirst, !leaseFirst] {
                changes.append(
                    isLease
                        ? watch.apply(
                            lease: HostLease(boot: "b", n: 0, since: at(1), behind: 0).bytes, of: "a", storedAt: at(1))
                        : watch.apply(state: state.bytes, of: "a", storedAt: at(1)))
            }
            let seen = changes.compactMap(\.self).map(\.presence.word)
            #expect(seen == [.here], "lease first: \(leaseFirst)")
        }
    }
}
