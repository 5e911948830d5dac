import ReachCore
import Testing

/// A daemon's state, for a program that accepts some paths only.
@Suite struct StateChoiceTests {
    private static func path(_ interface: String, _ index: InterfaceIndex, _ linkClass: LinkClass) -> NetworkPath {
        var path = NetworkPath(status: .reachable)
        (path.interface, path.interfaceIndex, path.linkClass) = (interface, index, linkClass)
        return path
    }

    private static func state(_ ipv4: NetworkPath, _ ipv6: NetworkPath) -> ReachabilityState {
        var state = ReachabilityState(target: .internet, since: Timestamp(nanosecondsSince1970: 0))
        state.adopt(Verdict(ipv4: ipv4, ipv6: ipv6))
        return state
    }

    private let wired = path("eth0", 2, .wired)
    private let wifi = path("wlan0", 3, .wifi)

    @Test func `a family whose path is refused has no route, whichever it is`() throws {
        for (ipv4, ipv6) in [(wired, wifi), (wifi, wired)] {
            let chosen = Self.state(ipv4, ipv6).choosing(where: try NetworkCondition("wired"))
            let refused = ipv4 == wired ? chosen.ipv6 : chosen.ipv4
            #expect(refused.status == .notReachable && refused.reason == .noRoute)
            #expect(chosen.status == .reachable && chosen.interface == "eth0")
            #expect(chosen.availableInterfaces.map(\.name) == ["eth0"])
        }
    }

    @Test func `without a condition all stays, and the interfaces of both families are available`() {
        let state = Self.state(wired, wifi)
        let chosen = state.choosing(where: .any)
        #expect(chosen.availableInterfaces.map(\.name) == ["eth0", "wlan0"])
        #expect(chosen.ipv4 == state.ipv4 && chosen.ipv6 == state.ipv6)
    }

    @Test func `a state uses the classes of its paths that work, and what carries them`() {
        var tunnel = Self.path("wg0", 4, .tunnel)
        tunnel.carrierClass = .wwan
        let lost = NetworkPath(status: .notReachable, reason: .noRoute)
        func used(_ state: ReachabilityState) -> [LinkClass] { LinkClass.allCases.filter(state.uses) }
        #expect(Set(used(Self.state(wired, tunnel))) == [.wired, .tunnel, .wwan])
        #expect(used(Self.state(lost, wifi)) == [.wifi])
        var broken = wired
        broken.status = .notReachable
        #expect(used(Self.state(broken, wifi)) == [.wifi] && used(Self.state(broken, lost)) == [])
    }

    @Test func `what broke is known of the kernel's choice alone`() throws {
        let lost = NetworkPath(status: .notReachable, reason: .noRoute)
        var state = Self.state(lost, lost)
        state.rootCause = RootCause(.noCarrier, interface: "eth0")
        #expect(state.choosing(where: .any).rootCause == state.rootCause)
        #expect(state.choosing(where: try NetworkCondition("wifi")).rootCause == nil)
    }
}
