import Glibc
import ReachControl
import ReachCore
import ReachFleet
import ReachFleetLink
import ReachLoop
import ReachQueue
import ReachTesting
import Testing

/// An operator, a real server with rights, an agent, and a real daemon.
private final class HoldFixture {
    static let host = "till-1"

    let fleet: TestFleet
    private var daemon: RunningProgram?
    private var agent: RunningProgram?

    init(accepts: String = "accept = [\"queue-hold\"]") throws {
        fleet = try TestFleet(hosts: [Self.host])
        try fleet.directory.file("reach.toml", "[journal]\nevents = [\"status\", \"queue\"]\n")
        try configure(accepts)
        try startDaemon()
        try startAgent()
        // Only hosts that the operator knows are counted.
        let stream = try JetStream(fleet.link(as: "admin"))
        try waitUntil("the host is known") { try stream.entry(Self.host, in: FleetNames.state) != nil }
    }

    deinit { stopAgent() }

    var socket: String { fleet.directory.path + "/reach.sock" }

    func configure(_ accepts: String) throws {
        let path = fleet.directory.path
        try fleet.directory.file(
            "fleet.toml",
            """
            servers = ["nats://127.0.0.1:\(fleet.server.port)"]
            credentials = "\(path)/\(Self.host).nk"
            host = "\(Self.host)"
            groups = ["tills"]
            spread = "0s"
            \(accepts)
            """)
    }

    func startDaemon() throws {
        let path = fleet.directory.path
        let program = try BuiltProgram(named: "reachd").start([
            "--config", path + "/reach.toml", "--socket", socket, "--state", path + "/state", "--events",
        ])
        _ = try program.nextLine()
        daemon = program
    }

    func killDaemon() throws {
        daemon?.send(SIGKILL)
        _ = try daemon?.finish()
        daemon = nil
    }

    func startAgent() throws {
        let path = fleet.directory.path
        agent = try TestFleet.program.start([
            "agent", "--config", path + "/fleet.toml", "--socket", socket, "--runtime", path, "--state", path,
        ])
    }

    func stopAgent() {
        agent?.send(SIGTERM)
        _ = try? agent?.finish()
        agent = nil
    }

    var holds: [QueueHold.Source] {
        get throws {
            var client = try ControlClient(path: socket)
            return try client.queueHolds().map(\.source)
        }
    }

    func waitForHolds(_ wanted: [QueueHold.Source]) throws {
        try waitUntil("the holds \(wanted)") { try self.holds == wanted }
    }

    func operate(_ command: String, _ arguments: String...) throws -> BuiltProgram.Result {
        try fleet.run(command, as: "operator", arguments)
    }
}

@Suite(.timeLimit(.minutes(2))) struct `The fleet holds a host's queue` {
    @Test func `hold and release are obeyed, reported, in addition to the user's`() throws {
        let fixture = try HoldFixture()
        let held = try fixture.operate("hold", "--all", "--reason", "rollout 7", "--wait", "20s")
        #expect(held.status == 0, "\(held.standardOutput)\(held.standardError)")
        #expect(held.standardOutput.hasSuffix("of all: applied by 1 of 1 hosts\n"))
        var client = try ControlClient(path: fixture.socket)
        let request = try client.add(RequestSpecification(url: "http://127.0.0.1:1/"))
        let reason = try #require(try client.explanation(ofRequest: request.id).reasons.first)
        #expect(reason.blocker == .fleetHold && reason.text == "The fleet holds the queue: rollout 7.")
        // No user's release lifts it.
        try client.release(.all)
        #expect(try fixture.holds == [.fleet])
        try waitUntil("the agent says so") {
            let path = fixture.fleet.directory.path
            let result = try TestFleet.program.run([
                "self", "--json", "--config", path + "/fleet.toml", "--runtime", path,
            ])
            return result.standardOutput.contains("\"queue_held\":true,\"queue_reason\":\"rollout 7\"")
        }
        try waitUntil("the operator sees it") {
            try fixture.fleet.run("status", ["--json"]).standardOutput.contains("\"queue_held\":[\"fleet\"]")
        }
        // Nor does the fleet's release lift the user's.
        try client.hold(.all)
        let released = try fixture.operate("release", "--all", "--wait", "20s")
        #expect(released.status == 0, "\(released.standardOutput)\(released.standardError)")
        #expect(try fixture.holds == [.root])
    }

    @Test func `the hold survives kills, and hosts that were away converge`() throws {
        let fixture = try HoldFixture()
        #expect(try fixture.operate("hold", "--group", "tills", "--wait", "20s").status == 0)
        try fixture.killDaemon()
        fixture.stopAgent()
        try fixture.startDaemon()
        try fixture.waitForHolds([.fleet])
        // While the agent is away nothing changes; it obeys when it is back.
        #expect(try fixture.operate("release", "--group", "tills").status == 0)
        #expect(try fixture.holds == [.fleet])
        try fixture.startAgent()
        try fixture.waitForHolds([])
        // The same with a daemon that is away.
        try fixture.killDaemon()
        #expect(try fixture.operate("hold", "--host", HoldFixture.host).status == 0)
        try fixture.startDaemon()
        try fixture.waitForHolds([.fleet])
        try fixture.fleet.server.restart()
        #expect(try fixture.operate("release", "--host", HoldFixture.host, "--wait", "30s").status == 0)
        try fixture.waitForHolds([])
    }

    @Test func `a host that does not accept it holds nothing, reports nothing, and releases what it held before`()
        throws
    {
        let fixture = try HoldFixture()
        #expect(try fixture.operate("hold", "--all", "--wait", "20s").status == 0)
        try fixture.waitForHolds([.fleet])
        fixture.stopAgent()
        try fixture.configure("")
        try fixture.startAgent()
        try fixture.waitForHolds([])
        let result = try fixture.operate("hold", "--all", "--wait", "2s")
        #expect(
            result.status == 1
                && result.standardOutput.hasSuffix(
                    "applied by 0 of 0 hosts; 1 accept no holds ('accept' in their reach-fleet.toml)\n")
        )
        #expect(try fixture.holds == [])
    }
}
