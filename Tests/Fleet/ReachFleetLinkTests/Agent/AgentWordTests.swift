import Glibc
import ReachCore
import ReachFleet
import ReachFleetLink
import ReachLoop
import ReachTesting
import Testing

/// An agent on a server as `reach-fleet config` sets it up, and the word that it has for what is wrong.
@Suite struct AgentWordTests {
    @Test(arguments: NATSServerProcess.programs)
    func `a key of another host has its word`(_ program: String) throws {
        let agent = try TestAgent("till-9", with: "till-1", in: TestFleet(nats: program))
        try waitUntil("the agent says wrong-host") { agent.word == "wrong-host" }
    }

    @Test(arguments: NATSServerProcess.programs)
    func `a daemon without a journal has its word, and the fleet sees the host's state`(_ program: String) throws {
        let agent = try TestAgent("till-1", in: TestFleet(nats: program), refusing: FakeDaemon.noJournal)
        try waitUntil("the agent says no-journal") { agent.word == "no-journal" }
        try waitUntil("the host is here") {
            try agent.fleet.run("host", ["till-1"]).standardOutput.contains(": online")
        }
    }

    @Test(arguments: ["a user may follow the journal 16 times", "the journal's files cannot be opened"])
    func `a daemon that hands out no events now is not called one that does not answer`(_ reason: String) throws {
        let agent = try TestAgent("till-1", in: TestFleet(), refusing: reason)
        try waitUntil("the agent says journal-refused") { agent.word == "journal-refused" && agent.error == reason }
        try waitUntil("the host is here") {
            try agent.fleet.run("host", ["till-1"]).standardOutput.contains(": online")
        }
    }

    @Test(arguments: NATSServerProcess.programs)
    func `two machines with one key and no event to send are found by their leases, and all who look see it`(
        _ program: String
    ) throws {
        let fleet = try TestFleet(nats: program)
        let agents = try ["a", "b"].map {
            try TestAgent("till-1", in: fleet, folder: $0, refusing: FakeDaemon.noJournal)
        }
        // Whoever sees the other's lease first renews its own no more, so the other one may see nothing strange.
        try waitUntil("one says conflict", within: .seconds(120)) { agents.contains { $0.word == "conflict" } }
        try waitUntil("the fleet sees it", within: .seconds(60)) {
            try fleet.run("host", ["till-1"]).standardOutput.contains("limited")
        }
        #expect(try fleet.run("doctor").standardOutput.contains("till-1"))
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
        let agent = try TestAgent("till-1", in: fleet)
        try waitUntil("the agent says store-full") { agent.word == "store-full" }
        try limit(-1)
        try waitUntil("the agent is connected", within: .seconds(40)) { agent.word == "connected" }
    }
}
