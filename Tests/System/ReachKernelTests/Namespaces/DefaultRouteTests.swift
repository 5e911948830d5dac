internal import ReachCore
internal import ReachKernel
internal import ReachTesting
internal import Testing

/// The default routes of a machine with two links: `lan0`, which the kernel prefers, and the modem `mob0`.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(1)))
struct DefaultRouteTests {
    private let machine: TestNamespace

    init() throws {
        machine = try TestNamespace()
        for (name, address) in [("lan0", "192.0.2.2/24"), ("mob0", "198.51.100.2/24")] {
            try machine.run("ip", "link", "add", name, "type", "veth", "peer", "name", "far-" + name)
            for end in [name, "far-" + name] { try machine.run("ip", "link", "set", end, "addrgenmode", "none", "up") }
            try machine.run("ip", "address", "add", address, "dev", name)
        }
        try add("default", "via", "192.0.2.1", "metric", "100")
    }

    private func add(_ route: String...) throws {
        _ = try ChildProcess.run(["ip", "-n", machine.name, "route", "add"] + route)
    }

    /// The default routes as text: interface, metric, and `preferred`.
    private func routes(mark: UInt32? = nil) async throws -> [String] {
        try await survey(mark: mark).map { "\($0.name) \($0.metric)" + ($0.isPreferred ? " preferred" : "") }
    }

    private func survey(mark: UInt32? = nil) async throws -> [DefaultRoute] {
        return try await machine.perform {
            let policy = LinkPolicy(rules: [
                LinkPolicy.Rule(pattern: Glob("lan*"), linkClass: .wifi),
                LinkPolicy.Rule(pattern: Glob("mob*"), linkClass: .wwan),
            ])
            let view = try KernelView(policy: policy)
            try view.refresh()
            var finder = PathFinder(view: view, mark: mark)
            let internet = try finder.internet(anchors: ReferenceAddresses.standard)
            return try finder.defaultRoutes(preferred: internet, anchors: ReferenceAddresses.standard)
        }
    }

    @Test func `each interface with a default route has one, and the kernel prefers the lowest metric`() async throws {
        #expect(try await routes() == ["lan0 100 preferred"])
        try add("default", "via", "198.51.100.1", "metric", "700")
        #expect(try await routes() == ["lan0 100 preferred", "mob0 700"])
        let mobile = try #require(try await survey().last)
        #expect(mobile.linkClass == .wwan && mobile.isMetered && mobile.gateway?.description == "198.51.100.1")
        #expect(mobile.source?.description == "198.51.100.2" && mobile.isUsable)
        #expect(mobile.subnets.map(\.description) == ["198.51.100.0/24"])
    }

    @Test func `a default route that a rule selects by the mark exists for packets with the mark only`() async throws {
        try add("default", "via", "198.51.100.1", "dev", "mob0", "table", "100")
        try machine.run("ip", "rule", "add", "fwmark", "7", "oif", "mob0", "lookup", "100")
        #expect(try await routes() == ["lan0 100 preferred"])
        #expect(try await routes(mark: 7) == ["lan0 100 preferred", "mob0 0"])
    }

    @Test func `a rule for an interface gives it a default route from another table`() async throws {
        try add("default", "via", "198.51.100.1", "dev", "mob0", "table", "100")
        #expect(try await routes() == ["lan0 100 preferred"])
        try machine.run("ip", "rule", "add", "oif", "mob0", "lookup", "100")
        #expect(try await routes() == ["lan0 100 preferred", "mob0 0"])
    }

    @Test func `a tunnel is known with the class of what carries it`() async throws {
        try add("203.0.113.9", "via", "198.51.100.1")
        try machine.run(
            "ip", "link", "add", "t0", "type", "vxlan", "id", "5", "remote", "203.0.113.9", "dstport", "4789")
        try machine.run("ip", "address", "add", "203.0.113.65/28", "dev", "t0")
        try machine.run("ip", "link", "set", "t0", "up")
        try add("default", "via", "203.0.113.66", "metric", "900")
        #expect(try await routes() == ["lan0 100 preferred", "t0 900"])
        var tunnel = try #require(try await survey().last)
        #expect(tunnel.linkClass == .tunnel && tunnel.carrierClass == .wwan && tunnel.isMetered)
        try machine.run("ip", "route", "del", "default", "dev", "lan0")
        tunnel = try #require(try await survey().first)
        #expect(tunnel.isPreferred && tunnel.linkClass == .tunnel && tunnel.carrierClass == .wwan && tunnel.isMetered)
    }

    @Test func `a reference address that is routed elsewhere changes no default route`() async throws {
        let first = try #require(ReferenceAddresses.standard.first).description
        try add(first, "via", "198.51.100.1")
        #expect(try await routes() == ["lan0 100 preferred"])
        try add("default", "via", "198.51.100.1", "metric", "700")
        #expect(try await routes() == ["lan0 100 preferred", "mob0 700"])
    }

    @Test func `the strict reverse path filter makes all but the preferred route unusable`() async throws {
        try add("default", "via", "198.51.100.1", "metric", "700")
        try machine.run("sysctl", "-qw", "net.ipv4.conf.mob0.rp_filter=1")
        let routes = try await survey()
        #expect(routes.map(\.dropsReplies) == [false, true] && routes.map(\.isUsable) == [true, false])
    }
}
