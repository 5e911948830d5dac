import Glibc
import ReachCore
import ReachFleet
import ReachFleetLink
import ReachLoop
import ReachTesting
import Testing

/// A server whose store is full: by the events of one host, or by its disk.
@Suite struct FullStoreTests {
    private static func words(_ result: BuiltProgram.Result) throws -> [String?] {
        try result.lines.map { try JSONReader.read(Array($0.utf8))["word"]?.string }
    }

    /// 21 MB of events, by a key that sends what it likes.
    private func flood(_ fleet: TestFleet) throws {
        let link = JetStream(try fleet.link(as: "till-2"))
        let payload = [UInt8](repeating: 0x41, count: 60 << 10)
        for _ in 0..<350 { _ = try? link.append(FleetNames.eventSubject(of: "till-2"), payload) }
    }

    @Test(arguments: NATSServerProcess.programs)
    func `a host that fills the store pushes out events, and nobody's lease`(_ program: String) throws {
        let fleet = try TestFleet(nats: program, storeSize: "20MB")
        var quiet = try FakeHost("till-1", in: fleet)
        try quiet.send(.reachable)
        try flood(fleet)
        let events = try #require(try JetStream(fleet.link(as: "reader")).stream(FleetNames.events))
        let most = try #require(events["config"]?["max_bytes"]?.integer)
        #expect(Int(most) == 14_680_050)
        // The newest were stored, and the oldest went.
        #expect(try #require(events["state"]?["last_seq"]?.integer) == 351)
        try quiet.put()
        try quiet.renew()
        #expect(try fleet.run("host", ["till-1"]).status == 0)
        let found = try fleet.run("doctor", ["--json"])
        #expect(try Self.words(found).contains("share"))
        #expect(try fleet.run("doctor").standardOutput.contains("till-2 writes 100 % of the newest events"))
    }

    @Test func `a report does not take for down what a full stream has dropped`() throws {
        let fleet = try TestFleet(storeSize: "20MB")
        var host = try FakeHost("till-1", in: fleet)
        try host.put { $0.lease = .seconds(120) }
        try host.renew()
        try host.send(.reachable)
        try flood(fleet)
        let report = try JSONReader.read(
            Array(succeeding(fleet.run("report", ["--since", "1h", "--json"])).standardOutput.utf8))
        let member = report["members"]?.array?.first { $0["host"]?.string == "till-1" }
        #expect(member?["of"]?["down_ms"]?.integer == 0, "\(String(describing: member))")
        #expect(try #require(member?["of"]?["unknown_ms"]?.integer) > 3_500_000)
    }

    @Test func `a store without a share of events is found, and setup gives it one`() throws {
        let fleet = try TestFleet(isSetUp: false, storeSize: "20MB")
        try fleet.expectSuccess(fleet.run("setup", as: "admin", ["--hosts", fleet.directory.path + "/hosts"]))
        let admin = JetStream(try fleet.link(as: "admin"))
        guard case .object(var settings) = try admin.stream(FleetNames.events)?["config"] else {
            return #expect(Bool(false))
        }
        settings["max_bytes"] = .integer(-1)
        _ = try admin.updateStream(FleetNames.events, JSONValue.object(settings).encoded)
        #expect(try fleet.run("doctor").standardOutput.contains("REACH_EVENTS: max_bytes differ from the plan"))
        try fleet.expectSuccess(fleet.run("setup", as: "admin", ["--update"]))
        #expect(try admin.stream(FleetNames.events)?["config"]?["max_bytes"]?.integer == 20_971_520 / 100 * 70)
    }

    @Test(arguments: NATSServerProcess.programs)
    func `setup says what the store holds, and what to do where it has no room for events`(_ program: String) throws {
        let fleet = try TestFleet(nats: program, isSetUp: false, storeSize: "20MB")
        let refused = try fleet.run("setup", as: "admin", ["--event-bytes", "30000000"])
        #expect(refused.status == 69)
        #expect(refused.standardError.contains("--store-size"), "\(refused.standardError)")
        let made = try succeeding(fleet.run("setup", as: "admin"))
        #expect(made.lines.contains("store: 20 MiB; events may fill 14 MiB"), "\(made.standardOutput)")
    }

    @Test func `a server that does not say what its store holds has no share for events, and setup and doctor say so`()
        throws
    {
        let server = try NATSServerProcess()
        let access = ["--server", "nats://127.0.0.1:\(server.port)"]
        let made = try succeeding(TestFleet.program.run(["setup"] + access))
        #expect(made.lines.contains("store: the server does not say how much it holds; events have no limit"))
        #expect(made.standardOutput.contains("--event-bytes"))
        let found = try TestFleet.program.run(["doctor", "--json"] + access)
        #expect(try Self.words(found).contains("store-unlimited"))
        let limited = try succeeding(
            TestFleet.program.run(["setup", "--update", "--event-bytes", "1000000000"] + access))
        #expect(limited.lines.contains("store: the server does not say how much it holds; events may fill 954 MiB"))
        #expect(try !Self.words(TestFleet.program.run(["doctor", "--json"] + access)).contains("store-unlimited"))
    }

    private static let mayMount = getuid() == 0

    @Test(.enabled(if: mayMount, "mounting a small disk needs root"), arguments: NATSServerProcess.programs)
    func `a server that stores no more after its disk was full is named`(_ program: String) throws {
        let disk = try TemporaryDirectory()
        try ChildProcess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none", disk.path])
        defer { _ = try? ChildProcess.run(["umount", "-l", disk.path]) }
        let fleet = try TestFleet(nats: program, in: disk.path)
        let host = try FakeHost("till-1", in: fleet)
        let waiting = HostLease(boot: "b", n: 0, since: SystemClock.now.wall, behind: 5)
        let link = JetStream(try fleet.link(as: "till-2"))
        let payload = [UInt8](repeating: 0x41, count: 60 << 10)
        var limited = link
        limited.limit = .seconds(1)
        for _ in 0..<80 {
            guard (try? limited.append(FleetNames.eventSubject(of: "till-2"), payload)) != nil else { break }
        }
        try ChildProcess.run(["mount", "-o", "remount,size=64m", disk.path])
        _ = try? host.put {
            $0.lease = .seconds(1)
            $0.outbox.behind = 5
        }
        usleep(2_500_000)
        var hostLink = JetStream(host.link)
        hostLink.limit = .seconds(1)
        _ = try? hostLink.append(FleetNames.subject(ofKey: "till-1", in: FleetNames.lease), waiting.bytes)
        let found = try fleet.run("doctor", ["--json"])
        #expect(try Self.words(found).contains("not-stored"), "\(found.standardOutput) \(found.standardError)")
        #expect(found.standardOutput.contains("restart it"))
    }
}
