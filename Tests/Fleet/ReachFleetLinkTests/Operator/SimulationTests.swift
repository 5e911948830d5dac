import ReachTesting
import Testing

/// `Tests/Field/fleet/sim`: hosts with the product's machine, a real nats-server or three, and an oracle that compares.
@Suite struct SimulationTests {
    private func simulate(_ arguments: String...) throws -> String {
        let output = try ChildProcess.run(["env", "LEASE=2", ProjectFile.path("Tests/Field/fleet/sim")] + arguments)
        print(output)
        return output
    }

    @Test(.enabled(if: TestProgram.path("nats-server") != nil, "nats-server is not installed"))
    func `a simulated fleet with an outage, clones and wrong clocks is in the engine as it happened`() throws {
        let output = try simulate(
            "--hosts", "80", "--connections", "4", "--outage", "30", "--outage-start", "4s", "--outage-time", "15s",
            "--time", "19s", "--clones", "2", "--wrong-clocks", "5")
        #expect(
            output.contains("30 of 30 hosts with isp=coast-cable not reachable since")
                || output.contains("30 of 30 hosts with isp=coast-cable silent since"))
        #expect(output.contains("the engine holds what happened"))
    }

    @Test(.enabled(if: TestProgram.path("nats-server") != nil, "nats-server is not installed"))
    func `a fleet that is smaller than the outage goes as a whole`() throws {
        let output = try simulate(
            "--hosts", "8", "--connections", "2", "--outage-start", "0s", "--outage-time", "0s", "--time", "0s")
        #expect(output.contains("8 of 8 hosts with isp=coast-cable"))
        #expect(output.contains("the engine holds what happened"))
    }

    @Test(.enabled(if: TestProgram.path("nats-server") != nil, "nats-server is not installed"))
    func `after revocations, three days without the engine and a mass return nothing is lost or repeated`() throws {
        let output = try simulate(
            "--hosts", "60", "--connections", "4", "--outage", "10", "--outage-start", "2s", "--outage-time", "15s",
            "--time", "5s", "--clones", "2", "--revoked", "3", "--absence", "3d", "--return-events", "30")
        #expect(output.contains("13 hosts are silent, as they should be; 3 are refused"))
        #expect(output.contains("without the engine for 3 d"))
        #expect(output.contains("all hosts are back at once, 32 events each"))
        #expect(output.contains("the engine holds what happened"))
    }

    @Test(.enabled(if: TestProgram.path("nats-server") != nil, "nats-server is not installed"))
    func `when the leader of three servers is killed, nothing is lost or repeated, and a reader misses nothing`() throws
    {
        let output = try simulate(
            "--servers", "3", "--hosts", "40", "--connections", "4", "--outage", "0", "--outage-start", "0s",
            "--outage-time", "0s", "--time", "0s", "--clones", "0", "--kill-leader")
        #expect(output.contains("the leader was killed: the engine has everything"))
        #expect(output.contains("the engine holds what happened"))
    }
}
