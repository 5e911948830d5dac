import ReachCore
import ReachTesting
import Testing

@Suite struct PathJudgeNeighbourTests {
    private func machine(_ state: NeighbourState, of address: IPAddress = Machine.gateway) -> Machine {
        var machine = Machine()
        machine.table.setNeighbour(Neighbour.Key(interface: 2, address: address), to: state)
        return machine
    }

    @Test(arguments: [
        NeighbourState.none, .incomplete, .reachable, .stale, .delay, .probe, .noarp, .permanent,
    ])
    func `only a failed gateway counts against the path`(state: NeighbourState) {
        let path = machine(state).path(.answer(on: 2))
        #expect(path.status == .reachable)
        #expect(path.neighbour == state)
    }

    @Test func `a path over a failed gateway is not reachable`() {
        let path = machine(.failed).path(.answer(on: 2))
        #expect(path.status == .notReachable)
        #expect(path.reason == .gatewayUnreachable)
        #expect(path.neighbour == .failed)
    }

    @Test func `a failed host on the link is unreachable itself`() throws {
        let host = try #require(IPAddress("192.0.2.77"))
        let path = machine(.failed, of: host).path(.answer(on: 2, via: nil), to: host, isInternet: false)
        #expect(path.reason == .neighbourUnreachable)
        #expect(machine(.stale, of: host).path(.answer(on: 2, via: nil), to: host).status == .reachable)
    }

    @Test func `the same address on another link is another gateway`() {
        var machine = Machine()
        machine.table.setNeighbour(Neighbour.Key(interface: 3, address: Machine.gateway), to: .failed)
        #expect(machine.path(.answer(on: 2)).status == .reachable)
    }

    @Test func `the first problem on the path is the reason`() {
        var machine = Machine(.up(2, "eth0").withoutCarrier)
        machine.table.setNeighbour(Neighbour.Key(interface: 2, address: Machine.gateway), to: .failed)
        #expect(machine.path(.answer(on: 2, from: nil)).reason == .noCarrier)
    }
}
