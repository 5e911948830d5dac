import ReachCore
import ReachTesting
import Testing

@Suite struct StatusMachineConnectivityTests {
    private static let full = ConnectivityReport(ipv4: .full, ipv6: .none)
    private static let portal = ConnectivityReport(ipv4: .portal, ipv6: .none, portal: "http://login.example/")

    /// The change, which must exist.
    private func required(_ change: ReachabilityChange?) throws -> ReachabilityChange { try #require(change) }

    /// A machine for which probes proved `report` at second 1.
    private func proved(
        _ report: ConnectivityReport = full, by first: Verdict = .eth0, holdDown: HoldDown = HoldDown()
    ) -> StatusMachine {
        var machine = StatusMachine.begun(with: first, holdDown: holdDown)
        _ = machine.setConnectivity(report, cause: .probe, at: .at(1))
        return machine
    }

    @Test func `a new connectivity is a change of its own`() throws {
        var machine = StatusMachine.begun()
        let change = try required(machine.setConnectivity(Self.portal, cause: .probe, at: .at(1)))
        #expect(change.aspects == [.connectivity])
        #expect(change.cause == .probe)
        #expect(change.previous?.connectivity == .unknown)
        #expect(change.state.connectivity == .portal)
        #expect(change.state.portal == "http://login.example/")
        #expect(change.state.ipv4.connectivity == .portal)
        #expect(change.state.since == Instant.at(0).wall)
        #expect(change.state.connectivitySince == Instant.at(1).wall)
        let again = machine.setConnectivity(Self.portal, cause: .probe, at: .at(2))
        #expect(again == nil)
        let later = try required(machine.setConnectivity(Self.full, cause: .probe, at: .at(3)))
        #expect(later.state.connectivity == .full)
        #expect(later.state.connectivitySince == Instant.at(3).wall)
        #expect(later.state.portal == nil)
    }

    @Test func `connectivity known before the first verdict belongs to the initial state`() throws {
        var machine = StatusMachine(target: .internet, at: .at(0))
        let early = machine.setConnectivity(Self.full, cause: .probe, at: .at(0))
        #expect(early == nil)
        let change = try required(machine.see(.eth0, at: 1))
        #expect(change.isInitial)
        #expect(change.state.connectivity == .full)
    }

    @Test func `another gateway makes the connectivity unknown in the same change`() throws {
        var machine = proved(Self.portal)
        let change = try required(machine.see(.via("eth0", gateway: "192.0.2.254"), at: 2))
        #expect(change.aspects == [.path, .connectivity])
        #expect(change.state.connectivity == .unknown)
        #expect(change.state.portal == nil)
    }

    @Test func `another source address keeps the connectivity`() throws {
        var machine = proved()
        var verdict = Verdict.eth0
        verdict.ipv4.source = IPAddress("192.0.2.99")
        let change = try required(machine.see(verdict, at: 2))
        #expect(change.aspects == [.path])
        #expect(change.state.connectivity == .full)
    }

    @Test func `losing the path makes the connectivity none in the same change`() throws {
        var machine = proved()
        let lost = try required(machine.see(.lost, at: 2))
        #expect(lost.aspects == [.status, .connectivity])
        #expect(lost.state.connectivity == .none)
        #expect(lost.state.since == Instant.at(2).wall)
        let found = try required(machine.see(.eth0, at: 3))
        #expect(found.aspects == [.status, .connectivity])
        #expect(found.state.connectivity == .unknown)
    }

    @Test func `while the kernel cannot be observed the connectivity is unknown`() throws {
        var machine = proved()
        let change = try required(machine.see(.blind, at: 2))
        #expect(change.state.connectivity == .unknown)
    }

    @Test func `connectivity of a path that was held back is reported with the path`() throws {
        var machine = StatusMachine.begun(with: .lost, holdDown: HoldDown(up: .seconds(5)))
        _ = machine.setConnectivity(ConnectivityReport(ipv4: .none, ipv6: .none), cause: .probe, at: .at(1))
        let held = machine.see(.eth0, at: 2)
        #expect(held == nil)
        _ = machine.setConnectivity(Self.full, cause: .probe, at: .at(3))
        let change = try required(machine.timeReached(at: .at(7)))
        #expect(change.state.status == .reachable)
        #expect(change.state.connectivity == .full)
    }

    @Test func `without probes the connectivity stays unknown`() throws {
        var machine = StatusMachine.begun()
        let lost = try required(machine.see(.lost, at: 1))
        #expect(lost.state.connectivity == .unknown)
        let found = try required(machine.see(.eth0, at: 2))
        #expect(found.aspects == [.status])
    }

    @Test func `when probes no longer run, the connectivity is unknown`() throws {
        var machine = proved()
        let change = try required(machine.setConnectivity(nil, cause: .configuration, at: .at(2)))
        #expect(change.aspects == [.connectivity])
        #expect(change.state.connectivity == .unknown)
        #expect(change.state.ipv6.connectivity == .unknown)
    }

    @Test func `a difference between two observers names the connectivity`() throws {
        var first = StatusMachine(target: .internet, at: .at(0))
        _ = first.setConnectivity(Self.portal, cause: .probe, at: .at(0))
        var second = StatusMachine(target: .internet, at: .at(5))
        var series = ChangeSeries(of: .internet)
        _ = series.begin(try required(first.see(.eth0, at: 1)), cause: .start)
        let difference = try required(series.begin(try required(second.see(.eth0, at: 6)), cause: .configuration))
        #expect(difference.aspects == [.connectivity])
        #expect(difference.state.portal == nil)
    }

    @Test func `without an observer only the fact that probes run is known`() throws {
        var machine = StatusMachine(target: .internet, at: .at(0))
        _ = machine.setConnectivity(Self.portal, cause: .probe, at: .at(0))
        var series = ChangeSeries(of: .internet)
        _ = series.begin(try required(machine.see(.eth0, at: 1)), cause: .start)
        let change = try required(series.becomeUnknown(at: .at(2)))
        #expect(change.state.connectivity == .unknown)
        #expect(change.state.portal == nil)
        #expect(change.state.isValidated)
    }

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

    @Test func `a change in one family is reported although the other still works`() throws {
        var both = Verdict.eth0
        both.ipv6 = both.ipv4
        var machine = proved(ConnectivityReport(ipv4: .full, ipv6: .full), by: both)
        let report = ConnectivityReport(ipv4: .full, ipv6: .limited)
        let change = try required(machine.setConnectivity(report, cause: .probe, at: .at(2)))
        #expect(change.aspects == [.connectivity])
        #expect(change.state.connectivity == .full)
        #expect(change.state.ipv6.connectivity == .limited)
    }

    @Test func `connectivity concerns the Internet and interfaces, and no host`() throws {
        let survey = ConnectivitySurvey(internet: Self.full, interfaces: ["eth0": Self.portal])
        #expect(survey.report(on: .internet) == Self.full)
        #expect(survey.report(on: try Target("interface:eth0")) == Self.portal)
        #expect(survey.report(on: try Target("interface:eth1")) == ConnectivityReport())
        #expect(survey.report(on: try Target("example.net")) == nil)
        #expect(survey.report(on: try Target("192.0.2.1")) == nil)
    }
}
