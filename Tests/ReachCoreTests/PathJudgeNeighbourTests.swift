import ReachCore
import Testing

@Suite struct PathJudgeNeighbourTests {
    private func machine(_ state: NeighbourState, of address: IPAddress = Machine.gateway) -> Machine {
        var machine = Machine()
        machine.table.learn(state, of: Neighbour.Key(interface: 2, address: address))
        return machine
    }

    @Test(arguments: [
        NeighbourState.none, .incomplete, .reachable, .stale, .delay, .probe, .noarp, .permanent,
    ])
    func `a gateway is dead only when it failed`(state: NeighbourState) {
        let path = machine(state).path(.answer(on: 2))
        #expect(path.status == .reachable)
        #expect(path.neighbour == state)
    }

    @Test func `a gateway that failed is no way out`() {
        let path = machine(.failed).path(.answer(on: 2))
        #expect(path.status == .notReachable)
        #expect(path.reason == .gatewayUnreachable)
        #expect(path.neighbour == .failed)
    }

    // peers 52
    @Test func `a host on the link that failed is itself unreachable`() throws {
        let host = try #require(IPAddress("192.0.2.77"))
        let path = machine(.failed, of: host).path(.answer(on: 2, via: nil), to: host, isInternet: false)
        #expect(path.reason == .neighbourUnreachable)
        #expect(machine(.stale, of: host).path(.answer(on: 2, via: nil), to: host).status == .reachable)
    }

    @Test func `a gateway on another link is another gateway`() {
        var machine = Machine()
        machine.table.learn(.failed, of: Neighbour.Key(interface: 3, address: Machine.gateway))
        #expect(machine.path(.answer(on: 2)).status == .reachable)
    }

    @Test func `the first thing that is wrong is told`() {
        var machine = Machine(.up(2, "eth0").withoutCarrier)
        machine.table.learn(.failed, of: Neighbour.Key(interface: 2, address: Machine.gateway))
        #expect(machine.path(.answer(on: 2, from: nil)).reason == .noCarrier)
    }
}
