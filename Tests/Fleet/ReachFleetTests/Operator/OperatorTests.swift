import ReachCore
import ReachFleet
import Testing

@Suite struct OperatorTests {
    private static let half = NKeyText.userPublic([UInt8](repeating: 7, count: 32))
    private static let other = NKeyText.userPublic([UInt8](repeating: 8, count: 32))

    // MARK: - The list of hosts

    @Test func `a list of hosts has comments, empty lines and groups`() throws {
        let list = try HostList(text: "# tills\n\n till-1\t\(Self.half)  a b # first\ntill-2 \(Self.other)\n")
        #expect(
            list.entries == [
                HostList.Entry(host: "till-1", key: Self.half, groups: ["a", "b"]),
                HostList.Entry(host: "till-2", key: Self.other),
            ])
    }

    @Test(arguments: [
        ("till-1\n", 1, "expected"), ("\na.b KEY\n", 2, "'a.b'"), ("a* KEY\n", 1, "'a*'"), ("a KEY x.y\n", 1, "'x.y'"),
        ("a UNKNOWN\n", 1, "not a key"), ("a KEY\na OTHER\n", 2, "line 1"), ("a KEY\nb KEY\n", 2, "line 1"),
        ("\u{1b}[2J KEY\n", 1, "\\u{1b}"),
    ])
    func `a line that is wrong is named`(_ text: String, _ line: Int, _ part: String) {
        let text = text.split(separator: "KEY", omittingEmptySubsequences: false).joined(separator: Self.half)
            .split(separator: "OTHER", omittingEmptySubsequences: false).joined(separator: Self.other)
        #expect {
            try HostList(text: text)
        } throws: { error in
            let fault = error as? HostList.Fault
            return fault?.line == line && fault?.sentence.contains(part) == true
                && fault?.sentence.contains("\u{1b}") == false
        }
    }

    @Test func `a host's value in the bucket is read back, and nonsense is not one`() {
        for entry in [
            HostList.Entry(host: "a", key: Self.half),
            HostList.Entry(
                host: "a", key: Self.half, otherKey: Self.other, groups: ["g"], labels: ["site": "berlin-7"]),
            HostList.Entry(
                host: "a", key: Self.half,
                ticket: HostList.Ticket(
                    key: Self.other, issued: Timestamp(nanosecondsSince1970: 1_700_000_000_000_000_007)),
                expires: Timestamp(secondsSince1970: 1_800_000_000, nanoseconds: 0)),
        ] { #expect(HostList.entry("a", HostList.value(entry)) == entry) }
        for text in ["", "{}", "{\"key\":1}", "{\"key\":\"UABC\"}", "[]"] {
            #expect(HostList.entry("a", Array(text.utf8)) == nil)
        }
    }

    @Test func `a host has two keys while it gets a new one, and labels`() throws {
        let list = try HostList(text: "a \(Self.half),\(Self.other) tills site=berlin-7 floor=\n")
        #expect(
            list.entries == [
                HostList.Entry(
                    host: "a", key: Self.half, otherKey: Self.other, groups: ["tills"],
                    labels: ["site": "berlin-7", "floor": ""])
            ])
        for (text, part) in [
            ("a \(Self.half),\(Self.other),\(Self.half)", "two keys"), ("a \(Self.half) x=1 x=2", "twice"),
            ("a \(Self.half),\(Self.half)", "line 1"),
            ("a \(Self.half) x=\(String(repeating: "y", count: 65))", "bytes"),
            ("a \(Self.half),", "not a key"),
        ] {
            #expect {
                try HostList(text: text)
            } throws: { ($0 as? HostList.Fault)?.sentence.contains(part) == true }
        }
    }

    @Test func `an operator of a group has rights about its hosts only`() throws {
        let list = try HostList(text: "a \(Self.half) tills\nb \(Self.other) kiosks\n")
        let rights = FleetRights.controller("UKEY", groups: ["tills"], hosts: list)
        let own = Set(rights.publish).subtracting(FleetRights.reader.publish)
        #expect(
            own.allSatisfy { $0.contains("tills") || $0.hasSuffix("host.a") || $0 == "reach.v1.audit.UKEY" }, "\(own)")
        #expect(!own.contains { $0.contains(">") })
    }

    // MARK: - The plan

    private static func plan(_ name: String, _ version: ServerVersion = .advised) throws -> StreamPlan {
        try #require(FleetPlan(version: version).streams.first { $0.name == name })
    }

    private static func changed(_ plan: StreamPlan, _ key: String, _ value: JSONValue?) -> JSONValue {
        var members = plan.configuration.object ?? [:]
        members[key] = value
        return .object(members)
    }

    @Test func `a stream as planned does not differ, even if the server omits what is off`() throws {
        for plan in FleetPlan(version: .advised).streams + FleetPlan(version: .floor).streams {
            let found = JSONValue.object((plan.configuration.object ?? [:]).filter { $0.value != .integer(0) })
            #expect(plan.differences(from: found).isEmpty, "\(plan.name)")
        }
    }

    @Test(arguments: [
        ("max_msg_size", JSONValue?.some(.integer(-1)), StreamPlan.Difference.Effect.tightens),
        ("max_msg_size", .integer(200_000), .tightens), ("max_msg_size", .integer(1000), .loosens),
        ("max_age", .integer(0), .tightens), ("max_age", .integer(1), .loosens), ("max_age", nil, .tightens),
        ("deny_delete", .bool(false), .tightens), ("deny_delete", nil, .tightens),
        ("storage", .string("memory"), .fixed),
        ("retention", .string("workqueue"), .fixed), ("num_replicas", .integer(3), .loosens),
        ("compression", .string("none"), .tightens), ("subjects", .array([]), .tightens),
    ])
    func `a difference tightens, loosens or cannot be made`(
        _ key: String, _ found: JSONValue?, _ effect: StreamPlan.Difference.Effect
    ) throws {
        let plan = try Self.plan("REACH_EVENTS")
        let there = Self.changed(plan, key, found)
        let differences = plan.differences(from: there)
        #expect(differences.map(\.key) == [key])
        #expect(differences.first?.effect == effect)
        let after = plan.tightened(there)
        #expect(plan.differences(from: after).isEmpty == (effect == .tightens))
    }

    @Test func `how large a stream is, and how long events are kept, is the operator's choice`() throws {
        var all = FleetPlan(version: .advised)
        all.storeBytes = 1 << 30
        let events = try #require(all.streams.first { $0.name == "REACH_EVENTS" })
        let leases = try Self.plan("KV_reach_lease")
        func kept(_ plan: StreamPlan, _ key: String, _ value: JSONValue?) -> Bool {
            plan.adoptingSize(of: Self.changed(plan, key, value)).configuration[key] == value
        }
        #expect(kept(events, "max_age", .integer(7)) && !kept(leases, "max_age", .integer(7)))
        #expect(kept(events, "num_replicas", .integer(3)) && kept(events, "max_bytes", .integer(9_999)))
        // Without a limit a stream takes the room of all others.
        for bytes in [nil, .integer(-1), .integer(0)] as [JSONValue?] {
            let changed = Self.changed(events, "max_bytes", bytes)
            #expect(events.adoptingSize(of: changed).configuration == events.configuration)
        }
        #expect(!kept(events, "max_msg_size", .integer(1_000)))
    }

    @Test func `leases stay for a week, and hosts cannot empty their bucket on any server`() throws {
        let new = try Self.plan("KV_reach_lease", ServerVersion(2, 11, 0)).configuration
        #expect(new["subject_delete_marker_ttl"]?.integer == 0)
        #expect(new["allow_rollup_hdrs"]?.bool == false)
        #expect(new["max_age"]?.integer == 604_800_000_000_000)
        let old = try Self.plan("KV_reach_lease", .floor).configuration
        #expect(old["subject_delete_marker_ttl"] == nil)
        #expect(old["max_age"]?.integer == 604_800_000_000_000)
        #expect(old["compression"] == nil)
    }

    @Test(arguments: [
        ("2.9.10", ServerVersion(2, 9, 10)), ("v2.12.0-RC.1", ServerVersion(2, 12, 0)),
        ("2.15", ServerVersion(2, 15, 0)),
    ])
    func `a version is read`(_ text: String, _ version: ServerVersion) { #expect(ServerVersion(text) == version) }

    @Test(arguments: ["", "x", "2", "2.x", "2..9", "2.9.9.9"])
    func `what is no version is not read`(_ text: String) { #expect(ServerVersion(text) == nil) }

    // MARK: - The rights

    @Test func `a host's rights name no wildcard but its own inbox`() {
        let rights = FleetRights.host("till-1", groups: ["a"])
        #expect(rights.publish.allSatisfy { !$0.contains("*") && !$0.contains(">") })
        #expect(rights.subscribe.filter { $0.contains("*") || $0.contains(">") } == ["_INBOX.till-1.>"])
        #expect(rights.publish.allSatisfy { $0.hasSuffix("till-1") || $0.contains("reach_desired") })
    }

    @Test(arguments: ["", "a\"b", "a\\b", "a\nb"])
    func `text that a configuration cannot quote is refused`(_ text: String) {
        #expect(!ServerConfiguration.canQuote(text))
    }

    // MARK: - The doctor

    @Test func `an old version, and one that loses what it acknowledged, are found`() {
        #expect(FleetDoctor.version(.advised).isEmpty)
        #expect(FleetDoctor.version(ServerVersion(2, 9, 9)).map(\.level) == [.wrong])
        #expect(FleetDoctor.version(ServerVersion(2, 12, 5)).map(\.level) == [.warning])
        #expect(FleetDoctor.sync(.advised, syncsAlways: true, interval: nil).isEmpty)
        #expect(FleetDoctor.sync(.advised, syncsAlways: nil, interval: nil).isEmpty)
        #expect(
            FleetDoctor.sync(.advised, syncsAlways: false, interval: .seconds(120)).first?.sentence.contains("2 min")
                == true)
        #expect(FleetDoctor.sync(.floor, syncsAlways: nil, interval: nil).map(\.word) == ["sync-interval"])
    }

    @Test(
        arguments: [
            (false, true, true, []), (false, true, false, []), (false, false, true, []),
            (false, false, false, ["plain"]), (true, true, false, ["open"]), (true, false, true, ["open"]),
            (true, false, false, ["open", "plain"]),
        ] as [(Bool, Bool, Bool, [String])])
    func `whoever is let in is found, and a server without TLS unless it is on this machine`(
        _ strangerConnects: Bool, _ isEncrypted: Bool, _ isLocal: Bool, _ words: [String]
    ) {
        let findings = FleetDoctor.rights(
            strangerConnects: strangerConnects, isEncrypted: isEncrypted, isLocal: isLocal)
        #expect(findings.map(\.word) == words)
    }

    @Test func `clocks that differ are found, in both directions`() {
        #expect(FleetDoctor.clock(nil).isEmpty)
        #expect(FleetDoctor.clock(.seconds(2)).isEmpty)
        #expect(FleetDoctor.clock(.seconds(60)).first?.sentence.contains("ahead of") == true)
        #expect(FleetDoctor.clock(.seconds(-60)).first?.sentence.contains("behind") == true)
    }

    @Test(arguments: [("new", 96, "wrong"), ("new", 81, "warning"), ("old", 96, "note"), ("new", 79, nil)])
    func `a stream that is nearly full is found`(_ discard: String, _ percent: Int64, _ level: String?) throws {
        let plan = try Self.plan("REACH_EVENTS")
        var members = plan.configuration.object ?? [:]
        members["discard"] = .string(discard)
        members["max_bytes"] = .integer(1000)
        let info = JSONValue.object([
            "config": .object(members), "state": .object(["bytes": .integer(percent * 10)]),
        ])
        #expect(FleetDoctor.stream(plan, info).first { $0.word == "full" }?.level.rawValue == level)
        #expect(FleetDoctor.stream(plan, nil).map(\.word) == ["missing"])
    }

    @Test func `a stream as planned is no finding, and a looser one is`() throws {
        let plan = try Self.plan("REACH_EVENTS")
        let state = JSONValue.object(["bytes": .integer(0)])
        func words(_ configuration: JSONValue) -> [String] {
            FleetDoctor.stream(plan, .object(["config": configuration, "state": state])).map(\.word)
        }
        #expect(words(plan.configuration) == [])
        #expect(words(Self.changed(plan, "max_msg_size", .integer(-1))) == ["differs"])
        #expect(words(Self.changed(plan, "max_msg_size", .integer(1000))) == [], "the operator may be stricter")
    }

    private static let noon = Timestamp(secondsSince1970: 1_795_348_800, nanoseconds: 0)

    private static func advisory(
        _ isUp: Bool, _ time: Int, start: Int, _ address: String, _ reason: String = "Client Closed"
    )
        -> ConnectionAdvisory
    {
        ConnectionAdvisory(
            isUp: isUp, time: noon + .seconds(time), start: noon + .seconds(start), user: half,
            address: IPAddress(address), reason: isUp ? nil : reason)
    }

    @Test func `two machines with one key are found`() {
        var advisories: [ConnectionAdvisory] = []
        for round in 0..<3 {
            let base = round * 600
            advisories += [
                Self.advisory(true, base, start: base, "203.0.113.1"),
                Self.advisory(true, base + 100, start: base + 100, "198.51.100.2"),
                Self.advisory(false, base + 300, start: base, "203.0.113.1"),
                Self.advisory(false, base + 400, start: base + 100, "198.51.100.2"),
            ]
        }
        let findings = FleetDoctor.doubles(advisories, names: [Self.half: "till-1"])
        #expect(findings.map(\.word) == ["double"])
        #expect(findings.first?.sentence.contains("198.51.100.2 and 203.0.113.1") == true)
    }

    @Test func `a machine that reconnects is not two`() {
        var advisories: [ConnectionAdvisory] = []
        for round in 0..<5 {
            let base = round * 600
            // The old connection is found dead after minutes, or closed a moment after the next began.
            advisories += [
                Self.advisory(true, base + 500, start: base + 500, "203.0.113.1"),
                Self.advisory(false, base + 502, start: base - 100, "203.0.113.1"),
                Self.advisory(false, base + 700, start: base - 50, "203.0.113.1", "Stale Connection"),
            ]
        }
        #expect(FleetDoctor.doubles(advisories, names: [Self.half: "till-1"]).isEmpty)
    }

    @Test func `a host that fills the stream is found`() {
        let counts: [String: Int64] = ["reach.v1.ev.a": 16_000, "reach.v1.ev.b": 100, "other": 99_999]
        #expect(FleetDoctor.loudHosts(counts).first?.sentence.hasPrefix("a sent so many") == true)
        #expect(FleetDoctor.loudHosts([:]).isEmpty)
    }

    @Test(
        arguments: [
            (10_737_418_240, 7_516_192_740, []), (10_737_418_240, nil, []), (nil, 7_516_192_740, []),
            (nil, nil, ["store-unlimited"]), (10_737_418_240, 10_737_418_240, ["store-small"]),
            (10_000_000_000, 7_000_000_000, []),
            // Three quarters of what is free on a disk.
            (601_875_456, 421_312_819, ["store-size"]),
        ] as [(Int64?, Int64?, [String])])
    func `a store that would silence all hosts is found`(_ bytes: Int64?, _ events: Int64?, _ words: [String]) {
        let room = StoreRoom(
            bytes: bytes,
            streams: [
                FleetNames.events: .object(["max_bytes": .integer(events ?? -1)]),
                FleetNames.stream(of: FleetNames.state): .object(["max_bytes": .integer(-1)]),
            ])
        #expect(FleetDoctor.store(room).map(\.word) == words)
        #expect(FleetDoctor.store(room).allSatisfy { $0.remedy != nil })
    }

    @Test func `what setup says about the store names what the server allows and what events may fill`() {
        func summary(_ bytes: Int64?, _ events: Int64) -> String {
            StoreRoom(bytes: bytes, streams: [FleetNames.events: .object(["max_bytes": .integer(events)])]).summary
        }
        #expect(summary(10_737_418_240, 7_516_192_740) == "10 GiB; events may fill 7.0 GiB")
        #expect(summary(10_737_418_240, -1) == "10 GiB; events have no limit")
        #expect(summary(nil, 1_073_741_824) == "the server does not say how much it holds; events may fill 1.0 GiB")
    }
}
