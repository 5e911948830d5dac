import ReachCore
import Testing

@Suite struct StateTextTests {
    @Test func `a state describes itself in one line`() throws {
        var state = ReachabilityState(target: .internet, since: Timestamp(nanosecondsSince1970: 0))
        #expect(state.debugDescription == "internet: unknown; IPv4 unknown; IPv6 unknown")
        (state.status, state.interface, state.linkClass) = (.reachable, "eth0", .wired)
        (state.isMetered, state.isStale) = (true, true)
        state.ipv4 = NetworkPath(status: .reachable)
        (state.ipv4.interface, state.ipv4.gateway) = ("eth0", IPAddress(ipv4: 0xc000_0201))
        state.ipv4.source = IPAddress(ipv4: 0xc000_0202)
        state.ipv6 = NetworkPath(status: .notReachable, reason: .noRoute)
        #expect(
            String(reflecting: state)
                == "internet: reachable by eth0 (wired), metered, stale; IPv4 eth0 via 192.0.2.1 from 192.0.2.2; "
                + "IPv6 not-reachable (no-route)")
        #expect(String(reflecting: state.ipv4) == "eth0 via 192.0.2.1 from 192.0.2.2")
    }
}
