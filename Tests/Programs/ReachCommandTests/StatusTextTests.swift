import ReachCore
import ReachTerminal
import Testing

struct StatusTextTests {
    private static func path(_ interface: String, gateway: String? = "192.0.2.1") -> NetworkPath {
        var path = NetworkPath(status: .reachable)
        path.interface = interface
        path.gateway = gateway.flatMap(IPAddress.init)
        return path
    }

    /// What is said of a machine whose Internet was lost after 10 s.
    ///
    /// - Parameter answers: When each gateway answered for the last time, in seconds, by its link.
    private func text(_ ipv4: NetworkPath, _ ipv6: NetworkPath? = nil, answers: [String: Int]) -> String {
        var state = ReachabilityState(target: .internet, since: Timestamp(nanosecondsSince1970: 0))
        (state.status, state.interface, state.linkClass, state.connectivity) = (.reachable, "eth0", .wired, .limited)
        state.connectivitySince = Timestamp(secondsSince1970: 10, nanoseconds: 0)
        (state.ipv4, state.ipv6) = (ipv4, ipv6 ?? NetworkPath(status: .notReachable, reason: .noRoute))
        let status = StatusText(style: .plain) { path in
            path.interface.flatMap { answers[$0] }.map { Timestamp(secondsSince1970: $0, nanoseconds: 0) }
        }
        return status.summary(of: state)
    }

    @Test func `a gateway is said to answer only if it has since the Internet does not`() {
        #expect(text(Self.path("eth0"), answers: ["eth0": 11]).hasSuffix("eth0 is up and its gateway answers"))
        #expect(
            text(Self.path("eth0"), answers: ["eth0": 9]).hasSuffix("eth0 is up"), "it may have died with the Internet")
        #expect(text(Self.path("eth0"), answers: [:]).hasSuffix("eth0 is up"), "the kernel does not call it reachable")
        #expect(text(Self.path("eth0", gateway: nil), answers: ["eth0": 11]).hasSuffix("eth0 is up"), "it has none")
        let elsewhere = text(Self.path("eth0"), Self.path("eth1", gateway: "2001:db8::1"), answers: ["eth1": 11])
        #expect(elsewhere.hasSuffix("eth0 is up"), "another link's gateway answers")
    }
}
