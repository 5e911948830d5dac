import ReachCore
import ReachTesting
import Testing

@testable import ReachControl

@Suite struct StatusReadingTests {
    private let moment = Instant(
        wall: Timestamp(nanosecondsSince1970: 1_795_230_600_123_456_000), boot: BootTime(nanoseconds: 93_600))

    private func json(_ state: ReachabilityState) throws -> JSONValue {
        var writer = JSONWriter()
        writer.status(state, source: .daemon, at: moment.wall, moment.boot)
        return try JSONReader.read(writer.bytes)
    }

    private func changing(_ state: ReachabilityState, _ key: String, to value: JSONValue?) throws -> JSONValue {
        var members = try #require(try json(state).object)
        members[key] = value
        return .object(members)
    }

    @Test func `a written state is read as the same`() throws {
        var random = SeededGenerator(seed: 17)
        for _ in 0..<2000 {
            let state = random.state()
            #expect(try ReachabilityState(reading: try json(state)) == state)
        }
    }

    @Test func `a written stream is read as the same events`() throws {
        var random = SeededGenerator(seed: 18)
        for _ in 0..<200 {
            var stream = EventStream(source: .daemon)
            var reader = EventStreamReader()
            var state = random.state()
            for number in 1...20 as ClosedRange<UInt64> {
                let previous = number == 1 ? nil : state
                if number > 1 { state = random.state(of: state.target) }
                let change = ReachabilityChange(
                    at: moment, cause: random.pick(Cause.allCases),
                    aspects: previous == nil ? [] : [random.pick(ReachabilityChange.Aspect.allCases)],
                    previous: previous, state: state)
                let event = try reader.read(try JSONReader.read(stream.change(change)))
                let expected = change.numbered(number)
                #expect(event == (number == 1 ? .snapshot(expected) : .target(.change(expected))))
            }
        }
    }

    @Test func `a root cause that this version does not know is none, and an older daemon has none`() throws {
        var state = ReachabilityState(target: .internet, since: moment.wall)
        state.rootCause = RootCause(.noCarrier, interface: "eth0")
        #expect(try ReachabilityState(reading: changing(state, "root_cause", to: .string("gremlins"))).rootCause == nil)
        #expect(try ReachabilityState(reading: changing(state, "root_cause", to: nil)).rootCause == nil)
        #expect(throws: StatusReadingError(key: "root_cause")) {
            try ReachabilityState(reading: changing(state, "root_cause", to: .integer(1)))
        }
    }

    @Test func `events without a state are read`() throws {
        var stream = EventStream(source: .daemon)
        var reader = EventStreamReader()
        func read(_ line: [UInt8]) throws -> StreamEvent { try reader.read(try JSONReader.read(line)) }
        #expect(try read(stream.resync(reason: "x", at: moment)) == .target(.resync(moment, reason: "x")))
        let slept = Duration.milliseconds(1500)
        #expect(try read(stream.wake(slept: slept, at: moment)) == .target(.wake(moment, slept: slept)))
        #expect(try read(stream.dropped(count: 9, at: moment)) == .dropped(moment, count: 9))
        let later = try JSONReader.read(
            Array(#"{"v":1,"type":"probe","seq":4,"time":"2026-11-21T03:10:00Z","boottime_ns":1,"url":"x"}"#.utf8))
        guard case .other(_, "probe", later) = try reader.read(later) else {
            Issue.record("no event of another type")
            return
        }
    }

    @Test func `the previous state is a summary if the reader does not know the rest`() throws {
        var stream = EventStream(source: .daemon)
        var reader = EventStreamReader()
        var (before, after) = (ReachabilityState.reachable(.internet), ReachabilityState.reachable(.internet))
        before.interface = "wlan0"
        before.linkClass = .wifi
        after.flaps = 1
        let change = ReachabilityChange(at: moment, cause: .name, aspects: [.path], previous: before, state: after)
        guard case .target(.change(let read)) = try reader.read(try JSONReader.read(stream.change(change))) else {
            Issue.record("no change")
            return
        }
        #expect(read.previous?.interface == "wlan0" && read.previous?.linkClass == .wifi)
        #expect(read.previous?.ipv4 == .unknown)
    }

    @Test func `unknown words of a newer daemon get the weakest meaning, and unknown keys are skipped`() throws {
        let state = ReachabilityState.reachable(.internet)
        func read(_ key: String, _ value: JSONValue?) throws -> ReachabilityState {
            try ReachabilityState(reading: try changing(state, key, to: value))
        }
        #expect(try read("mood", .object([:])) == state)
        #expect(try read("status", .string("likely")).status == .unknown)
        #expect(try read("class", .string("starlight")).linkClass == .other)
        #expect(try read("reason", .string("eclipse")).reason == nil)
        #expect(try read("connectivity", .string("odd")).connectivity == .unknown)
        // An older daemon does not write these keys.
        #expect(try read("held", nil).isHeld == false)
        #expect(try read("flaps", nil).flaps == 0)
        #expect(try read("connectivity", nil).connectivity == .unknown)
    }

    @Test(
        arguments: [
            ("target", JSONValue.integer(1), "target"), ("target", .string("-"), "target"), ("target", nil, "target"),
            ("status", nil, "status"), ("status", .bool(true), "status"), ("interface", .integer(2), "interface"),
            ("metered", .string("no"), "metered"), ("metered", nil, "metered"), ("since", .string("now"), "since"),
            ("epoch", .integer(-1), "epoch"), ("epoch", .double(1.5), "epoch"), ("epoch", nil, "epoch"),
            ("flaps", .string("3"), "flaps"), ("ipv4", nil, "ipv4"), ("ipv4", .string(""), "ipv4"),
            ("ipv4", .object([:]), "ipv4.status"),
            ("ipv6", .object(["status": .string("reachable"), "gateway": .string("x")]), "ipv6.gateway"),
            ("ipv6", .object(["status": .string("reachable"), "table": .integer(1 << 32)]), "ipv6.table"),
            ("ipv6", .object(["status": .string("reachable"), "lower": .array([.integer(1)])]), "ipv6.lower"),
            ("ipv6", .object(["status": .string("reachable"), "class": .integer(1)]), "ipv6.class"),
        ] as [(String, JSONValue?, String)])
    func `a wrong type is an error that names the key`(key: String, value: JSONValue?, fault: String) throws {
        let status = try changing(.reachable(.internet), key, to: value)
        #expect(throws: StatusReadingError(key: fault)) { try ReachabilityState(reading: status) }
    }
}

extension SeededGenerator {
    fileprivate mutating func state() -> ReachabilityState {
        let texts = [
            "internet", "host.example", "192.0.2.1", "fe80::1%eth0", "interface:eth0", "192.0.2.0/24",
            "http://[::1]:80/",
        ]
        guard let target = try? Target(pick(texts)) else { fatalError("no target") }
        return state(of: target)
    }

    fileprivate mutating func state(of target: Target) -> ReachabilityState {
        let microseconds = Int64.random(in: 0...4_000_000_000_000_000, using: &self)
        var state = ReachabilityState(target: target, since: Timestamp(nanosecondsSince1970: microseconds * 1000))
        state.status = pick(ReachabilityStatus.allCases)
        state.reason = oneIn(2) ? pick(Reason.allCases) : nil
        state.rootCause =
            oneIn(2) ? RootCause(pick(RootCause.Kind.allCases), interface: oneIn(2) ? "w\"l\\an" : nil) : nil
        state.linkClass = oneIn(2) ? pick(LinkClass.allCases) : nil
        state.interface = oneIn(2) ? pick(["eth0", "w\"l\\an", "é\u{1b}"]) : nil
        state.isMetered = oneIn(2)
        state.connectivity = pick(Connectivity.allCases)
        state.connectivityReason = oneIn(2) ? .nameNotResolved : nil
        state.isValidated = oneIn(2)
        state.measuresQuality = oneIn(2)
        state.portal = oneIn(2) ? nil : "http://login.example/?\"\u{7}"
        state.portalSession = oneIn(2) ? portalSession() : nil
        state.epoch = UInt64.random(in: 0...UInt64(Int64.max), using: &self)
        state.isStale = oneIn(2)
        state.isHeld = oneIn(2)
        state.heldCause = oneIn(2) ? RootCause(.noCarrier, interface: "eth0") : nil
        state.name = oneIn(2) ? "office \"é" : nil
        state.flaps = Int.random(in: 0...100, using: &self)
        state.ipv4 = path()
        state.ipv6 = path()
        return state
    }

    private mutating func portalSession() -> PortalSession {
        var session = PortalSession(interface: pick(["eth0", "w\"l\\an"]), isCaptive: oneIn(2))
        session.userPortalURL = oneIn(2) ? "https://login.example/?\"" : nil
        session.venueInfoURL = oneIn(2) ? "https://venue.example/" : nil
        // Whole seconds are written.
        let seconds = Int64.random(in: 0...PortalSession.longestSeconds, using: &self)
        session.end = oneIn(2) ? BootTime(nanoseconds: 93_600 + seconds * 1_000_000_000) : nil
        session.bytesRemaining = oneIn(2) ? Int64.random(in: 0...Int64.max, using: &self) : nil
        session.canExtend = pick([true, false, nil])
        session.isEnding = oneIn(2)
        return session
    }

    private mutating func path() -> NetworkPath {
        var path = NetworkPath(
            status: pick(ReachabilityStatus.allCases), reason: oneIn(2) ? pick(Reason.allCases) : nil)
        guard oneIn(2) else { return path }
        path.interfaceIndex = Int32.random(in: 1...Int32.max, using: &self)
        path.interface = oneIn(4) ? nil : "eth0"
        path.linkClass = oneIn(4) ? nil : pick(LinkClass.allCases)
        path.carrierClass = oneIn(2) ? nil : pick(LinkClass.allCases)
        path.lower = oneIn(2) ? [] : ["eth1", "eno1"]
        path.gateway = oneIn(2) ? nil : IPAddress(ipv4: UInt32.random(in: 0 ... .max, using: &self))
        path.source = oneIn(2) ? nil : IPAddress(ipv6: next(), next())
        path.table = oneIn(2) ? nil : UInt32.random(in: 0 ... .max, using: &self)
        path.metric = oneIn(2) ? nil : UInt32.random(in: 0 ... .max, using: &self)
        path.neighbour =
            oneIn(2) ? nil : pick([NeighbourState.none, .incomplete, .reachable, .stale, .failed, .permanent])
        path.isMetered = oneIn(2)
        path.meteredReason = oneIn(2) ? pick(MeteredReason.allCases) : nil
        path.network = oneIn(2) ? pick(["office", "net-0123456789abcdef"]) : nil
        path.isTrusted = path.network != nil && oneIn(2)
        path.traits.alternativeNames = oneIn(2) ? [] : ["enp3s0", "uplink"]
        path.accessPoint = oneIn(2) ? HardwareAddress("02:00:00:00:00:ff") : nil
        path.connectivity = pick(Connectivity.allCases)
        let times: [Duration?] = [nil, .microseconds(7), .seconds(2)]
        path.quality =
            oneIn(2)
            ? nil
            : LineQuality(
                pick(LineQuality.Word.allCases), lossPermille: Int.random(in: 0...1000, using: &self),
                roundTrip: pick(times), jitter: pick(times), packets: Int.random(in: 0...9999, using: &self))
        return path
    }
}
