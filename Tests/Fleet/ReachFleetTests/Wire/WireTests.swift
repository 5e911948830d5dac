import ReachCore
import ReachFleet
import ReachTesting
import Testing

private let host = "0123456789abcdef0123456789abcdef"
private let moment = Instant(
    wall: Timestamp(nanosecondsSince1970: 1_795_000_000_123_456_000), boot: BootTime(nanoseconds: 5_000_000_000))

private func line(_ n: Int, log: String = "logA", type: String = "wake", boottime: Int = 4_000_000_000) -> [UInt8] {
    Array(
        """
        {"v":1,"type":"\(type)","time":"2026-11-21T03:10:00.123456Z","boottime_ns":\(boottime),"slept_ms":7,\
        "log":"\(log)","n":\(n)}
        """.utf8)
}

private let status = HostStatus(
    .reachable, linkClass: .wifi, interface: "wlan0", isMetered: true, connectivity: .full, isValidated: true,
    since: moment.wall, epoch: 7, flaps: 2,
    ipv4: .init(
        .reachable, interface: "wlan0", linkClass: .wifi, gateway: IPAddress("192.0.2.1"),
        source: IPPrefix("192.0.2.0/24"), connectivity: .full),
    ipv6: .init(.notReachable, reason: .noRoute))

private func state() -> HostState {
    var state = HostState(host: host, version: "1.2.3", written: moment, boot: "b1", lease: .seconds(120))
    state.name = "Till 3"
    state.labels = ["site": "berlin-7", "isp": "example"]
    state.groups = ["canary"]
    (state.log, state.n) = ("logA", 12)
    state.status = status
    state.targets = ["internet": .reachable]
    state.probesDown = ["web"]
    state.queue = .init(waiting: 3, dead: 1, holds: ["fleet"])
    state.outbox = .init(behind: 4, oldest: moment.wall, dropped: 2)
    state.desired = 9
    return state
}

@Suite struct `The fleet's values` {
    @Test func `a state, a lease and a desired document read back as they were written`() throws {
        #expect(try HostState(state().bytes) == state())
        var left = state()
        left.left = moment.wall
        left.status = nil
        #expect(try HostState(left.bytes) == left)
        var stale = state()
        stale.status?.isStale = true
        #expect(try HostState(stale.bytes) == stale)
        let lease = HostLease(boot: "b1", n: 12, since: moment.wall, behind: 3)
        #expect(try HostLease(lease.bytes) == lease)
        let desired = DesiredState(
            queue: .held, reason: "update", author: "ops", rollout: "r1", fraction: 0.25, until: moment.wall)
        #expect(try DesiredState(desired.bytes) == desired)
        for bytes in [state().bytes, lease.bytes, desired.bytes] {
            #expect(try JSONReader.read(bytes)["v"]?.integer == 1)
        }
    }

    /// Other versions, and other programs, read these bytes.
    @Test func `a state, a lease and a desired document are written as this, whole`() {
        func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
        let time = moment.wall
        var lost = status
        (lost.status, lost.reason, lost.isStale) = (.notReachable, .noRoute, true)
        lost.target = "till-server"
        lost.rootCause = RootCause(.noCarrier, interface: "eth0")
        lost.ipv4.carrierClass = .wwan
        var whole = state()
        whole.status = lost
        whole.left = time
        whole.accepts = ["queue-hold"]
        #expect(
            text(whole.bytes) == """
                {"v":1,"type":"host","host":"\(host)","name":"Till 3","labels":{"isp":"example","site":"berlin-7"},\
                "groups":["canary"],"accepts":["queue-hold"],"version":"1.2.3","time":"\(time)",\
                "boottime_ns":5000000000,"boot":"b1","log":"logA","n":12,"status":{"target":"till-server",\
                "status":"not-reachable","class":"wifi","interface":"wlan0","reason":"no-route",\
                "root_cause":"no-carrier","root_interface":"eth0","metered":true,"connectivity":"full",\
                "validated":true,"since":"\(time)","epoch":7,"stale":true,"flaps":2,"ipv4":{"status":"reachable",\
                "interface":"wlan0","class":"wifi","carrier_class":"wwan","gateway":"192.0.2.1",\
                "source":"192.0.2.0/24","connectivity":"full","reason":null},"ipv6":{"status":"not-reachable",\
                "reason":"no-route"}},"targets":{"internet":"reachable"},"probes":{"down":["web"]},\
                "queue":{"waiting":3,"dead":1,"held":["fleet"]},"outbox":{"behind":4,"oldest":"\(time)","dropped":2},\
                "lease_s":120,"left":"\(time)","desired":9}
                """)
        #expect(
            text(HostLease(boot: "b1", n: 12, since: time, behind: 3).bytes)
                == #"{"v":1,"boot":"b1","n":12,"since":"\#(time)","behind":3}"#)
        let desired = DesiredState(
            queue: .held, reason: "update", author: "ops", rollout: "r1", fraction: 0.25, until: time)
        #expect(
            text(desired.bytes) == """
                {"v":1,"queue":"held","reason":"update","by":"ops","rollout":"r1","fraction":0.25,"until":"\(time)"}
                """)
    }

    @Test func `a state with every member reads back as it was written`() throws {
        var whole = state()
        whole.accepts = ["queue-hold"]
        whole.left = moment.wall
        whole.targets = ["internet": .reachable, "shop": .notReachable, "vpn": .unknown]
        whole.status?.target = "till-server"
        whole.status?.status = .notReachable
        whole.status?.reason = .noRoute
        whole.status?.rootCause = RootCause(.noCarrier, interface: "eth0")
        whole.status?.connectivityReason = .nameNotResolved
        whole.status?.isStale = true
        whole.status?.ipv4.carrierClass = .wwan
        whole.status?.ipv6 = .init(
            .reachable, interface: "eth0", linkClass: .wired, gateway: IPAddress("fe80::1"),
            source: IPPrefix("2001:db8::2/128"), connectivity: .portal)
        #expect(try HostState(whole.bytes) == whole)
        // A whole address is written without its length.
        #expect(String(decoding: whole.bytes, as: UTF8.self).contains(#""source":"2001:db8::2","#))
    }

    @Test func `a text as long as its limit is kept whole, and a longer one is cut at a character's end`() throws {
        for (text, kept) in [(64, 64), (65, 64)] {
            var named = state()
            named.name = String(repeating: "x", count: text)
            #expect(try HostState(named.bytes).name?.utf8.count == kept)
        }
        var named = state()
        named.name = String(repeating: "x", count: 63) + "ä"
        #expect(try HostState(named.bytes).name == String(repeating: "x", count: 63))
    }

    @Test func `a chunk reads back from its headers and its payload`() throws {
        var chunk = EventChunk(
            log: "logA", first: 3, last: 6, boot: "b1", eventBoot: "b1", sent: moment, lines: [line(3), line(5)])
        let read = try EventChunk(headers: chunk.headers(expecting: 41), payload: chunk.payload)
        #expect(read == chunk)
        #expect(chunk.headers(expecting: 41).first == HeaderField("Nats-Expected-Last-Subject-Sequence", "41"))
        let (events, damaged) = read.events()
        #expect(events.map(\.n) == [3, 5])
        #expect(damaged == 0)
        #expect(events.first?.kind == .wake(slept: .milliseconds(7)))
        // The machine has just started.
        chunk.sent = Instant(wall: moment.wall, boot: BootTime(nanoseconds: 0))
        #expect(try EventChunk(headers: chunk.headers(expecting: 41), payload: chunk.payload) == chunk)
        (chunk.mark, chunk.last, chunk.lines) = (99, 2, [])
        #expect(try EventChunk(headers: chunk.headers(expecting: 0), payload: chunk.payload) == chunk)
    }

    @Test func `an event's time is the store's less its age, or the host's if the machine started since`() throws {
        var chunk = EventChunk(
            log: "logA", first: 1, last: 1, boot: "b1", eventBoot: "b1", sent: moment, lines: [line(1)])
        let event = try #require(chunk.events().events.first)
        let stored = Timestamp(nanosecondsSince1970: 2_000_000_000_000_000_000)
        let corrected = chunk.time(of: event, storedAt: stored)
        #expect(corrected.time.nanosecondsSince1970 == 1_999_999_999_000_000_000)
        #expect(!corrected.isHostClock)
        chunk.eventBoot = "b0"
        #expect(chunk.time(of: event, storedAt: stored) == (event.moment.wall, true))
        chunk.eventBoot = nil
        #expect(chunk.time(of: event, storedAt: stored) == (event.moment.wall, true))
    }

    @Test(arguments: ["Reach-Log", "Reach-First", "Reach-Last", "Reach-Boot", "Reach-Sent", "Reach-Sent-Boottime"])
    func `a chunk without a header, or with a bad or a double one, names the header`(name: String) {
        let chunk = EventChunk(log: "logA", first: 3, last: 6, boot: "b1", sent: moment, lines: [line(3)])
        let headers = chunk.headers(expecting: 0)
        var bad = ["", "a b", "a.b", "\u{1b}[2J", String(repeating: "1", count: 65)]
        if name != "Reach-Log" && name != "Reach-Boot" { bad += ["-1", "9223372036854775808"] }
        var damaged = bad.map { value in headers.map { $0.isNamed(name) ? HeaderField(name, value) : $0 } }
        damaged.append(headers.filter { !$0.isNamed(name) })
        damaged.append(headers + headers.filter { $0.isNamed(name) })
        for headers in damaged {
            #expect(throws: WireError.badHeader(name)) { try EventChunk(headers: headers, payload: []) }
        }
    }

    @Test func `a line that is not an event of its chunk is counted and left out`() throws {
        let chunk = EventChunk(
            log: "logA", first: 3, last: 6, boot: "b1", sent: moment,
            lines: [
                line(3), line(2), line(7), line(3), line(4, log: "logB"), line(4, log: "a.b"), Array("{".utf8),
                Array("[]".utf8), Array("{\"v\":2}".utf8), Array("\u{1b}".utf8), [0xff], line(4, boottime: -1),
                line(5, type: "change"), line(6),
            ])
        let (events, damaged) = try EventChunk(headers: chunk.headers(expecting: 0), payload: chunk.payload).events()
        #expect(events.map(\.n) == [3, 6])
        #expect(damaged == 12)
    }

    @Test func `what is too large is refused before it is read`() {
        let chunk = EventChunk(log: "logA", first: 3, last: 6, boot: "b1", sent: moment, lines: [])
        let headers = chunk.headers(expecting: 0)
        let large = [UInt8](repeating: UInt8(ascii: " "), count: EventChunk.sizeLimit + 1)
        #expect(throws: WireError.tooLarge(limit: 131_072)) { try EventChunk(headers: headers, payload: large) }
        #expect(throws: WireError.tooLarge(limit: 131_072)) {
            try EventChunk(headers: headers, payload: Array(String(repeating: "x\n", count: 4097).utf8))
        }
        #expect(throws: WireError.tooLarge(limit: 16_384)) { try HostState(large) }
        #expect(throws: WireError.tooLarge(limit: 1024)) { try HostLease(large) }
        #expect(throws: WireError.tooLarge(limit: 4096)) { try DesiredState(large) }
        #expect(throws: WireError.tooLarge(limit: 65_536)) { try FleetEvent(large) }
    }

    @Test(arguments: [
        ("host", "\"a.b\""), ("host", "7"), ("lease_s", "0"), ("lease_s", "86401"), ("lease_s", "\"2m\""),
        ("time", "\"yesterday\""), ("boottime_ns", "-1"), ("labels", "[]"), ("labels", "{\"a\":1}"),
        ("groups", "{}"), ("groups", "[1]"), ("n", "-1"), ("n", "1.5"), ("left", "\"\""), ("name", "{}"),
    ])
    func `a state with a wrong member names the key`(key: String, value: String) throws {
        guard case .object(var members) = try JSONReader.read(state().bytes) else { return }
        members[key] = try JSONReader.read(Array(value.utf8))
        #expect(throws: WireError.badKey(key)) { try HostState(bytes(of: members)) }
    }

    @Test func `a wrong member of a status, a lease or a desired document names the key`() throws {
        #expect(throws: WireError.badKey("status.status")) {
            try HostStatus(reading: .object(["status": .integer(1)]))
        }
        #expect(throws: WireError.badKey("status.ipv4.gateway")) {
            try HostStatus(reading: .object(["ipv4": .object(["gateway": .string("x")])]))
        }
        #expect(throws: WireError.badKey("status")) { try HostStatus(reading: .array([])) }
        #expect(throws: WireError.badKey("since")) { try HostLease(Array("{\"v\":1}".utf8)) }
        // Events are numbered from 1.
        #expect(throws: WireError.badKey("n")) { try FleetEvent(line(0)) }
        #expect(throws: WireError.badKey("queue")) { try DesiredState(Array("{\"queue\":\"burnt\"}".utf8)) }
        #expect(throws: WireError.badKey("fraction")) {
            try DesiredState(Array("{\"queue\":\"held\",\"fraction\":1.5}".utf8))
        }
        #expect(throws: WireError.unknownVersion) { try DesiredState(Array("{\"v\":2,\"queue\":\"held\"}".utf8)) }
    }

    @Test func `unknown keys are skipped, and unknown words get the weakest meaning`() throws {
        guard case .object(var members) = try JSONReader.read(state().bytes) else { return }
        members["new"] = .object(["a": .array([])])
        members["status"] = .object([
            "status": .string("better"), "reason": .string("moon"), "class": .string("laser"),
            "connectivity": .string("9"),
        ])
        let read = try HostState(bytes(of: members))
        #expect(read.status?.status == .unknown)
        #expect(read.status?.reason == nil)
        #expect(read.status?.linkClass == .other)
        #expect(read.status?.connectivity == .unknown)
    }

    @Test func `no text of a host brings a control character or more than its limit`() throws {
        var evil = state()
        evil.name = "a\u{1b}]0;x\u{7}\u{9b}2J\u{202e}b"
        evil.labels = ["k\n": String(repeating: "ä", count: 100)]
        evil.status?.interface = "eth\r0"
        let read = try HostState(evil.bytes)
        #expect(read.name == "a\\u{1b}]0;x\\u{7}\\u{9b}2J\\u{202e}b")
        #expect(read.labels == ["k\\u{a}": String(repeating: "ä", count: 32)])
        #expect(read.status?.interface == "eth\\u{d}0")
        var text = String(decoding: line(1), as: UTF8.self)
        text.replace("\"slept_ms\":7", with: "\"slept_ms\":7,\"x\\u001b\":[\"\\u009b\"]")
        #expect(try FleetEvent(Array(text.utf8)).json["x\\u{1b}"] == .array([.string("\\u{9b}")]))
    }

    @Test func `a state with too many texts is cut to its limit and still reads`() throws {
        var large = state()
        for index in 0..<2000 { large.targets["target-\(index).example.net"] = .reachable }
        large.probesDown = (0..<2000).map { "probe-\($0)" }
        #expect(large.bytes.count <= HostState.sizeLimit)
        #expect(try HostState(large.bytes).host == host)
    }

    @Test func `damaged bytes never trap`() throws {
        var random = SeededGenerator(seed: 13)
        let seeds = [
            state().bytes, HostLease(boot: "b", n: 1, since: moment.wall, behind: 0).bytes,
            DesiredState(queue: .held, rollout: "r").bytes, line(1),
        ]
        for _ in 0..<3000 {
            var bytes = random.pick(seeds)
            for _ in 0...Int.random(in: 0...3, using: &random) {
                let index = Int.random(in: bytes.indices, using: &random)
                switch Int.random(in: 0...2, using: &random) {
                case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: index)
                default: bytes.insert(UInt8(ascii: "9"), at: index)
                }
            }
            _ = try? HostState(bytes)
            _ = try? HostLease(bytes)
            _ = try? DesiredState(bytes)
            _ = try? FleetEvent(bytes)
        }
    }

    @Test func `a larger fraction includes the hosts of a smaller one`() {
        let hosts = (0..<2000).map { "host-\($0)" }
        var before: Set<String> = []
        for fraction in [0, 0.01, 0.1, 0.5, 0.9, 1] {
            let document = DesiredState(queue: .held, rollout: "r1", fraction: fraction)
            let included = Set(hosts.filter(document.includes))
            #expect(included.isSuperset(of: before))
            #expect(abs(Double(included.count) - 2000 * fraction) <= 60)
            before = included
        }
        // Every version and machine must draw the same lots.
        #expect(StableHash.hash("host-1", "r1") == 10215893658799329327)
    }

    private func bytes(of members: [String: JSONValue]) -> [UInt8] {
        var json = JSONWriter()
        json.value(.object(members))
        return json.bytes
    }
}
