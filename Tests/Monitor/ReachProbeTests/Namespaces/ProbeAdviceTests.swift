import ReachCore
import ReachProbe
import ReachTesting
import Testing

/// Routers that pass a packet on and send its sender a message about it.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(1)))
struct ProbeAdviceTests {
    /// A machine on a link with the router of its default route, which passes packets back over the link to another
    /// one, and so redirects their sender. The machine follows no redirect, as hardened ones do not, so that each
    /// packet causes one.
    @Test(arguments: ["icmp://198.51.100.9", "icmp://[2001:db8:5::9]"], [nil, 6])
    func `a redirect is no answer, and no error either`(target: String, burst: Int?) async throws {
        let (machine, bridge) = (try TestNamespace(), try TestNamespace())
        let (near, far) = (try TestNamespace(), try TestNamespace())
        try bridge.run("ip", "link", "add", "br0", "type", "bridge")
        try bridge.run("ip", "link", "set", "br0", "up")
        for (number, host) in [(2, machine), (1, near), (3, far)] {
            let port = "p\(number)"
            try host.run("ip", "link", "add", "lan0", "type", "veth", "peer", "name", port, "netns", bridge.name)
            try bridge.run("ip", "link", "set", port, "master", "br0", "up")
            try host.run("sh", "-c", "echo 0 | tee /proc/sys/net/ipv[46]/conf/*/accept_redirects")
            try host.run("ip", "link", "set", "lan0", "addrgenmode", "none", "up")
            try host.run("ip", "address", "add", "192.0.2.\(number)/24", "dev", "lan0")
            try host.run("ip", "address", "add", "2001:db8::\(number)/64", "dev", "lan0", "nodad")
            // Redirects in IPv6 are between link-local addresses.
            try host.run("ip", "address", "add", "fe80::\(number)/64", "dev", "lan0", "nodad")
        }
        for router in [near, far] {
            try router.run(
                "sh", "-c", "echo 1 | tee /proc/sys/net/ipv4/ip_forward /proc/sys/net/ipv6/conf/all/forwarding")
        }
        try machine.run("sh", "-c", "echo 0 2147483647 > /proc/sys/net/ipv4/ping_group_range")
        for (prefix, beyond) in [("192.0.2.", "198.51.100.0/24"), ("fe80::", "2001:db8:5::/64")] {
            try machine.run("ip", "route", "add", beyond, "via", prefix + "1", "dev", "lan0")
            try near.run("ip", "route", "add", beyond, "via", prefix + "3", "dev", "lan0")
        }
        try far.run("ip", "link", "set", "lo", "up")
        try far.run("ip", "address", "add", "198.51.100.9/32", "dev", "lo")
        try far.run("ip", "address", "add", "2001:db8:5::9/128", "dev", "lo")
        try machine.run(
            "nft",
            """
            add table inet seen; add chain inet seen in { type filter hook input priority 0; }; \
            add rule inet seen in icmp type redirect counter; add rule inet seen in icmpv6 type nd-redirect counter
            """)
        let scene = try RunnerScene(in: machine)
        let before = try await scene.turns()
        let result = try await scene.run(target) { $0.burst = burst }
        #expect(result.outcome == .ok, "\(result)")
        #expect(try await scene.turns() - before < 500, "an error that nobody reads keeps the socket ready")
        if burst != nil { #expect(result.burst?.lost == 0) }
        let rules = try machine.run("nft", "list", "table", "inet", "seen").split(separator: "\n")
        let redirects = rules.filter { $0.contains("counter") && !$0.contains("packets 0 ") }
        #expect(redirects.count == 1, "the routers did not redirect: \(rules)")
    }
}
