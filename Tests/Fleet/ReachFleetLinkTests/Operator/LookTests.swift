import Glibc
import ReachCore
import ReachFleet
import ReachFleetLink
import ReachTesting
import Testing

/// `reach-fleet status`, `host`, `events`, `watch`, `hold` and `release` with a real server.
@Suite struct LookTests {
    private static func json(_ line: String) throws -> JSONValue { try JSONReader.read(Array(line.utf8)) }

    private static func statuses(_ fleet: TestFleet, _ more: [String] = []) throws -> [String: JSONValue] {
        let result = try fleet.run("status", ["--json"] + more)
        #expect(result.status == 0, "\(result.standardError)")
        let hosts = try result.lines.map(json)
        return Dictionary(uniqueKeysWithValues: hosts.map { ($0["host"]?.string ?? "", $0) })
    }

    @Test(arguments: NATSServerProcess.programs)
    func `each host has its word`(_ program: String) throws {
        let fleet = try TestFleet(hosts: ["here", "portal", "gone", "bye", "new"], nats: program)
        for (host, connectivity) in [("here", Connectivity.full), ("portal", .portal), ("gone", .full)] {
            let fake = try FakeHost(host, in: fleet)
            try fake.put {
                $0.lease = .seconds(120)
                $0.labels = ["site": host]
                $0.status?.connectivity = connectivity
            }
            try fake.renew()
            // The host's connection ends here without a goodbye, as when it is switched off; that of the others, too,
            // but they renew once more below.
            fake.link.close()
        }
        let bye = try FakeHost("bye", in: fleet)
        try bye.put { $0.left = $0.written.wall }
        let kept = try ["here", "portal"].map { try FakeHost($0, in: fleet) }
        for host in kept { try host.renew() }
        try waitUntil { try Self.statuses(fleet)["gone"]?["word"]?.string == "silent" }
        let hosts = try Self.statuses(fleet)
        #expect(
            hosts.mapValues { $0["word"]?.string } == [
                "here": "here", "portal": "limited", "gone": "silent", "bye": "left", "new": "unseen",
            ])
        #expect(hosts["gone"]?["presumed"]?["why"]?.string?.contains("its connection ended") == true)
        #expect(hosts["gone"]?["confirmed"] == nil)
        #expect(hosts["gone"]?["address"]?.string == "127.0.0.1")
        #expect(hosts["portal"]?["reason"]?.string == "portal")
        #expect(hosts["portal"]?["confirmed"]?["since"]?.string != nil)
        #expect(try Self.statuses(fleet, ["--offline"]).keys.sorted() == ["bye", "gone", "new"])
        #expect(try Self.statuses(fleet, ["--where", "site=portal"]).keys.sorted() == ["portal"])
        #expect(try Self.statuses(fleet, ["--class", "wwan"]).isEmpty)
        let text = try fleet.run("status").standardOutput
        #expect(text.hasSuffix("5 hosts: 1 online, 1 limited, 1 silent, 1 left, 1 unseen\n"), "\(text)")
        // On a terminal the reasons are whole, and on lines of their own.
        let narrow = try fleet.lines(of: "status", columns: 40)
        #expect(narrow.allSatisfy { $0.count <= 40 } && !narrow.joined().contains("…"), "\(narrow)")
        #expect(narrow.joined(separator: " ").contains("presumed"), "\(narrow)")
        let lines = try fleet.run("status", ["--lines", "--where", "host=gone", "--json"]).lines.map(Self.json)
        #expect(lines.map { $0["address"]?.string } == ["127.0.0.1"] && lines[0]["word"]?.string == "here")
        #expect(lines[0]["hosts"]?.array?.compactMap(\.string) == ["bye", "gone", "here", "portal"])
        #expect(try fleet.run("status", ["--lines"]).standardOutput.hasSuffix("\n1 line: 1 online\n"))
        withExtendedLifetime((bye, kept)) {}
    }

    @Test func `without markers a lease that is too old is silence`() throws {
        let fleet = try TestFleet(hosts: ["till-1"])
        let host = try FakeHost("till-1", in: fleet)
        // Three times 1 s, and one of grace.
        try host.put { $0.lease = .seconds(1) }
        try host.renew()
        #expect(try Self.statuses(fleet)["till-1"]?["word"]?.string == "here")
        let start = ContinuousClock.now
        try waitUntil { try Self.statuses(fleet)["till-1"]?["word"]?.string == "silent" }
        #expect(ContinuousClock.now - start > .seconds(2))
        #expect(try Self.statuses(fleet)["till-1"]?["reason"]?.string == "lease")
    }

    @Test(arguments: NATSServerProcess.programs)
    func `a restart of the server loses neither buckets nor leases`(_ program: String) throws {
        let fleet = try TestFleet(hosts: ["till-1"], nats: program)
        let host = try FakeHost("till-1", in: fleet)
        try host.put { $0.lease = .seconds(120) }
        try host.renew()
        try fleet.server.restart()
        try waitUntil { try fleet.run("status").status == 0 }
        #expect(try Self.statuses(fleet)["till-1"]?["word"]?.string == "here")
        // And the host can renew it.
        #expect(failure { try FakeHost("till-1", in: fleet).renew() } == nil)
    }

    @Test func `no host and no bucket are not the same`() throws {
        let empty = try TestFleet(hosts: [])
        let result = try empty.run("status")
        #expect(result.standardOutput == "0 hosts\n")
        let none = try TestFleet(hosts: [], isSetUp: false)
        let missing = try none.run("status")
        #expect(missing.status == 69)
        #expect(missing.standardError.contains("reach-fleet setup"))
    }

    @Test func `events are printed once, with the engine's time and the host's if it differs`() throws {
        let fleet = try TestFleet(hosts: ["till-1", "till-2"])
        var right = try FakeHost("till-1", in: fleet)
        var wrong = try FakeHost("till-2", in: fleet)
        try right.send(.notReachable, reason: .noCarrier)
        try wrong.send(.notReachable, ahead: .seconds(3600))
        // The same chunk again, as after a lost acknowledgement and a restored engine.
        right.n = 0
        try right.send(.notReachable, reason: .noCarrier)
        try right.send(.reachable)
        let lines = try fleet.run("events", ["--json"]).lines.map(Self.json)
        try #require(lines.map { $0["host"]?.string } == ["till-1", "till-2", "till-1"])
        #expect(lines.map { $0["n"]?.integer } == [1, 1, 2])
        #expect(lines[0]["host_time"] == nil)
        #expect(lines[1]["host_time"]?.string != nil)
        let stored = try #require(lines[1]["stored"]?.string.flatMap { Timestamp($0) })
        let time = try #require(lines[1]["time"]?.string.flatMap { Timestamp($0) })
        #expect(abs(stored.nanosecondsSince1970 - time.nanosecondsSince1970) < 5_000_000_000)
        let text = try fleet.run("events", ["--host", "till-2"]).standardOutput
        #expect(text.contains("(its clock: "))
        #expect(text.contains("till-2  internet not reachable"))
        #expect(try fleet.run("events", ["--host", "nobody"]).status == 1)
    }

    @Test func `what a host sends cannot reach the terminal`() throws {
        let fleet = try TestFleet(hosts: ["till-1"])
        let host = try FakeHost("till-1", in: fleet)
        try host.put {
            $0.name = "a\u{1b}[2Jb\u{202e}"
            $0.labels = ["x\ny": "\u{7}"]
            $0.probesDown = ["\u{1b}]0;x\u{7}"]
        }
        try host.renew()
        for result in [
            try fleet.run("status"), try fleet.run("host", ["till-1"]), try fleet.run("status", ["--json"]),
            try fleet.run("host", ["till-1", "--json"]),
        ] {
            let bytes = Array(result.standardOutput.utf8)
            #expect(!bytes.contains { $0 < 0x20 && $0 != 0x0a || $0 == 0x7f }, "\(result.standardOutput)")
            #expect(!result.standardOutput.contains("\u{202e}"))
        }
    }

    @Test func `all about one host`() throws {
        let fleet = try TestFleet(hosts: ["till-1", "till-2"])
        var host = try FakeHost("till-1", in: fleet)
        try host.put { $0.lease = .seconds(120) }
        try host.renew()
        try host.send(.notReachable, reason: .noCarrier)
        try fleet.expectSuccess(fleet.run("hold", as: "operator", ["--group", "tills", "--reason", "stocktaking"]))
        let result = try fleet.run("host", ["till-1"])
        #expect(result.status == 0)
        for part in ["till-1: online", "class: wifi", "wanted by group.tills", "queue held: stocktaking", "no-carrier"]
        {
            #expect(result.standardOutput.contains(part), "\(part) in \(result.standardOutput)")
        }
        let json = try Self.json(firstLine(fleet.run("host", ["till-1", "--json"])))
        #expect(json["events"]?.array?.count == 1)
        #expect(json["wanted"]?.array?.first?["document"]?["reason"]?.string == "stocktaking")
        #expect(try fleet.run("host", ["till-2"]).status == 1)
        #expect(try fleet.run("host", ["nobody"]).status == 3)
    }

    @Test func `hold and release write what is wanted and count who has applied it`() throws {
        let fleet = try TestFleet(hosts: ["till-1", "till-2"])
        let hosts = try ["till-1", "till-2"].map { try FakeHost($0, in: fleet) }
        for host in hosts { try host.put() }
        #expect(try fleet.run("hold", ["--all"]).status == 77)
        let held = try Self.json(firstLine(fleet.run("hold", as: "operator", ["--all", "--json"])))
        #expect(held["hosts"]?.integer == 2)
        #expect(held["applied"]?.integer == 0)
        let revision = UInt64(try #require(held["revision"]?.integer))
        let stored = try JetStream(try fleet.link(as: "reader")).entry("all", in: FleetNames.desired)
        let document = try DesiredState(try #require(stored?.value))
        #expect(document.queue == .held)
        let late = try fleet.run("hold", as: "operator", ["--host", "till-1", "--wait", "100ms"])
        #expect(late.status == 1)
        for host in hosts { try host.put { $0.desired = revision + 10 } }
        let released = try fleet.run("release", as: "operator", ["--all", "--wait", "10s"])
        #expect(released.standardOutput.hasSuffix("applied by 2 of 2 hosts\n"), "\(released.standardOutput)")
    }

    @Test(arguments: NATSServerProcess.programs)
    func `watch shows words and events as they come`(_ program: String) throws {
        let fleet = try TestFleet(hosts: ["till-1"], nats: program)
        let watch = try fleet.start("watch", ["--json"])
        #expect(try Self.json(watch.nextLine())["unseen"]?.integer == 1)
        var host = try FakeHost("till-1", in: fleet)
        try host.put { $0.lease = .seconds(120) }
        try host.renew()
        #expect(try next(watch, "fleet-change", "here")["host"]?.string == "till-1")
        try host.send(.notReachable, reason: .noCarrier)
        let event = try next(watch, "fleet-event", nil)
        #expect(event["event"]?["status"]?["reason"]?.string == "no-carrier")
        host.link.close()
        let change = try next(watch, "fleet-change", "silent")
        #expect(change["presumed"]?["why"]?.string?.contains("connection ended") == true)
        watch.send(SIGTERM)
        #expect(try watch.finish().status == 0)
    }

    @Test func `watch survives a restart of the server and repeats nothing`() throws {
        let fleet = try TestFleet(hosts: ["till-1"])
        let watch = try fleet.start("watch", ["--json"])
        _ = try watch.nextLine()
        var host = try FakeHost("till-1", in: fleet)
        try host.send(.notReachable)
        #expect(try next(watch, "fleet-event", nil)["n"]?.integer == 1)
        try fleet.server.restart()
        var back = try FakeHost("till-1", in: fleet)
        (back.n, back.tail) = (host.n, host.tail)
        try back.send(.reachable)
        #expect(try next(watch, "fleet-event", nil)["n"]?.integer == 2)
    }

    /// The next line of a type, and of a word.
    private func next(_ watch: RunningProgram, _ type: String, _ word: String?) throws -> JSONValue {
        while true {
            let line = try Self.json(watch.nextLine(within: .seconds(30)))
            if line["type"]?.string == type, word == nil || line["word"]?.string == word { return line }
        }
    }
}
