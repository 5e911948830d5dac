import ReachCore
import ReachTesting
import Testing

@Suite struct UnprovedFamilyTests {
    private static func path(_ interface: String, _ index: InterfaceIndex, via gateway: String) -> NetworkPath {
        var path = NetworkPath(status: .reachable)
        (path.interface, path.interfaceIndex, path.linkClass) = (interface, index, .wired)
        path.gateway = IPAddress(gateway)
        return path
    }

    private static let ipv4 = path("eth0", 2, via: "198.51.100.1")
    private static let ipv6 = path("eth0", 2, via: "fe80::99")
    private static let dual = Verdict(ipv4: ipv4, ipv6: ipv6)
    private static let deadGateway = Verdict(
        ipv4: NetworkPath(status: .notReachable, reason: .gatewayUnreachable), ipv6: ipv6)

    private func machine(_ report: ConnectivityReport) -> StatusMachine {
        var machine = StatusMachine.begun(with: Self.dual)
        _ = machine.setConnectivity(report, cause: .probe, at: .at(1))
        return machine
    }

    @Test(arguments: [Connectivity.limited, .full])
    func `an endpoint with addresses of one family only: the other looks no better when that one's gateway dies`(
        proved: Connectivity
    ) {
        var machine = machine(ConnectivityReport(ipv4: proved, ipv6: .unknown))
        #expect(machine.state.connectivity == proved)
        _ = machine.see(Self.deadGateway, at: 5)
        #expect(machine.state.status == .reachable)
        #expect(machine.state.connectivity == .limited)
        #expect(machine.state.ipv6.connectivity == .unknown, "of the path itself nothing is known")
        _ = machine.setConnectivity(ConnectivityReport(ipv4: .none, ipv6: .unknown), cause: .probe, at: .at(6))
        #expect(machine.state.connectivity == .limited)
        _ = machine.setConnectivity(ConnectivityReport(ipv4: .none, ipv6: .full), cause: .probe, at: .at(7))
        #expect(machine.state.connectivity == .full)
    }

    @Test func `a family without evidence that comes back first ends no outage`() {
        var machine = machine(ConnectivityReport(ipv4: .full, ipv6: .unknown))
        _ = machine.see(.noCarrier, at: 5)
        _ = machine.see(Self.deadGateway, at: 9)
        _ = machine.setConnectivity(
            ConnectivityReport(ipv4: .none, ipv6: .unknown, isUndecided: true), cause: .probe, at: .at(9))
        #expect(machine.state.connectivity == .unknown, "its check runs")
        _ = machine.setConnectivity(ConnectivityReport(ipv4: .none, ipv6: .unknown), cause: .probe, at: .at(10))
        #expect(machine.state.connectivity == .limited)
    }

    @Test func `on another link, where nothing was decided, a path without evidence is unknown`() {
        var machine = machine(ConnectivityReport(ipv4: .full, ipv6: .unknown))
        let elsewhere = Verdict(
            ipv4: NetworkPath(status: .notReachable, reason: .noRoute),
            ipv6: Self.path("wlan0", 3, via: "fe80::77"))
        _ = machine.see(elsewhere, at: 5)
        _ = machine.setConnectivity(ConnectivityReport(ipv4: .none, ipv6: .unknown), cause: .probe, at: .at(6))
        #expect(machine.state.connectivity == .unknown)
    }
}
