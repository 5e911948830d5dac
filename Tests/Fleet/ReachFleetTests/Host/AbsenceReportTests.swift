import ReachCore
import ReachFleet
import Testing

/// What a host says at its return of the time in which it was not with the server.
@Suite struct AbsenceReportTests {
    private static func lease(_ agent: SingleAgent, ago: Double, boot: String = "b", server: String? = "s")
        -> FleetMachine.LeaseAnswer
    {
        let time = agent.now.wall + .nanoseconds(Int64(-ago * 1e9))
        return .renewed(
            HostLease(boot: boot, n: 1, since: time, behind: 0, server: server, period: .seconds(30)), at: time)
    }

    /// The absence in the chunk that the agent sent last.
    private static func absence(_ agent: inout SingleAgent, _ answer: FleetMachine.LeaseAnswer) -> HostAbsence? {
        _ = agent.handle(.start)
        _ = agent.connected()
        _ = agent.handle(.lease(answer))
        _ = agent.tail(.none)
        _ = agent.journal(SingleAgent.page(newest: 0))
        guard let chunk = agent.chunk, chunk.mark != nil,
            case .absence(let absence)? = chunk.events().events.first?.kind
        else { return nil }
        return absence
    }

    @Test func `the lease waits until the agent has read the one before`() {
        var agent = SingleAgent()
        _ = agent.handle(.start)
        #expect(agent.connected() == ["read lease", "tail", "connected"])
        #expect(agent.wait == FleetMachine.patience)
        agent.pass(10)
        #expect(agent.handle(.tick).contains("lease"))
        #expect(agent.handle(.lease(.none)) == [])
    }

    @Test(arguments: [(59.0, false), (61, true)])
    func `a missed renewal and more than reconnecting takes is an absence`(_ ago: Double, _ counts: Bool) {
        var agent = SingleAgent()
        let absence = Self.absence(&agent, Self.lease(agent, ago: ago))
        #expect((absence != nil) == counts)
    }

    @Test func `it says since when, whether the machine has started, and whether the server was there`() {
        var agent = SingleAgent()
        let from = agent.now.wall + .seconds(-280)
        #expect(
            Self.absence(&agent, Self.lease(agent, ago: 280, boot: "other"))
                == HostAbsence(from: from, isKnown: true, hasRestarted: true, lease: .seconds(30)))
        var moved = SingleAgent()
        #expect(
            Self.absence(&moved, Self.lease(moved, ago: 280, server: "before"))
                == HostAbsence(from: from, isKnown: false, lease: .seconds(30)))
        var left = SingleAgent()
        #expect(
            Self.absence(&left, .deleted(at: from))?.hadLeft == true)
        var new = SingleAgent()
        #expect(Self.absence(&new, .none) == nil)
    }

    @Test
    func `an agent that ran on knows how long it was away, whatever its clock shows, and tells each absence once`() {
        var agent = SingleAgent.settled()
        agent.pass(100)
        _ = agent.handle(.disconnected(.unreachable))
        agent.pass(400)
        _ = agent.handle(.tick)
        _ = agent.connected()
        _ = agent.handle(.lease(.none))
        let message = SingleAgent.chunk(1...1)
        #expect(agent.tail(.message(sequence: 5, message)).contains("publish l 2-1 behind 5"))
        guard case .absence(let absence)? = agent.chunk?.events().events.first?.kind else {
            Issue.record("no absence")
            return
        }
        #expect(absence.away == .seconds(500) && absence.isKnown && !absence.hasRestarted)
        #expect(absence.after == .init(n: 1, moment: SingleAgent.moment))
        #expect(agent.published(.stored(sequence: 6, isDuplicate: false)) == ["remember l 1 at 6"])
        #expect(agent.journal(SingleAgent.page(2...2)).contains("publish l 2-2 behind 6"))
    }

    @Test(arguments: [(59.0, false), (130, true)])
    func `a host that slept while its connection survived says so when it renews its lease`(
        _ asleep: Double, _ counts: Bool
    ) {
        var agent = SingleAgent.settled()
        agent.pass(asleep)
        #expect(agent.handle(.tick) == ["lease"])
        #expect(agent.handle(.leaseStored(true)).contains("publish l 2-1 behind 5") == counts)
        guard counts, case .absence(let absence)? = agent.chunk?.events().events.first?.kind else { return }
        #expect(absence.away == .seconds(130) && absence.isKnown && absence.from == nil && !absence.hasRestarted)
        _ = agent.published(.stored(sequence: 6, isDuplicate: false))
        agent.pass(30)
        _ = agent.handle(.tick)
        #expect(agent.handle(.leaseStored(true)) == [])
    }

    @Test func `what wakes up first and reports an event says so as well, and once`() {
        var agent = SingleAgent.settled()
        agent.pass(130)
        #expect(agent.journal(SingleAgent.page(2...2)).contains("publish l 2-2 behind 5"))
        #expect(agent.published(.stored(sequence: 6, isDuplicate: false)).contains("publish l 3-2 behind 6"))
        #expect(agent.published(.stored(sequence: 7, isDuplicate: false)) == ["remember l 2 at 7"])
        #expect(agent.handle(.leaseStored(true)) == [])
    }

    @Test func `a path that is no longer metered, and a full store, are no absences`() {
        var agent = SingleAgent.settled { $0.meteredLease = .seconds(600) }
        _ = agent.handle(.path(exists: true, isMetered: true, epoch: 1))
        _ = agent.handle(.leaseStored(true))
        agent.pass(500)
        #expect(agent.handle(.path(exists: true, isMetered: false, epoch: 2)) == ["lease"])
        #expect(agent.handle(.leaseStored(true)) == [])
        for _ in 0..<12 {
            agent.pass(10)
            _ = agent.handle(.tick)
            _ = agent.handle(.leaseFull)
        }
        agent.pass(10)
        _ = agent.handle(.tick)
        #expect(!agent.handle(.leaseStored(true)).contains { $0.hasPrefix("publish") })
    }

    @Test func `a later run finds its place behind the message of an absence, and another machine's event`() throws {
        let known = FleetMemory(host: "till-1", log: "l", n: 3, sequence: 5)
        for (moment, word) in [(SingleAgent.moment, "publish l 4-4 behind 9"), (Instant.distant, "open beyond l")] {
            var absence = HostAbsence(from: at(0), isKnown: true, lease: .seconds(30))
            absence.after = .init(n: 3, moment: moment)
            let chunk = EventChunk(absence, log: "l", after: 3, tail: 5, boot: "b", at: SingleAgent.moment)
            let stored = try EventChunk(headers: chunk.headers(expecting: 5), payload: chunk.payload)
            var agent = SingleAgent(memory: known)
            _ = agent.connect()
            #expect(agent.tail(.message(sequence: 9, stored)) == ["open l 2"])
            #expect(agent.journal(SingleAgent.page(3...4)).contains(word))
        }
    }
}

extension Instant {
    fileprivate static let distant = Instant(
        wall: Timestamp(nanosecondsSince1970: 1_700_000_000_000_000_000), boot: BootTime(nanoseconds: 1))
}
