import Glibc
import ReachCore
import ReachFleet
import ReachFleetLink
import ReachLoop
import ReachTesting
import Testing

/// What operators write about hosts, and who may write what, with a real server.
@Suite struct OperateTests {
    private static func json(_ line: String) throws -> JSONValue { try JSONReader.read(Array(line.utf8)) }

    private static func hosts(_ fleet: TestFleet, _ arguments: [String] = []) throws -> [String: JSONValue] {
        let lines = try succeeding(fleet.run("status", ["--json"] + arguments)).lines.map(json)
        return Dictionary(uniqueKeysWithValues: lines.map { ($0["host"]?.string ?? "", $0) })
    }

    // MARK: - Retired hosts

    @Test(arguments: NATSServerProcess.programs)
    func `a retired host is gone from what is shown, and its history stays`(_ program: String) throws {
        let fleet = try TestFleet(nats: program)
        var hosts = try ["till-1", "till-2"].map { try FakeHost($0, in: fleet) }
        for index in hosts.indices {
            try hosts[index].put { $0.lease = .seconds(120) }
            try hosts[index].renew()
            try hosts[index].send(.notReachable, reason: .noCarrier)
        }
        #expect(try fleet.run("retire", ["till-1"]).status == 77)
        try fleet.expectSuccess(fleet.run("retire", as: "operator", ["till-1"]))
        #expect(try Self.hosts(fleet).keys.sorted() == ["till-2"])
        #expect(try Self.hosts(fleet, ["--retired"])["till-1"]?["retired"]?.string != nil)
        #expect(try fleet.run("status").standardOutput.hasSuffix("1 host: 1 online; 1 retired\n"))
        #expect(try fleet.run("events", ["--host", "till-1"]).standardOutput.contains("no-carrier"))
        #expect(try fleet.run("host", ["till-1"]).standardOutput.contains("  retired: "))
        let metrics = fleet.directory.path + "/fleet.prom"
        try fleet.expectSuccess(fleet.run("export", [metrics]))
        #expect(try #require(SmallFile.text(metrics)).contains("reach_fleet_hosts{word=\"here\"} 1\n"))
        let page = fleet.directory.path + "/fleet.html"
        try fleet.expectSuccess(fleet.run("page", ["--output", page]))
        #expect(try !#require(SmallFile.text(page, limit: 1 << 20)).contains("till-1"))
        let doctor = try fleet.run("doctor", ["--json"]).lines.map(Self.json)
        #expect(doctor.contains { $0["word"]?.string == "retired" })
        // Its line is still in the list.
        let list = try fleet.run("setup", as: "admin", ["--hosts", fleet.directory.path + "/hosts"])
        #expect(list.status == 1)
        #expect(list.standardError.contains("'till-1' is retired"))
        try fleet.expectSuccess(fleet.run("retire", as: "operator", ["--undo", "till-1"]))
        #expect(try Self.hosts(fleet).keys.sorted() == ["till-1", "till-2"])
        let unknown = try fleet.run("retire", as: "operator", ["till-3"])
        #expect(unknown.status == 3)
        #expect(unknown.standardError.contains("did you mean"), "\(unknown.standardError)")
        withExtendedLifetime(hosts) {}
    }

    @Test func `a host that the list has no more is retired, and is back when it is listed again`() throws {
        let fleet = try TestFleet()
        let hosts = try ["till-1", "till-2"].map { try FakeHost($0, in: fleet) }
        for host in hosts { try host.put() }
        let path = fleet.directory.path + "/hosts"
        let whole = try #require(SmallFile.text(path))
        try fleet.directory.file(
            "hosts", whole.split(separator: "\n").filter { !$0.hasPrefix("till-1") }.joined(separator: "\n"))
        let fewer = try succeeding(fleet.run("setup", as: "admin", ["--hosts", path, "--json"])).lines
        #expect(try Self.json(#require(fewer.last))["retired"]?.integer == 1)
        #expect(try Self.hosts(fleet).keys.sorted() == ["till-2"])
        try fleet.directory.file("hosts", whole)
        try fleet.expectSuccess(fleet.run("setup", as: "admin", ["--hosts", path]))
        #expect(try Self.hosts(fleet).keys.sorted() == ["till-1", "till-2"])
        withExtendedLifetime(hosts) {}
    }

    @Test func `watch says nothing of a host that is retired meanwhile`() throws {
        let fleet = try TestFleet()
        let watch = try fleet.start("watch", ["--json"])
        defer { watch.send(SIGKILL) }
        _ = try watch.nextLine()
        let host = try FakeHost("till-1", in: fleet)
        try host.put { $0.lease = .seconds(120) }
        try host.renew()
        var line = try Self.json(watch.nextLine(within: .seconds(30)))
        #expect(line["state"]?.string == "online")
        try fleet.expectSuccess(fleet.run("retire", as: "operator", ["till-1"]))
        host.link.close()
        let other = try FakeHost("till-2", in: fleet)
        try other.put { $0.lease = .seconds(120) }
        try other.renew()
        repeat {
            line = try Self.json(watch.nextLine(within: .seconds(30)))
            #expect(line["host"]?.string == "till-2" || line["state"]?.string != "silent")
        } while line["host"]?.string != "till-2"
    }

    // MARK: - Keys

    @Test(arguments: NATSServerProcess.programs)
    func `a host has two keys while it gets a new one`(_ program: String) throws {
        let fleet = try TestFleet(hosts: ["till-1"], nats: program, renewing: ["till-1"])
        let old = try FakeHost("till-1", in: fleet)
        try old.put { $0.lease = .seconds(120) }
        try old.renew()
        #expect(try Self.hosts(fleet)["till-1"]?["address"]?.string == "127.0.0.1")
        let new = try FakeHost("till-1", in: fleet, with: "till-1-new")
        try new.renew()
        // The old connection's end does not make the host silent.
        old.link.close()
        usleep(300_000)
        #expect(try Self.hosts(fleet)["till-1"]?["state"]?.string == "online")
        new.link.close()
        try waitUntil { try Self.hosts(fleet)["till-1"]?["state"]?.string == "silent" }
    }

    // MARK: - Labels and queries

    @Test func `operators give labels, and hosts are found by them`() throws {
        let fleet = try TestFleet(
            hosts: ["till-1", "till-2", "till-3"],
            words: { $0 == "till-3" ? "kiosks site=hamburg-1" : "tills site=berlin-\($0.last!)" })
        let hosts = try ["till-1", "till-2", "till-3"].map { try FakeHost($0, in: fleet) }
        for host in hosts {
            try host.put {
                $0.lease = .seconds(120)
                $0.labels = ["site": "nowhere", "own": host.id]
            }
            try host.renew()
        }
        #expect(try Self.hosts(fleet)["till-3"]?["labels"]?["site"]?.string == "hamburg-1")
        #expect(try Self.hosts(fleet)["till-3"]?["labels"]?["own"]?.string == "till-3")
        try fleet.expectSuccess(fleet.run("label", as: "operator", ["till-3", "site=bremen", "floor=2"]))
        #expect(try Self.hosts(fleet)["till-3"]?["labels"]?["site"]?.string == "bremen")
        for (query, found) in [
            ("site=berlin-*", ["till-1", "till-2"]), ("not site=berlin-*", ["till-3"]), ("floor", ["till-3"]),
            ("host=till-1 or floor=2", ["till-1", "till-3"]), ("group=kiosks", ["till-3"]),
            ("state=online and site!=bremen", ["till-1", "till-2"]),
            ("state=silent", []),
        ] { #expect(try Self.hosts(fleet, ["--where", query]).keys.sorted() == found, "\(query)") }
        let wrong = try fleet.run("status", ["--where", "site=a and"])
        #expect(wrong.status == 2)
        #expect(wrong.standardError.contains("a condition is missing"))
        let removed = try succeeding(fleet.run("label", as: "operator", ["till-3", "site-", "--json"]))
        #expect(try Self.json(firstLine(removed))["labels"]?.object?.keys.sorted() == ["floor"])
        #expect(try Self.hosts(fleet)["till-3"]?["labels"]?["site"]?.string == "hamburg-1")
        withExtendedLifetime(hosts) {}
    }

    @Test func `hosts are counted by version, and the table has the versions where they differ`() throws {
        let fleet = try TestFleet(hosts: ["till-1", "till-2", "till-3"])
        let hosts = try ["till-1", "till-2"].map { try FakeHost($0, in: fleet) }
        for host in hosts { try host.put { $0.version = host.id == "till-1" ? "1.0" : "1.1" } }
        let counts = try succeeding(fleet.run("status", ["--versions", "--json"])).lines.map(Self.json)
        #expect(counts.map { $0["hosts"]?.integer } == [1, 1, 1])
        #expect(Set(counts.map { $0["version"]?.string }) == ["1.0", "1.1", nil])
        #expect(try fleet.run("status").standardOutput.contains("VERSION"))
        #expect(try fleet.run("status", ["--where", "version=1.*"]).standardOutput.hasSuffix("2 hosts: 2 online\n"))
        withExtendedLifetime(hosts) {}
    }

    // MARK: - Roles and records

    @Test(arguments: NATSServerProcess.programs)
    func `an operator of a group writes about its hosts only, and what is done is recorded`(_ program: String) throws {
        let fleet = try TestFleet(
            hosts: ["till-1", "kiosk-1"], nats: program, words: { $0 == "till-1" ? "tills" : "kiosks" },
            operators: ["anna": "tills", "boss": ""])
        for host in ["till-1", "kiosk-1"] { try FakeHost(host, in: fleet).put() }
        try fleet.expectSuccess(fleet.run("hold", as: "anna", ["--group", "tills", "--reason", "stocktaking"]))
        try fleet.expectSuccess(fleet.run("hold", as: "anna", ["--host", "till-1"]))
        try fleet.expectSuccess(fleet.run("label", as: "anna", ["till-1", "floor=1"]))
        try fleet.expectSuccess(fleet.run("quiet", as: "anna", ["--where", "host=*", "--for", "1h", "--why", "works"]))
        for refused in [
            ["hold", "--all"], ["hold", "--group", "kiosks"], ["release", "--host", "kiosk-1"],
            ["label", "kiosk-1", "a=b"],
            ["retire", "kiosk-1"],
        ] { #expect(try fleet.run(refused[0], as: "anna", Array(refused.dropFirst())).status == 77, "\(refused)") }
        // It may not record under another's name, nor note what is everybody's.
        let link = try fleet.link(as: "anna")
        let boss = try firstLine(TestFleet.program.run(["key", fleet.directory.path + "/boss.nk"]))
        for subject in [
            FleetNames.auditSubject(ofKey: boss), "$KV.reach_notes.quiet.all.x", "$KV.reach_notes.quiet.group.kiosks.x",
            "$KV.reach_notes.key.\(boss)",
        ] {
            #expect(failure { try JetStream(link).append(subject, Array("{}".utf8)) } == .notPermitted, "\(subject)")
        }
        // Her quiet time is about her hosts only, whatever it says.
        let quiet = try Self.hosts(fleet).mapValues { $0["quiet"]?.string }
        #expect(quiet == ["till-1": "works", "kiosk-1": nil])
        try fleet.expectSuccess(fleet.run("release", as: "boss", ["--all"]))
        // Without a record.
        let document = DesiredState(queue: .held, rollout: "x")
        try JetStream(try fleet.link(as: "boss")).put("all", in: FleetNames.desired, document.bytes)
        let lines = try succeeding(fleet.run("audit", ["--json"])).lines.map(Self.json).filter {
            $0["action"]?.string != "setup"
        }
        #expect(
            lines.map { "\($0["name"]?.string ?? "?") \($0["action"]?.string ?? "") \($0["on"]?.string ?? "")" } == [
                "anna hold group tills", "anna hold host till-1", "anna label till-1", "anna quiet host=*",
                "boss release all hosts", "? hold all hosts",
            ])
        #expect(lines.map { $0["recorded"]?.bool } == [true, true, true, true, true, false])
        let text = try fleet.run("audit").standardOutput
        #expect(text.contains("held group tills: stocktaking"))
        #expect(text.contains("somebody, without a record"))
    }

    @Test func `a time without alerts is listed and ended`() throws {
        let fleet = try TestFleet(hosts: ["till-1"])
        #expect(try fleet.run("quiet").standardOutput.contains("no host"))
        let made = try Self.json(
            firstLine(
                succeeding(
                    fleet.run("quiet", as: "operator", ["--where", "site=x", "--for", "2h", "--after", "1h", "--json"]))
            ))
        #expect(made["active"]?.bool == false)
        let name = try #require(made["quiet"]?.string)
        #expect(try fleet.run("quiet").standardOutput.hasPrefix("\(name): site=x, from "))
        try fleet.expectSuccess(fleet.run("quiet", as: "operator", ["--end", name]))
        #expect(try fleet.run("quiet").standardOutput.contains("no host"))
        #expect(try fleet.run("quiet", as: "operator", ["--end", "nothing"]).status == 3)
    }

    @Test
    func `a time without alerts comes again by the clocks of a zone, and the hosts say that they are quiet in it`()
        throws
    {
        let fleet = try TestFleet(hosts: ["till-1"])
        let times = ["day 00:00-24:00 Europe/Berlin", "day 00:00-24:00 Pacific/Apia"]
        for time in times {
            let made = try Self.json(
                firstLine(
                    succeeding(
                        fleet.run("quiet", as: "operator", ["--where", "host=*", "--every", time, "--json"]))))
            #expect(made["active"]?.bool == true && made["every"]?.string == time)
        }
        #expect(try fleet.run("quiet").standardOutput.contains("host=*, every \(times[0]), from "))
        #expect(try Self.hosts(fleet)["till-1"]?["quiet"]?.string?.hasPrefix("quiet ") == true)
        #expect(try fleet.run("audit").standardOutput.contains("quieted host=*: every \(times[1])"))
        let name = try #require(try fleet.run("quiet").standardOutput.split(separator: ":").first.map(String.init))
        try fleet.expectSuccess(fleet.run("quiet", as: "operator", ["--end", name]))
        #expect(try fleet.run("quiet").standardOutput.split(separator: "\n").count == 1)
        for wrong in [
            "day 02:00-04:00", "day 02:00-04:00 Europe/Nowhere", "day 02:00-04:00 ../passwd", "02:00-04:00 UTC",
        ] {
            let arguments = ["--where", "host=*", "--every", wrong]
            #expect(try fleet.run("quiet", as: "operator", arguments).status == 2, "\(wrong)")
        }
    }

    @Test func `a server whose configuration is from before notes still shows hosts`() throws {
        let fleet = try TestFleet(hosts: ["till-1"], isSetUp: false)
        try fleet.expectSuccess(fleet.run("setup", as: "admin", ["--hosts", fleet.directory.path + "/hosts"]))
        _ = try JetStream(try fleet.link(as: "admin")).call("STREAM.DELETE.KV_reach_notes")
        let host = try FakeHost("till-1", in: fleet)
        try host.put { $0.lease = .seconds(120) }
        try host.renew()
        #expect(try Self.hosts(fleet)["till-1"]?["state"]?.string == "online")
        #expect(try fleet.run("host", ["till-1"]).status == 0)
    }
}
