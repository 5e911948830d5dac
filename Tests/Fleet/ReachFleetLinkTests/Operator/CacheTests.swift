import Glibc
import ReachCore
import ReachFleet
import ReachFleetLink
import ReachLoop
import ReachTesting
import Testing

/// What readers keep in the user's cache, with a real server.
@Suite struct CacheTests {
    private static let hosts = (0..<8).map { "till-\($0)" }

    /// A fleet in which the hosts have reported, and some were without the Internet.
    private static func fleet(_ program: String = "nats-server") throws -> (TestFleet, [FakeHost]) {
        let fleet = try TestFleet(hosts: hosts, nats: program)
        var fakes = try hosts.map { try FakeHost($0, in: fleet) }
        for index in fakes.indices {
            try fakes[index].put { $0.lease = .seconds(600) }
            try fakes[index].renew()
        }
        try fail(&fakes, 0..<6)
        return (fleet, fakes)
    }

    private static func fail(_ fakes: inout [FakeHost], _ range: Range<Int>) throws {
        for index in range { try fakes[index].send(.notReachable, reason: .noCarrier) }
        for index in range { try fakes[index].send(.reachable) }
    }

    /// What does not depend on the moment of looking.
    private static func printed(_ fleet: TestFleet, isKept: Bool) throws -> [String] {
        func run(_ command: String, _ arguments: [String]) throws -> String {
            let reader = TestFleet.program
            let key = fleet.directory.path + "/reader.nk"
            return try reader.run(
                [command, "--server", "nats://127.0.0.1:\(fleet.server.port)", "--key-file", key] + arguments,
                environment: ["XDG_CACHE_HOME": isKept ? fleet.cache : "/dev/null"],
                limit: .seconds(60)
            ).standardOutput
        }
        let report = try JSONReader.read(Array(run("report", ["--since", "1h", "--json"]).utf8))
        let members = (report["members"]?.array ?? []).map { member in
            "\(member["host"]?.string ?? "") \(member["of"]?["outages"]?.integer ?? -1) "
                + "\(member["of"]?["longest_ms"]?.integer ?? -1)"
        }
        return [
            try run("status", ["--json"]), try run("outages", ["--json"]), members.joined(separator: "\n"),
            "\(report["outages"]?.array?.count ?? -1)",
        ]
    }

    private static func expectSame(_ fleet: TestFleet, _ when: String) throws {
        // The second reading has what the first one kept.
        for _ in 0..<2 {
            let (kept, fresh) = (try printed(fleet, isKept: true), try printed(fleet, isKept: false))
            #expect(kept == fresh, "\(when)")
        }
    }

    private static func files(_ fleet: TestFleet) throws -> [String] {
        try DirectoryNames.read(fleet.cache + "/reach-fleet").filter { !$0.hasPrefix(".") }.sorted()
    }

    @Test(arguments: NATSServerProcess.programs)
    func `commands print the same with what was kept, whatever happened to the streams`(_ program: String) throws {
        var (fleet, fakes) = try Self.fleet(program)
        try Self.expectSame(fleet, "at first")
        #expect(try Self.printed(fleet, isKept: true)[1].contains("fleet-outage"))
        try Self.fail(&fakes, 1..<7)
        try fakes[7].put {
            $0.labels = ["site": "berlin-7"]
            // An absence that lasts is longer each time that somebody looks.
            $0.lease = .seconds(600)
        }
        try fakes[0].put { $0.left = $0.written.wall }
        try Self.expectSame(fleet, "after more events and states")
        try fleet.server.restart()
        try waitUntil { try fleet.run("status").status == 0 }
        try Self.expectSame(fleet, "after a restart of the server")
        let admin = try fleet.link(as: "admin")
        let purge = #"{"filter":"\#(FleetNames.subject(ofKey: "till-3", in: FleetNames.state))"}"#
        _ = try JetStream(admin).call("STREAM.PURGE.KV_reach_state", Array(purge.utf8))
        try Self.expectSame(fleet, "after a host's state was purged")
        _ = try JetStream(admin).call("STREAM.PURGE.\(FleetNames.events)", Array(#"{"keep":5}"#.utf8))
        try Self.expectSame(fleet, "after old events were purged")
        _ = try JetStream(admin).call("STREAM.PURGE.\(FleetNames.connections)")
        try Self.expectSame(fleet, "after the reports of connections were purged")
        _ = try JetStream(admin).call("STREAM.DELETE.\(FleetNames.events)")
        try fleet.run("setup", as: "admin", ["--hosts", fleet.directory.path + "/hosts"])
        try Self.expectSame(fleet, "after the stream was made again")
        withExtendedLifetime(fakes) {}
    }

    @Test func `what another could have written, or a disk has damaged, is not read and written again`() throws {
        let (fleet, fakes) = try Self.fleet()
        let fresh = try Self.printed(fleet, isKept: false)
        _ = try Self.printed(fleet, isKept: true)
        let files = try Self.files(fleet)
        #expect(
            files.compactMap { $0.split(separator: ".").last }
                == ["KV_reach_hosts", "KV_reach_state", "REACH_CONN", "REACH_EVENTS"])
        let folder = fleet.cache + "/reach-fleet"
        var status = stat()
        #expect(stat(folder, &status) == 0 && status.st_mode & 0o777 == 0o700)
        for name in files {
            let path = folder + "/" + name
            #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
            // Whoever may write it could say anything.
            chmod(path, 0o620)
        }
        #expect(try Self.printed(fleet, isKept: true) == fresh)
        for name in files {
            let path = folder + "/" + name
            #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
            truncate(path, status.st_size / 2)
        }
        #expect(try Self.printed(fleet, isKept: true) == fresh)
        chmod(folder, 0o770)
        for name in files { truncate(folder + "/" + name, 0) }
        #expect(try Self.printed(fleet, isKept: true) == fresh)
        for name in files { #expect(stat(folder + "/" + name, &status) == 0 && status.st_size == 0) }
        withExtendedLifetime(fakes) {}
    }

    @Test(arguments: NATSServerProcess.programs)
    func `a report about a few hosts of many reads their events alone, and says of them the same`(
        _ program: String
    ) throws {
        let hosts = (0..<30).map { "till-\($0)" }
        let fleet = try TestFleet(hosts: hosts, nats: program)
        var fakes = try hosts.map { try FakeHost($0, in: fleet) }
        for index in fakes.indices {
            try fakes[index].put { $0.lease = .seconds(600) }
            try fakes[index].renew()
        }
        try Self.fail(&fakes, 0..<30)
        func report(_ arguments: [String]) throws -> JSONValue {
            let result = try fleet.run("report", ["--since", "1h", "--json"] + arguments)
            return try JSONReader.read(Array(succeeding(result).standardOutput.utf8))
        }
        let few = try report(["--where", "host=till-3 or host=till-4"])
        let all = try report([])
        #expect(few["hosts"]?.integer == 2 && few["outages_read"]?.bool == false && few["outages"]?.array == [])
        #expect(all["hosts"]?.integer == 30 && all["outages_read"]?.bool == true)
        #expect(all["outages"]?.array?.isEmpty == false)
        let many = try report(["--where", "not host=till-3"])
        #expect(many["outages_read"]?.bool == true)
        for (report, host) in [(few, "till-3"), (few, "till-4"), (many, "till-4")] {
            func figures(_ report: JSONValue) -> [Int64?] {
                let member = report["members"]?.array?.first { $0["host"]?.string == host }
                return ["outages", "longest_ms", "confirmed_ms"].map { member?["of"]?[$0]?.integer }
            }
            #expect(figures(report) == figures(all) && figures(all)[0] == 1, "\(host)")
        }
        let text = try fleet.run("report", ["--since", "1h", "--where", "host=till-3"]).standardOutput
        #expect(text.contains("not looked for"))
        withExtendedLifetime(fakes) {}
    }
}
