import Glibc
import ReachCore
import ReachFleet
import ReachFleetLink
import ReachLoop
import ReachTesting
import Testing

/// An agent on a server as `reach-fleet config` sets it up, and the word that it has for what is wrong.
@Suite struct AgentWordTests {
    private final class Fixture {
        let fleet: TestFleet
        let daemon: FakeDaemon
        private let program: RunningProgram

        /// - Parameters:
        ///   - host: The name in the agent's configuration.
        ///   - key: The host whose key it has.
        init(_ fleet: TestFleet, host: String = "till-1", key: String = "till-1", hasJournal: Bool = true) throws {
            self.fleet = fleet
            let path = fleet.directory.path
            daemon = try FakeDaemon(at: path + "/reach.sock", hasJournal: hasJournal)
            let file = try fleet.directory.file(
                "fleet.toml",
                """
                servers = ["nats://127.0.0.1:\(fleet.server.port)"]
                host = "\(host)"
                credentials = "\(path)/\(key).nk"
                lease = "10s"
                spread = "1s"
                """)
            program = try TestFleet.program.start([
                "agent", "--config", file, "--socket", daemon.path, "--runtime", path, "--state", path,
            ])
        }

        deinit {
            program.send(SIGTERM)
            _ = try? program.finish()
            daemon.stop()
        }

        /// What the agent says of itself.
        var word: String? {
            SmallFile.text(fleet.directory.path + "/self.json")
                .flatMap { try? JSONReader.read(Array($0.utf8))["state"]?.string }
        }
    }

    @Test(arguments: NATSServerProcess.programs)
    func `a key of another host has its word`(_ program: String) throws {
        let fixture = try Fixture(TestFleet(nats: program), host: "till-9")
        try waitUntil("the agent says wrong-host") { fixture.word == "wrong-host" }
    }

    @Test(arguments: NATSServerProcess.programs)
    func `a daemon without a journal has its word, and the fleet sees the host's state`(_ program: String) throws {
        let fixture = try Fixture(TestFleet(nats: program), hasJournal: false)
        try waitUntil("the agent says no-journal") { fixture.word == "no-journal" }
        try waitUntil("the host is here") {
            try fixture.fleet.run("host", ["till-1"]).standardOutput.contains(": online")
        }
    }

    @Test(arguments: NATSServerProcess.programs)
    func `a lease that a full store refuses has its word, until there is room`(_ program: String) throws {
        let fleet = try TestFleet(nats: program)
        let admin = JetStream(try fleet.link(as: "admin"))
        let bucket = FleetNames.stream(of: FleetNames.lease)
        func limit(_ bytes: Int64) throws {
            guard case .object(var settings) = try admin.stream(bucket)?["config"] else { return #expect(Bool(false)) }
            settings["max_bytes"] = .integer(bytes)
            _ = try admin.updateStream(bucket, JSONValue.object(settings).encoded)
        }
        try limit(1)
        let fixture = try Fixture(fleet)
        try waitUntil("the agent says store-full") { fixture.word == "store-full" }
        try limit(-1)
        try waitUntil("the agent is connected", within: .seconds(40)) { fixture.word == "connected" }
    }
}
