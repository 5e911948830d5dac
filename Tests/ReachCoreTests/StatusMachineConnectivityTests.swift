import ReachCore
import Testing

@Suite struct StatusMachineConnectivityTests {
    private static let full = ConnectivityReport(ipv4: .full, ipv6: .none)
    private static let portal = ConnectivityReport(ipv4: .portal, ipv6: .none, portal: "http://login.example/")

    /// What was told: there was something.
    private func told(_ change: ReachabilityChange?) throws -> ReachabilityChange { try #require(change) }

    /// A machine of which `report` was proved at second 1.
    private func proved(
        _ report: ConnectivityReport = full, by first: Verdict = .eth0, holdDown: HoldDown = HoldDown()
    ) -> StatusMachine {
        var machine = StatusMachine.begun(with: first, holdDown: holdDown)
        _ = machine.learn(report, cause: .probe, at: .at(1))
        return machine
    }

    @Test func `what probes prove is a change of its own`() throws {
        var machine = StatusMachine.begun()
        let change = try told(machine.learn(Self.portal, cause: .probe, at: .at(1)))
        #expect(change.aspects == [.connectivity])
        #expect(change.cause == .probe)
        #expect(change.previous?.connectivity == .unknown)
        #expect(change.state.connectivity == .portal)
        #expect(change.state.portal == "http://login.example/")
        #expect(change.state.ipv4.connectivity == .portal)
        #expect(change.state.since == Instant.at(0).wall)
        let again = machine.learn(Self.portal, cause: .probe, at: .at(2))
        #expect(again == nil)
        let later = try told(machine.learn(Self.full, cause: .probe, at: .at(3)))
        #expect(later.state.connectivity == .full)
        #expect(later.state.portal == nil)
    }

    @Test func `what was proved before the first look belongs to it`() throws {
        var machine = StatusMachine(target: .internet, at: .at(0))
        let early = machine.learn(Self.full, cause: .probe, at: .at(0))
        #expect(early == nil)
        let change = try told(machine.see(.eth0, at: 1))
        #expect(change.isInitial)
        #expect(change.state.connectivity == .full)
    }

    // peers 81
    @Test func `another gateway is told together with its connectivity being unknown`() throws {
        var machine = proved(Self.portal)
        let change = try told(machine.see(.via("eth0", gateway: "192.0.2.254"), at: 2))
        #expect(change.aspects == [.path, .connectivity])
        #expect(change.state.connectivity == .unknown)
        #expect(change.state.portal == nil)
    }

    @Test func `another source address leaves what was proved in force`() throws {
        var machine = proved()
        var verdict = Verdict.eth0
        verdict.ipv4.source = IPAddress("192.0.2.99")
        let change = try told(machine.see(verdict, at: 2))
        #expect(change.aspects == [.path])
        #expect(change.state.connectivity == .full)
    }

    @Test func `without a path nothing can be reached, in the same change`() throws {
        var machine = proved()
        let lost = try told(machine.see(.lost, at: 2))
        #expect(lost.aspects == [.status, .connectivity])
        #expect(lost.state.connectivity == .none)
        #expect(lost.state.since == Instant.at(2).wall)
        let found = try told(machine.see(.eth0, at: 3))
        #expect(found.aspects == [.status, .connectivity])
        #expect(found.state.connectivity == .unknown)
    }

    @Test func `while the kernel cannot be observed it is not known`() throws {
        var machine = proved()
        let change = try told(machine.see(.blind, at: 2))
        #expect(change.state.connectivity == .unknown)
    }

    @Test func `a status that is held back keeps no proof from being told`() throws {
        var machine = proved(holdDown: HoldDown(down: .seconds(5)))
        let held = machine.see(.lost, at: 2)
        #expect(held == nil)
        let none = ConnectivityReport(ipv4: .none, ipv6: .none)
        let change = try told(machine.learn(none, cause: .probe, at: .at(3)))
        #expect(change.aspects == [.connectivity])
        #expect(change.state.status == .reachable)
        #expect(change.state.connectivity == .none)
    }

    @Test func `proof of a way that was held back is there when the way is told`() throws {
        var machine = StatusMachine.begun(with: .lost, holdDown: HoldDown(up: .seconds(5)))
        _ = machine.learn(ConnectivityReport(ipv4: .none, ipv6: .none), cause: .probe, at: .at(1))
        let held = machine.see(.eth0, at: 2)
        #expect(held == nil)
        _ = machine.learn(Self.full, cause: .probe, at: .at(3))
        let change = try told(machine.timeReached(at: .at(7)))
        #expect(change.state.status == .reachable)
        #expect(change.state.connectivity == .full)
    }

    @Test func `where no probes run nothing is ever said`() throws {
        var machine = StatusMachine.begun()
        let lost = try told(machine.see(.lost, at: 1))
        #expect(lost.state.connectivity == .unknown)
        let found = try told(machine.see(.eth0, at: 2))
        #expect(found.aspects == [.status])
    }

    @Test func `when probes no longer run, nothing is known`() throws {
        var machine = proved()
        let change = try told(machine.learn(nil, cause: .configuration, at: .at(2)))
        #expect(change.aspects == [.connectivity])
        #expect(change.state.connectivity == .unknown)
        #expect(change.state.ipv6.connectivity == .unknown)
    }

    @Test func `where one observer follows another, the difference names the connectivity`() throws {
        var first = StatusMachine(target: .internet, at: .at(0))
        _ = first.learn(Self.portal, cause: .probe, at: .at(0))
        var second = StatusMachine(target: .internet, at: .at(5))
        var series = ChangeSeries(of: .internet)
        _ = series.begin(try told(first.see(.eth0, at: 1)), cause: .start)
        let difference = try told(series.begin(try told(second.see(.eth0, at: 6)), cause: .configuration))
        #expect(difference.aspects == [.connectivity])
        #expect(difference.state.portal == nil)
    }

    @Test func `without an observer nothing is known, but that probes run`() throws {
        var machine = StatusMachine(target: .internet, at: .at(0))
        _ = machine.learn(Self.portal, cause: .probe, at: .at(0))
        var series = ChangeSeries(of: .internet)
        _ = series.begin(try told(machine.see(.eth0, at: 1)), cause: .start)
        let change = try told(series.becomeUnknown(at: .at(2)))
        #expect(change.state.connectivity == .unknown)
        #expect(change.state.portal == nil)
        #expect(change.state.isValidated)
    }

    // N15
    @Test(arguments: [
        (Connectivity.full, Connectivity.limited, Connectivity.full), (.none, .full, .full),
        (.limited, .portal, .portal),
        (.portal, .unknown, .portal), (.limited, .unknown, .limited), (.none, .unknown, .unknown),
        (.limited, .none, .limited), (.none, .none, .none), (.unknown, .unknown, .unknown), (.full, .unknown, .full),
    ])
    func `both families together are as good as the better one`(
        ipv4: Connectivity, ipv6: Connectivity, both: Connectivity
    ) {
        #expect(ConnectivityReport(ipv4: ipv4, ipv6: ipv6).combined == both)
        #expect(ConnectivityReport(ipv4: ipv6, ipv6: ipv4).combined == both)
        let isGoodEnough = both == .full || both == .portal
        let early = ConnectivityReport(ipv4: ipv4, ipv6: ipv6, isUndecided: true)
        #expect(early.combined == (isGoodEnough ? both : .unknown), "the other may yet be better")
    }

    // N15
    @Test func `one family's news is told though the other still gets through`() throws {
        var both = Verdict.eth0
        both.ipv6 = both.ipv4
        var machine = proved(ConnectivityReport(ipv4: .full, ipv6: .full), by: both)
        let report = ConnectivityReport(ipv4: .full, ipv6: .limited)
        let change = try told(machine.learn(report, cause: .probe, at: .at(2)))
        #expect(change.aspects == [.connectivity])
        #expect(change.state.connectivity == .full)
        #expect(change.state.ipv6.connectivity == .limited)
    }

    @Test func `proof is about the Internet and about interfaces, and about no host`() throws {
        let survey = ConnectivitySurvey(internet: Self.full, interfaces: ["eth0": Self.portal])
        #expect(survey.report(on: .internet) == Self.full)
        #expect(survey.report(on: try Target("interface:eth0")) == Self.portal)
        #expect(survey.report(on: try Target("interface:eth1")) == ConnectivityReport())
        #expect(survey.report(on: try Target("example.net")) == nil)
        #expect(survey.report(on: try Target("192.0.2.1")) == nil)
    }
}
