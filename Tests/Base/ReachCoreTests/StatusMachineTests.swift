import ReachCore
import ReachTesting
import Testing

@Suite struct StatusMachineTests {
    @Test func `nothing is known before the first verdict, which is the initial change`() throws {
        var machine = StatusMachine(target: .internet, at: .at(0))
        #expect(machine.state.status == .unknown)
        #expect(machine.state.reason == nil)
        #expect(machine.deadline == nil)
        let found = machine.see(.eth0, at: 1)
        let change = try #require(found)
        #expect(change.isInitial)
        #expect(change.previous == nil)
        #expect(change.cause == .start)
        #expect(change.aspects == [])
        #expect(change.state.status == .reachable)
        #expect(change.state.since == Instant.at(1).wall)
        #expect(change.time == Instant.at(1).wall)
        #expect(change.bootTime == .at(1))
    }

    @Test func `a repeated verdict is no change`() {
        var machine = StatusMachine.begun()
        #expect(machine.see(.eth0, at: 1) == nil)
        #expect(machine.see(.lost, at: 2) != nil)
        #expect(machine.see(.lost, at: 3) == nil)
    }

    @Test(arguments: [Verdict.lost, .blind, .eth0])
    func `any status that lasts is reported once`(verdict: Verdict) {
        var machine = StatusMachine.begun(with: verdict)
        for second in 1...10 { #expect(machine.see(verdict, at: Double(second)) == nil) }
    }

    @Test func `another path with the same status is one change of the path`() throws {
        var machine = StatusMachine.begun()
        let found = machine.see(.via("eth1", gateway: "198.51.100.1"), at: 1, cause: .linkDown)
        let change = try #require(found)
        #expect(change.aspects == [.path])
        #expect(change.cause == .linkDown)
        #expect(change.previous?.interface == "eth0")
        #expect(change.state.interface == "eth1")
        #expect(change.state.since == Instant.at(0).wall, "reachable since the beginning")
    }

    @Test func `a family that appears or disappears next to a working one is a change of the path`() throws {
        var machine = StatusMachine.begun()
        var both = Verdict.eth0
        both.ipv6 = NetworkPath(status: .reachable)
        #expect(machine.see(both, at: 1)?.aspects == [.path])
        #expect(machine.see(.eth0, at: 2)?.aspects == [.path])
        #expect(machine.state.since == Instant.at(0).wall)
    }

    @Test func `class and metering are aspects next to the path`() {
        var machine = StatusMachine.begun()
        #expect(machine.see(.via("wlan0", .wifi), at: 1)?.aspects == [.path, .linkClass])
        #expect(machine.see(.via("wwan0", .wwan, isMetered: true), at: 2)?.aspects == [.path, .linkClass, .metered])
    }

    @Test func `a change of the status lists no other aspect`() {
        var machine = StatusMachine.begun(with: .via("wwan0", .wwan, isMetered: true))
        #expect(machine.see(.lost, at: 1)?.aspects == [.status])
        #expect(machine.see(.via("wlan0", .wifi), at: 2)?.aspects == [.status])
    }

    @Test func `another reason with the same status is a change of the path`() {
        var machine = StatusMachine.begun(with: .lost)
        #expect(machine.see(.noCarrier, at: 1)?.aspects == [.path])
        #expect(machine.state.reason == .noCarrier)
    }

    @Test func `a neighbour entry that ages is no change`() {
        var verdict = Verdict.eth0
        verdict.ipv4.neighbour = .reachable
        var machine = StatusMachine.begun(with: verdict)
        verdict.ipv4.neighbour = .stale
        #expect(machine.see(verdict, at: 1) == nil)
        #expect(machine.state.ipv4.neighbour == .stale, "but it shows in the state")
    }

    @Test func `down and up again to the same path are two changes`() throws {
        var machine = StatusMachine.begun()
        let before = machine.state
        let foundDown = machine.see(.lost, at: 1, cause: .routeRemoved)
        let down = try #require(foundDown)
        let foundUp = machine.see(.eth0, at: 2, cause: .routeAdded)
        let up = try #require(foundUp)
        #expect([down.aspects, up.aspects] == [[.status], [.status]])
        #expect(down.state.status == .notReachable)
        #expect(up.previous == down.state)
        #expect(up.state.ipv4 == before.ipv4)
        #expect(up.state.since == Instant.at(2).wall)
        #expect(up.state.flaps == 1)
    }

    @Test func `each change differs from the last reported state`() {
        var machine = StatusMachine.begun()
        var last = machine.state
        let verdicts: [Verdict] = [.via("eth1"), .via("eth1"), .lost, .noCarrier, .via("wlan0", .wifi), .eth0, .eth0]
        for (second, verdict) in verdicts.enumerated() {
            guard let change = machine.see(verdict, at: Double(second)) else { continue }
            #expect(change.previous?.status == last.status)
            #expect(change.previous?.ipv4 == last.ipv4)
            #expect(change.state == machine.state)
            last = change.state
        }
        #expect(last == machine.state)
    }

    @Test func `a new epoch is part of the next change`() {
        var machine = StatusMachine.begun()
        #expect(machine.observe(.eth0, cause: .poll, epoch: 5, at: .at(1)) == nil)
        #expect(machine.state.epoch == 5)
        #expect(machine.observe(.lost, cause: .poll, epoch: 6, at: .at(2))?.state.epoch == 6)
    }

    @Test func `the state is stale until the next verdict`() {
        var machine = StatusMachine.begun()
        machine.becomeStale()
        #expect(machine.state.isStale)
        #expect(machine.state.status == .reachable)
        #expect(machine.see(.eth0, at: 1) == nil)
        #expect(!machine.state.isStale)
    }

    @Test func `numbering a change keeps everything else`() throws {
        var machine = StatusMachine.begun()
        let found = machine.see(.lost, at: 1)
        let change = try #require(found)
        let numbered = change.numbered(7)
        #expect(numbered.sequenceNumber == 7)
        #expect(numbered.numbered(change.sequenceNumber) == change)
    }
}
