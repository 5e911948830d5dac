import ReachCore
import ReachTesting
import Testing

@Suite struct HoldDownTests {
    private let slowDown = HoldDown(down: .seconds(5))

    @Test func `down and up within the hold-down is one flap and no change`() {
        var machine = StatusMachine.begun(holdDown: slowDown)
        #expect(machine.see(.lost, at: 10) == nil)
        #expect(machine.state.isHeld)
        #expect(machine.state.status == .reachable)
        #expect(machine.state.flaps == 0)
        #expect(machine.deadline == .at(15))
        #expect(machine.see(.eth0, at: 14.9) == nil)
        #expect(!machine.state.isHeld)
        #expect(machine.state.flaps == 1)
        #expect(machine.deadline == nil)
        #expect(machine.timeReached(at: .at(15)) == nil, "a late timer")
    }

    @Test func `down is reported once it has lasted, and up at once`() throws {
        var machine = StatusMachine.begun(holdDown: slowDown)
        #expect(machine.see(.lost, at: 10) == nil)
        #expect(machine.timeReached(at: .at(14.999)) == nil, "an early timer")
        #expect(machine.deadline == .at(15))
        let found = machine.timeReached(at: .at(15))
        let change = try #require(found)
        #expect(change.cause == .holdElapsed)
        #expect(change.aspects == [.status])
        #expect(change.state.status == .notReachable)
        #expect(!change.state.isHeld)
        #expect(machine.deadline == nil)
        #expect(machine.see(.eth0, at: 15.1)?.state.status == .reachable)
    }

    @Test func `another hold-down reports what is being held back with the next verdict, and counts from then on`() {
        var machine = StatusMachine.begun(holdDown: slowDown)
        #expect(machine.see(.lost, at: 10) == nil)
        machine.apply(HoldDown(up: .seconds(3)))
        let change = machine.see(.lost, at: 11)
        #expect(change?.state.status == .notReachable && change?.aspects == [.status] && change?.state.isHeld == false)
        #expect(machine.deadline == nil)
        #expect(machine.see(.eth0, at: 12) == nil, "the new hold-down")
        #expect(machine.deadline == .at(15))
        machine.apply(HoldDown(up: .seconds(3)))
        #expect(machine.see(.lost, at: 13) == nil, "nothing differs from what was reported")
        #expect(machine.deadline == nil && !machine.state.isHeld)
    }

    @Test func `up can be the delayed status`() {
        var machine = StatusMachine.begun(with: .lost, holdDown: HoldDown(up: .seconds(2)))
        #expect(machine.see(.eth0, at: 1) == nil)
        #expect(machine.deadline == .at(3))
        #expect(machine.timeReached(at: .at(3))?.state.status == .reachable)
        #expect(machine.see(.lost, at: 4)?.state.status == .notReachable)
    }

    @Test func `zero holds nothing back, and a negative duration is zero`() {
        let none = HoldDown(up: .seconds(-1), down: .seconds(-5))
        #expect(none == HoldDown())
        var machine = StatusMachine.begun(holdDown: none)
        #expect(machine.see(.lost, at: 1) != nil)
        #expect(machine.see(.eth0, at: 1) != nil)
        #expect(machine.deadline == nil)
    }

    @Test func `a burst within the hold-down is one change to the state at its end`() throws {
        var machine = StatusMachine.begun(with: .lost, holdDown: HoldDown(up: .seconds(1)))
        for (number, interface) in ["eth0", "eth1", "wlan0", "eth2"].enumerated() {
            #expect(machine.see(.via(interface), at: 10 + Double(number) / 10) == nil)
        }
        #expect(machine.deadline == .at(11), "counted from the first verdict and not restarted")
        let found = machine.timeReached(at: .at(11))
        let change = try #require(found)
        #expect(change.state.interface == "eth2")
        #expect(change.previous?.status == .notReachable)
    }

    @Test func `a verdict at the end of the hold-down is reported with its own cause`() {
        var machine = StatusMachine.begun(holdDown: slowDown)
        _ = machine.see(.lost, at: 10)
        #expect(machine.see(.noCarrier, at: 15, cause: .carrierLost)?.cause == .carrierLost)
        #expect(machine.state.reason == .noCarrier)
    }

    @Test func `another path is reported at once, even during a hold-down`() {
        var machine = StatusMachine.begun(holdDown: slowDown)
        #expect(machine.see(.via("eth1"), at: 1)?.aspects == [.path])
        _ = machine.see(.lost, at: 2)
        #expect(machine.see(.via("eth2"), at: 3)?.aspects == [.path])
    }

    @Test func `flapping holds nothing back longer than the limit`() {
        var machine = StatusMachine.begun(holdDown: slowDown)
        var reported: [Double] = []
        for cycle in 0..<20 {
            let start = Double(cycle * 5)
            // Repeated verdicts arrive all the time, also just before the status returns.
            for tenth in 0...49 where machine.see(.lost, at: start + Double(tenth) / 10) != nil {
                reported.append(start)
            }
            _ = machine.see(.eth0, at: start + 4.95)
        }
        #expect(reported == [50], "ten times five seconds after the flapping began")
        #expect(machine.state.flaps == 20)
    }

    @Test func `a limit can be set`() {
        var machine = StatusMachine.begun(holdDown: HoldDown(down: .seconds(5), maximum: .seconds(7)))
        _ = machine.see(.lost, at: 10)
        _ = machine.see(.eth0, at: 14)
        #expect(machine.see(.lost, at: 15) == nil)
        #expect(machine.deadline == .at(17))
        var impatient = StatusMachine.begun(holdDown: HoldDown(down: .seconds(5), maximum: .seconds(1)))
        _ = impatient.see(.lost, at: 10)
        #expect(impatient.deadline == .at(11))
    }

    @Test func `flapping ends after a hold-down without a change`() {
        var machine = StatusMachine.begun(holdDown: HoldDown(down: .seconds(5), maximum: .seconds(7)))
        _ = machine.see(.lost, at: 10)
        _ = machine.see(.eth0, at: 14)
        _ = machine.see(.lost, at: 19)
        #expect(machine.deadline == .at(24))
    }

    @Test func `each status must last for its own delay`() {
        var machine = StatusMachine.begun(with: .blind, holdDown: HoldDown(up: .seconds(1), down: .seconds(10)))
        _ = machine.see(.lost, at: 0)
        #expect(machine.see(.eth0, at: 9.5) == nil)
        #expect(machine.deadline == .at(10.5))
    }

    @Test func `not reachable and unknown share one hold-down`() {
        var machine = StatusMachine.begun(holdDown: slowDown)
        _ = machine.see(.lost, at: 10)
        _ = machine.see(.blind, at: 13)
        #expect(machine.deadline == .at(15))
        #expect(machine.timeReached(at: .at(15))?.state.status == .unknown)
    }

    @Test func `a hold-down of a century does not crash`() {
        let century = HoldDown(down: .seconds(3_155_760_000))
        var machine = StatusMachine.begun(holdDown: century)
        #expect(machine.see(.lost, at: 1) == nil)
        #expect(machine.deadline == .at(1) + .seconds(3_155_760_000))
    }
}
