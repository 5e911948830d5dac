import Glibc
import ReachCore
import ReachFleet
import ReachLoop
import ReachTesting
import Testing

/// What everybody who can be asked says of hosts that were there all the time, while their server was not.
@Suite struct ServerRestartTests {
    private static let hosts = ["till-1", "till-2", "till-3"]

    private static func totals(_ fleet: TestFleet) throws -> String? {
        try fleet.run("status").standardOutput.split(separator: "\n").last.map(String.init)
    }

    @Test(arguments: NATSServerProcess.programs, [SIGKILL, SIGTERM])
    func `a server that ends and comes back is no absence, whoever is asked`(_ program: String, _ signal: CInt) throws {
        let fleet = try TestFleet(hosts: Self.hosts, nats: program, words: { _ in "tills site=berlin" })
        let agents = try Self.hosts.map { try TestAgent($0, in: fleet, folder: $0) }
        try waitUntil("all are online") { try Self.totals(fleet) == "3 hosts: 3 online" }
        let watch = try fleet.start("watch", ["--json"])
        #expect(try watch.nextLine().contains("\"online\":3"))
        let alerts = try fleet.start("watch", ["--alerts", "--after", "1s"])
        #expect(try alerts.nextLine() == "watching 3 hosts: 3 online")
        try fleet.server.restart(by: signal)
        var words: Set<String?> = []
        try waitUntil("all are back") {
            words.insert(try Self.totals(fleet))
            return agents.allSatisfy { $0.reconnects == 2 }
        }
        try waitUntil("their leases are there again") {
            words.insert(try Self.totals(fleet))
            return try Self.hosts.allSatisfy { try !fleet.run("host", [$0]).standardOutput.contains("restarted") }
        }
        #expect(words == ["3 hosts: 3 online"])
        try Self.expectNoAbsence(fleet)
        for running in [watch, alerts] {
            running.send(SIGTERM)
            let lines = try running.finish().lines
            #expect(lines.filter { $0.contains("silent") || $0.contains("\"left\"") } == [])
        }
    }

    private static func expectNoAbsence(_ fleet: TestFleet) throws {
        let outages = try fleet.run("outages", ["--least", "1"])
        #expect(outages.lines == [] && outages.standardError.contains("no outage"))
        let report = try fleet.run("report", ["--since", "10m"]).lines
        let rows = report.filter { line in hosts.contains { line.hasPrefix($0 + " ") } }
        #expect(rows.count == 3 && rows.allSatisfy { $0.contains(" 100 %      0 ") }, "\(report)")
        let page = fleet.directory.path + "/fleet.html", metrics = fleet.directory.path + "/fleet.prom"
        try fleet.expectSuccess(fleet.run("page", ["--output", page]))
        #expect(SmallFile.text(page, limit: 1 << 20)?.contains("\"outages\":[]") == true)
        try fleet.expectSuccess(fleet.run("export", [metrics]))
        let text = try #require(SmallFile.text(metrics, limit: 1 << 20))
        #expect(text.contains("reach_fleet_outages_open 0\n"))
        #expect(text.contains("reach_fleet_hosts{word=\"here\"} 3\n"))
    }
}
