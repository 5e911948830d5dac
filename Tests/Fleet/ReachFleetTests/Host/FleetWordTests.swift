import ReachCore
import ReachFleet
import Testing

/// What an agent says of itself, and whether it connects at all.
@Suite struct FleetWordTests {
    private static let now = Instant(
        wall: Timestamp(nanosecondsSince1970: 1_795_000_000_000_000_000), boot: .init(nanoseconds: 0))

    private static func machine(_ metered: FleetMachine.MeteredRule) -> FleetMachine {
        var settings = FleetMachine.Settings(host: "till-1", boot: "b")
        settings.metered = metered
        return FleetMachine(settings, seed: 7)
    }

    @Test(
        arguments: [
            (.unreachable, .engineDown), (.refused, .refused), (.wrongHost, .wrongHost), (.untrusted, .untrusted),
            (.portal, .portal), (.clock, .clock), (.tokenEnded, .tokenEnded),
        ] as [(FleetMachine.Loss, FleetWord)])
    func `each reason why there is no connection has its word`(loss: FleetMachine.Loss, word: FleetWord) {
        var machine = Self.machine(.nothing)
        _ = machine.handle(.start, at: Self.now)
        #expect(machine.handle(.disconnected(loss), at: Self.now).contains(.word(word)))
        #expect(machine.word == word)
    }

    @Test func `after its token ended an agent connects soon by what its file has then, and waits if that has ended`() {
        var machine = Self.machine(.all)
        _ = machine.handle(.start, at: Self.now)
        _ = machine.handle(.connected(FleetMachine.Server()), at: Self.now)
        _ = machine.handle(.disconnected(.tokenEnded), at: Self.now)
        #expect(machine.word == .connecting)
        guard let due = machine.deadline else {
            Issue.record("no try is planned")
            return
        }
        #expect(due <= Self.now.boot + .seconds(5))
        let later = Instant(wall: Self.now.wall, boot: due)
        #expect(machine.handle(.tick, at: later).contains(.connect))
        _ = machine.handle(.disconnected(.tokenEnded), at: later)
        #expect(machine.word == .tokenEnded)
        #expect(machine.deadline.map { $0 > due + .seconds(200) } == true)
    }

    @Test(arguments: FleetMachine.MeteredRule.allCases)
    func `an agent that starts on a metered path connects, unless it may send nothing`(
        rule: FleetMachine.MeteredRule
    ) {
        var machine = Self.machine(rule)
        var actions = machine.handle(.path(exists: true, isMetered: true, epoch: 1), at: Self.now)
        actions += machine.handle(.start, at: Self.now)
        #expect(actions.contains(.connect) == (rule != .nothing))
        #expect(machine.word == (rule == .nothing ? .metered : .connecting))
        #expect(machine.deadline == nil)
    }

    @Test func `an agent that waited for an unmetered path connects once there is one, and leaves a metered one`() {
        var machine = Self.machine(.nothing)
        _ = machine.handle(.path(exists: true, isMetered: true, epoch: 1), at: Self.now)
        _ = machine.handle(.start, at: Self.now)
        _ = machine.handle(.path(exists: true, isMetered: false, epoch: 2), at: Self.now)
        guard let due = machine.deadline else {
            Issue.record("no try is planned")
            return
        }
        let later = Instant(wall: Self.now.wall, boot: due)
        #expect(machine.handle(.tick, at: later).contains(.connect))
        #expect(machine.word == .connecting)
        let left = machine.handle(.path(exists: true, isMetered: true, epoch: 3), at: later)
        #expect(left == [.closeJournal, .disconnect, .word(.metered)])
        #expect(machine.deadline == nil)
    }

    @Test func `a lease that nothing answers ends the connection, and one that is stored does not`() {
        for isStored in [true, false] {
            var machine = Self.machine(.all)
            _ = machine.handle(.start, at: Self.now)
            _ = machine.handle(.connected(FleetMachine.Server()), at: Self.now)
            let actions = machine.handle(.lease(.none), at: Self.now)
            #expect(actions.contains { if case .putLease = $0 { true } else { false } })
            if isStored { _ = machine.handle(.leaseStored(true), at: Self.now) }
            let later = Instant(wall: Self.now.wall, boot: Self.now.boot + FleetMachine.patience)
            #expect(machine.handle(.tick, at: later).contains(.disconnect) == !isStored)
        }
    }

    @Test func `before its start an agent does not connect, whatever path there is`() {
        var machine = Self.machine(.all)
        #expect(machine.handle(.path(exists: true, isMetered: false, epoch: 1), at: Self.now) == [])
        #expect(machine.deadline == nil)
    }
}
