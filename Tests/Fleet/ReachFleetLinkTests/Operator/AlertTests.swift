import Glibc
import ReachCore
import ReachFleet
import ReachFleetLink
import ReachLoop
import ReachTesting
import Testing

/// `reach-fleet watch --alerts` with a real server.
@Suite struct AlertTests {
    private static func json(_ line: String) throws -> JSONValue { try JSONReader.read(Array(line.utf8)) }

    private static func hosts(_ names: [String], in fleet: TestFleet) throws -> [FakeHost] {
        let hosts = try names.map { try FakeHost($0, in: fleet) }
        for host in hosts {
            try host.put {
                $0.lease = .seconds(20)
                $0.labels = ["site": "berlin-7"]
            }
            try host.renew()
        }
        return hosts
    }

    @Test(arguments: NATSServerProcess.programs)
    func `a site that is lost and comes back is two messages, which a program gets, too`(_ program: String) throws {
        let names = ["till-1", "till-2", "till-3"]
        let fleet = try TestFleet(hosts: names + ["other"], nats: program)
        let hosts = try Self.hosts(names, in: fleet)
        let path = fleet.directory.path
        try fleet.directory.file(
            "hook",
            "#!/bin/sh\nprintf '%s %s %s\\n' \"$REACH_ALERT_EVENT\" \"$REACH_ALERT\" \"$REACH_SENTENCE\" >>\(path)/said\ncat >>\(path)/said\n"
        )
        chmod(path + "/hook", 0o755)
        let arguments = [
            "--alerts", "--json", "--after", "1s", "--settle", "1s", "--exec", path + "/hook", "--state",
            path + "/told",
        ]
        var watch = try fleet.start("watch", arguments)
        #expect(try Self.json(watch.nextLine(within: .seconds(30)))["online"]?.integer == 3)
        for host in hosts { host.link.close() }
        // A host that is back within half a minute was reconnecting.
        let down = try Self.json(watch.nextLine(within: .seconds(90)))
        #expect(down["alert"]?.string == "site=berlin-7")
        #expect(down["hosts"]?.array?.count == 3)
        #expect(down["sentence"]?.string?.contains("3 of 3 hosts with site=berlin-7 silent since") == true)
        try waitUntil { SmallFile.text(path + "/said")?.contains("\"event\":\"down\"") == true }
        // It starts again, and says nothing twice.
        watch.send(SIGTERM)
        #expect(try watch.finish().status == 0)
        watch = try fleet.start("watch", arguments)
        defer { watch.send(SIGKILL) }
        #expect(try Self.json(watch.nextLine(within: .seconds(30)))["silent"]?.integer == 3)
        let back = try Self.hosts(names, in: fleet)
        let up = try Self.json(watch.nextLine(within: .seconds(30)))
        #expect(up["event"]?.string == "up")
        #expect(up["alert"]?.string == "site=berlin-7")
        #expect(try fleetFaults(in: [JSONText.of(down), JSONText.of(up)]) == [])
        try waitUntil { SmallFile.text(path + "/said")?.contains("up site=berlin-7 3 of 3 hosts") == true }
        #expect(SmallFile.text(path + "/said")?.contains("\"event\":\"down\"") == true)
        withExtendedLifetime(back) {}
    }

    @Test func `alerts about a host are quiet in its time, and acknowledged ones are not repeated`() throws {
        let fleet = try TestFleet(hosts: ["till-1", "till-2"])
        let hosts = try Self.hosts(["till-1"], in: fleet)
        try hosts[0].put { $0.lease = .seconds(20) }
        let other = try FakeHost("till-2", in: fleet)
        try other.put { $0.lease = .seconds(20) }
        try other.renew()
        try fleet.expectSuccess(fleet.run("quiet", as: "operator", ["--where", "host=till-1", "--for", "1h"]))
        let watch = try fleet.start(
            "watch", ["--alerts", "--json", "--after", "1s", "--settle", "1s", "--repeat", "3s"])
        defer { watch.send(SIGKILL) }
        _ = try watch.nextLine(within: .seconds(30))
        hosts[0].link.close()
        usleep(500_000)
        other.link.close()
        #expect(try Self.json(watch.nextLine(within: .seconds(90)))["alert"]?.string == "till-2")
        let reminder = try Self.json(watch.nextLine(within: .seconds(30)))
        #expect(reminder["event"]?.string == "reminder")
        try fleet.expectSuccess(fleet.run("acknowledge", as: "operator", ["till-2", "--why", "on my way"]))
        usleep(4_000_000)
        let again = try FakeHost("till-2", in: fleet)
        try again.put { $0.lease = .seconds(20) }
        try again.renew()
        var line = try Self.json(watch.nextLine(within: .seconds(30)))
        // One that was on its way.
        if line["event"]?.string == "reminder" { line = try Self.json(watch.nextLine(within: .seconds(30))) }
        #expect(line["event"]?.string == "up")
        #expect(line["acknowledged"]?.string?.contains("key U") == true)
    }

    @Test func `a server that does not answer is one message, and no host is silent because of it`() throws {
        let fleet = try TestFleet(hosts: ["till-1"])
        let host = try FakeHost("till-1", in: fleet)
        try host.put { $0.lease = .seconds(1) }
        try host.renew()
        let watch = try fleet.start("watch", ["--alerts", "--json", "--after", "2s", "--settle", "1s"])
        defer { watch.send(SIGKILL) }
        _ = try watch.nextLine(within: .seconds(30))
        fleet.server.kill()
        let down = try Self.json(watch.nextLine(within: .seconds(30)))
        #expect(down["alert"]?.string == "engine")
        try fleet.server.restart()
        let up = try Self.json(watch.nextLine(within: .seconds(60)))
        #expect(up["alert"]?.string == "engine")
        #expect(up["event"]?.string == "up")
    }

    @Test func `the hook for notices sends an alert`() throws {
        let directory = try TemporaryDirectory()
        try directory.file("reach", "#!/bin/sh\nprintf '<%s>' \"$@\" >>\(directory.path)/record\n", mode: 0o755)
        try directory.file("notify.conf", "NTFY_URL=https://ntfy.example/fleet\n")
        let result = try BuiltProgram(named: "/bin/sh").run(
            ["-c", "echo {} | \"$0\"", ProjectFile.path("contrib/hooks/notify")],
            environment: [
                "PATH": directory.path + ":/usr/bin:/bin", "REACH_NOTIFY_CONF": directory.path + "/notify.conf",
                "REACH_NOTIFY_STATE": directory.path + "/state", "REACH_EVENT": "fleet-alert",
                "REACH_ALERT": "site=berlin-7", "REACH_ALERT_EVENT": "down",
                "REACH_SENTENCE": "8 of 8 hosts with site=berlin-7 silent", "REACH_TIME": "2026-11-21T03:10:00Z",
            ])
        #expect(result.status == 0, "\(result)")
        let record = try #require(SmallFile.text(directory.path + "/record"))
        #expect(record.contains("site=berlin-7: down>"))
        #expect(record.contains("<--data-raw><8 of 8 hosts with site=berlin-7 silent (2026-11-21T03:10:00Z)>"))
        #expect(record.contains("<Priority: high>"))
    }

    @Test func `options of alerts need the flag, and a program that is none is refused`() throws {
        let fleet = try TestFleet(hosts: [])
        #expect(try fleet.run("watch", ["--after", "1m"]).status == 2)
        #expect(try fleet.run("watch", ["--alerts", "--exec", "/nowhere"]).status == 66)
        try fleet.directory.file("told", "nonsense")
        let wrong = try fleet.run("watch", ["--alerts", "--state", fleet.directory.path + "/told"])
        #expect(wrong.status == 66)
        #expect(wrong.standardError.contains("not what a watch for alerts wrote"))
    }
}

enum JSONText {
    static func of(_ value: JSONValue) -> String { String(decoding: value.encoded, as: UTF8.self) }
}
