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
        let agent = try TestAgent("till-1", in: TestFleet(nats: program), hasJournal: false)
        try waitUntil("the agent says no-journal") { agent.word == "no-journal" }
        try waitUntil("the host is here") {
            try agent.fleet.run("host", ["till-1"]).standardOutput.contains(": online")
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
        let agent = try TestAgent("till-1", in: fleet)
        try waitUntil("the agent says store-full") { agent.word == "store-full" }
        try limit(-1)
        try waitUntil("the agent is connected", within: .seconds(40)) { agent.word == "connected" }
    }
}
