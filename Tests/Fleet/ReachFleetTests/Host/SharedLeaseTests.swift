import ReachCore
import ReachFleet
import Testing

/// Two machines with one identity, as each of them notices by its lease, whether or not they have events to send.
@Suite struct SharedLeaseTests {
    private static func renew(_ agent: inout SingleAgent, isTaken: Bool) -> [String] {
        agent.pass(30)
        var words = agent.handle(.tick)
        if isTaken {
            words += agent.handle(.leaseTaken)
            #expect(words.contains("lease"))
        }
        return words + agent.handle(.leaseStored(true))
    }

    @Test func `an agent whose lease another has written twice in a row says so, in its state, too`() {
        var agent = SingleAgent.settled { $0.lease = .seconds(30) }
        _ = agent.handle(.state(SingleAgent.report))
        _ = agent.handle(.stateStored(true))
        #expect(!Self.renew(&agent, isTaken: true).contains("conflict"))
        let words = Self.renew(&agent, isTaken: true)
        #expect(words.contains("conflict") && words.contains("state"))
        #expect(agent.state?.hasConflict == true)
        // It renews as before, so that the host is not silent.
        #expect(agent.wait.map { $0 <= .seconds(30) } == true)
    }

    @Test func `one renewal by another is no conflict, and one that only this agent wrote ends it`() {
        var agent = SingleAgent.settled { $0.lease = .seconds(30) }
        for isTaken in [true, false, true, false] {
            #expect(!Self.renew(&agent, isTaken: isTaken).contains("conflict"))
        }
        _ = Self.renew(&agent, isTaken: true)
        #expect(Self.renew(&agent, isTaken: true).contains("conflict"))
        #expect(Self.renew(&agent, isTaken: false).contains("connected"))
    }
}
