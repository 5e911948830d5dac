import ReachCore
import ReachTerminal
import Testing

struct StatusTextTests {
    private static func path(_ interface: String, _ neighbour: NeighbourState?, gateway: String? = "192.0.2.1")
        -> NetworkPath
    {
        var path = NetworkPath(status: .reachable)
        path.interface = interface
        path.gateway = gateway.flatMap(IPAddress.init)
        path.neighbour = neighbour
        return path
    }

    private func text(_ ipv4: NetworkPath, _ ipv6: NetworkPath, after seconds: Int = 60) -> String {
        var state = ReachabilityState(target: .internet, since: Timestamp(nanosecondsSince1970: 0))
        (state.status, state.interface, state.linkClass, state.connectivity) = (.reachable, "eth0", .wired, .limited)
        (state.ipv4, state.ipv6) = (ipv4, ipv6)
        let now = Timestamp(secondsSince1970: seconds, nanoseconds: 0)
        return StatusText(style: .plain, now: now).summary(of: state)
    }

    @Test func `a gateway is said to answer only where the kernel calls the one on this link reachable`() {
        let none = NetworkPath(status: .notReachable, reason: .noRoute)
        #expect(text(Self.path("eth0", .reachable), none).hasSuffix("eth0 is up and its gateway answers"))
        let early = text(Self.path("eth0", .reachable), none, after: 14)
        #expect(early.hasSuffix("eth0 is up"), "it may have answered for the last time before the loss")
        let others: [NeighbourState?] = [
            .stale, .delay, .probe, .incomplete, .noarp, .permanent, NeighbourState.none, nil,
        ]
        for neighbour in others {
            #expect(text(Self.path("eth0", neighbour), none).hasSuffix("eth0 is up"), "\(neighbour as Any)")
        }
        #expect(text(Self.path("eth0", .reachable, gateway: nil), none).hasSuffix("eth0 is up"), "it has none")
        let elsewhere = text(Self.path("eth0", .stale), Self.path("eth1", .reachable, gateway: "2001:db8::1"))
        #expect(elsewhere.hasSuffix("eth0 is up"), "another link's gateway answers")
    }
}
