import ReachCore
import Testing

@Suite struct HoldDownTests {
    private let slowDown = HoldDown(down: .seconds(5))

    // peers 65
    @Test func `down and up within the hold-down is one flap, shown and not told`() {
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
        #expect(machine.timeReached(at: .at(15)) == nil, "a timer that comes late")
    }

    // peers 66
    @Test func `down is told when it has lasted, and up at once`() throws {
        var machine = StatusMachine.begun(holdDown: slowDown)
        #expect(machine.see(.lost, at: 10) == nil)
        #expect(machine.timeReached(at: .at(14.999)) == nil, "a timer that comes early")
        #expect(machine.deadline == .at(15))
        let toldChange = machine.timeReached(at: .at(15))
        let change = try #require(toldChange)
        #expect(change.cause == .holdElapsed)
        #expect(change.aspects == [.status])
        #expect(change.state.status == .notReachable)
        #expect(!change.state.isHeld)
        #expect(machine.deadline == nil)
        #expect(machine.see(.eth0, at: 15.1)?.state.status == .reachable)
    }

    // peers 66
    @Test func `up may be the slow one`() {
        var machine = StatusMachine.begun(with: .lost, holdDown: HoldDown(up: .seconds(2)))
        #expect(machine.see(.eth0, at: 1) == nil)
        #expect(machine.deadline == .at(3))
        #expect(machine.timeReached(at: .at(3))?.state.status == .reachable)
        #expect(machine.see(.lost, at: 4)?.state.status == .notReachable)
    }

    // peers 66
    @Test func `zero holds nothing, and a negative duration is zero`() {
        let none = HoldDown(up: .seconds(-1), down: .seconds(-5))
        #expect(none == HoldDown())
        var machine = StatusMachine.begun(holdDown: none)
        #expect(machine.see(.lost, at: 1) != nil)
        #expect(machine.see(.eth0, at: 1) != nil)
        #expect(machine.deadline == nil)
    }

    // peers 64
    @Test func `a burst within the hold-down is one change, to what holds at its end`() throws {
        var machine = StatusMachine.begun(with: .lost, holdDown: HoldDown(up: .seconds(1)))
        for (number, interface) in ["eth0", "eth1", "wlan0", "eth2"].enumerated() {
            #expect(machine.see(.via(interface), at: 10 + Double(number) / 10) == nil)
        }
        #expect(machine.deadline == .at(11), "counted from the first, not begun anew by each")
        let toldChange = machine.timeReached(at: .at(11))
        let change = try #require(toldChange)
        #expect(change.state.interface == "eth2")
        #expect(change.previous?.status == .notReachable)
    }

    @Test func `a verdict that comes when the time is over is told with its own cause`() {
        var machine = StatusMachine.begun(holdDown: slowDown)
        _ = machine.see(.lost, at: 10)
        #expect(machine.see(.noCarrier, at: 15, cause: .carrierLost)?.cause == .carrierLost)
        #expect(machine.state.reason == .noCarrier)
    }

    @Test func `another path is told at once, held back or not`() {
        var machine = StatusMachine.begun(holdDown: slowDown)
        #expect(machine.see(.via("eth1"), at: 1)?.aspects == [.path])
        _ = machine.see(.lost, at: 2)
        #expect(machine.see(.via("eth2"), at: 3)?.aspects == [.path])
    }

    // peers 64
    @Test func `however it flaps, nothing is held longer than the bound`() {
        var machine = StatusMachine.begun(holdDown: slowDown)
        var told: [Double] = []
        for cycle in 0..<20 {
            let start = Double(cycle * 5)
            // Notices that change nothing come all the while, just before it returns too.
            for tenth in 0...49 where machine.see(.lost, at: start + Double(tenth) / 10) != nil { told.append(start) }
            _ = machine.see(.eth0, at: start + 4.95)
        }
        #expect(told == [50], "ten times five seconds after it began, and as long again after it was told up")
        #expect(machine.state.flaps == 20)
    }

    @Test func `a bound of one's own is kept`() {
        var machine = StatusMachine.begun(holdDown: HoldDown(down: .seconds(5), maximum: .seconds(7)))
        _ = machine.see(.lost, at: 10)
        _ = machine.see(.eth0, at: 14)
        #expect(machine.see(.lost, at: 15) == nil)
        #expect(machine.deadline == .at(17))
        var impatient = StatusMachine.begun(holdDown: HoldDown(down: .seconds(5), maximum: .seconds(1)))
        _ = impatient.see(.lost, at: 10)
        #expect(impatient.deadline == .at(11))
    }

    @Test func `after as long a calm as a hold-down the flapping is over`() {
        var machine = StatusMachine.begun(holdDown: HoldDown(down: .seconds(5), maximum: .seconds(7)))
        _ = machine.see(.lost, at: 10)
        _ = machine.see(.eth0, at: 14)
        _ = machine.see(.lost, at: 19)
        #expect(machine.deadline == .at(24))
    }

    @Test func `a status must itself last, not another before it`() {
        var machine = StatusMachine.begun(with: .blind, holdDown: HoldDown(up: .seconds(1), down: .seconds(10)))
        _ = machine.see(.lost, at: 0)
        #expect(machine.see(.eth0, at: 9.5) == nil)
        #expect(machine.deadline == .at(10.5))
    }

    @Test func `not reachable and unknown are held as one`() {
        var machine = StatusMachine.begun(holdDown: slowDown)
        _ = machine.see(.lost, at: 10)
        _ = machine.see(.blind, at: 13)
        #expect(machine.deadline == .at(15))
        #expect(machine.timeReached(at: .at(15))?.state.status == .unknown)
    }

    @Test func `a hold-down of a century does not end the program`() {
        let century = HoldDown(down: .seconds(3_155_760_000))
        var machine = StatusMachine.begun(holdDown: century)
        #expect(machine.see(.lost, at: 1) == nil)
        #expect(machine.deadline == .at(1) + .seconds(3_155_760_000))
    }
}
