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
            (.portal, .portal), (.clock, .clock),
        ] as [(FleetMachine.Loss, FleetWord)])
    func `each reason why there is no connection has its word`(loss: FleetMachine.Loss, word: FleetWord) {
        var machine = Self.machine(.nothing)
        _ = machine.handle(.start, at: Self.now)
        #expect(machine.handle(.disconnected(loss), at: Self.now).contains(.word(word)))
        #expect(machine.word == word)
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

    @Test func `before its start an agent does not connect, whatever path there is`() {
        var machine = Self.machine(.all)
        #expect(machine.handle(.path(exists: true, isMetered: false, epoch: 1), at: Self.now) == [])
        #expect(machine.deadline == nil)
    }
}
