import ReachCore
import ReachRecords
import ReachTesting
import Testing

@Suite struct HoldDownConnectivityTests {
    private static let none = ConnectivityReport(ipv4: .none, ipv6: .none)
    private static let undecided = ConnectivityReport(ipv4: .unknown, ipv6: .none, isUndecided: true)
    private static let full = ConnectivityReport(ipv4: .full, ipv6: .none)
    private static let limited = ConnectivityReport(ipv4: .limited, ipv6: .none)

    /// A machine that is fully connected, and holds a loss back for twenty seconds.
    private var proved: StatusMachine {
        var machine = StatusMachine.begun(holdDown: HoldDown(down: .seconds(20)))
        _ = machine.setConnectivity(Self.full, cause: .probe, at: .at(1))
        return machine
    }

    private var unplugged: Verdict {
        var verdict = Verdict.noCarrier
        verdict.rootCause = RootCause(.noCarrier, interface: "eth0")
        return verdict
    }

    @Test func `what checks find while a loss is held back is held back with it`() throws {
        var machine = proved
        #expect(machine.see(unplugged, at: 10) == nil)
        let early = machine.setConnectivity(Self.none, cause: .probe, at: .at(10.1))
        #expect(early == nil, "the path that is reported was not checked")
        #expect(machine.state.connectivity == .full)
        #expect(machine.state.heldCause == RootCause(.noCarrier, interface: "eth0"))
        let elapsed = machine.timeReached(at: .at(30))
        let change = try #require(elapsed)
        #expect(change.aspects == [.status, .connectivity])
        #expect(change.state.connectivity == .none)
        #expect(change.state.heldCause == nil)
        #expect(HistoryEntry.State(change).rootCause == "no-carrier", "the history names the cable, not the provider")
    }

    @Test func `a flap within the hold-down sends nothing, also while the path that is back is checked`() {
        var machine = proved
        var changes: [ReachabilityChange?] = []
        changes.append(machine.see(unplugged, at: 10))
        changes.append(machine.setConnectivity(Self.none, cause: .probe, at: .at(10)))
        changes.append(machine.see(.eth0, at: 18))
        #expect(machine.state.isHeld, "the path is back, and what is reported of it is not proved")
        changes.append(machine.setConnectivity(Self.undecided, cause: .probe, at: .at(18)))
        changes.append(machine.setConnectivity(Self.full, cause: .probe, at: .at(18.2)))
        #expect(changes.compactMap { $0 }.isEmpty)
        #expect(!machine.state.isHeld)
        #expect(machine.deadline == nil)
        #expect(machine.state.flaps == 1)
    }

    @Test func `what is known of both lines stays while the path that is back is checked, and goes with another`() {
        let quality = LineQuality(.good, lossPermille: 0, roundTrip: .milliseconds(9), jitter: nil, packets: 50)
        var (both, report) = (Verdict.eth0, ConnectivityReport(ipv4: .full, ipv6: .full))
        both.ipv6 = both.ipv4
        report.qualities = [.ipv4: quality, .ipv6: quality]
        report.measuresQuality = true
        var machine = StatusMachine.begun(with: both, holdDown: HoldDown(down: .seconds(20)))
        _ = machine.setConnectivity(report, cause: .probe, at: .at(1))
        func known() -> [LineQuality?] { [machine.state.ipv4.quality, machine.state.ipv6.quality] }
        func proved() -> [Connectivity] { [machine.state.ipv4.connectivity, machine.state.ipv6.connectivity] }
        #expect(known() == [quality, quality] && machine.state.measuresQuality)
        _ = machine.see(unplugged, at: 10)
        both = Verdict(ipv4: Verdict.via("eth0", isMetered: true).ipv4, ipv6: both.ipv6)
        _ = machine.see(both, at: 12)
        #expect(machine.state.isMetered, "what else is new of the path shows")
        #expect(known() == [quality, quality] && proved() == [.full, .full])
        _ = machine.setConnectivity(report, cause: .probe, at: .at(13))
        _ = machine.see(Verdict(ipv4: both.ipv4, ipv6: Verdict.via("wlan0", gateway: "192.0.2.9").ipv4), at: 14)
        #expect(known() == [quality, nil] && proved() == [.full, .unknown])
        _ = machine.setConnectivity(report, cause: .probe, at: .at(15))
        _ = machine.see(Verdict(ipv4: NetworkPath(status: .notReachable, reason: .noRoute), ipv6: both.ipv6), at: 16)
        #expect(machine.state.ipv4.quality == nil && machine.state.ipv4.connectivity == .none)
    }

    @Test func `what the check of the path that is back finds is reported, and so is that it finds nothing in time`()
        throws
    {
        var broken = proved
        _ = broken.see(unplugged, at: 10)
        _ = broken.see(.eth0, at: 18)
        let found = broken.setConnectivity(Self.limited, cause: .probe, at: .at(20))
        #expect(found?.state.connectivity == .limited)
        var waiting = proved
        _ = waiting.see(unplugged, at: 10)
        _ = waiting.see(.eth0, at: 18)
        #expect(waiting.deadline == .at(38))
        let early = waiting.timeReached(at: .at(37))
        #expect(early == nil)
        let elapsed = waiting.timeReached(at: .at(38))
        let change = try #require(elapsed)
        #expect(change.state.connectivity == .unknown)
        #expect(!change.state.isHeld)
    }

    @Test func `another gateway after a loss that was held back has nothing of the earlier one's proof`() throws {
        var machine = proved
        _ = machine.see(unplugged, at: 10)
        let seen = machine.see(.via("eth0", gateway: "192.0.2.77"), at: 12)
        let change = try #require(seen)
        #expect(change.aspects == [.path, .connectivity])
        #expect(change.state.connectivity == .unknown)
    }

    @Test func `a path that is back was not found to carry nothing`() throws {
        var machine = StatusMachine.begun()
        _ = machine.setConnectivity(Self.full, cause: .probe, at: .at(1))
        var sameHop = Verdict.eth0
        sameHop.ipv4.status = .notReachable
        sameHop.ipv4.reason = .noCarrier
        _ = machine.see(Verdict(ipv4: sameHop.ipv4, ipv6: sameHop.ipv6), at: 2)
        _ = machine.setConnectivity(Self.none, cause: .probe, at: .at(2))
        let seen = machine.see(.eth0, at: 3)
        let change = try #require(seen)
        #expect(change.state.connectivity == .unknown)
    }
}
