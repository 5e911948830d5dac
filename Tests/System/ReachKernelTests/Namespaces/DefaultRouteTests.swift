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

    @Test func `where a rule chooses the table, its route is preferred, whatever metric the main table has`()
        async throws
    {
        try add("default", "via", "198.51.100.1", "dev", "mob0", "table", "100", "metric", "700")
        try machine.run("ip", "rule", "add", "pref", "500", "uidrange", "0-4294967294", "lookup", "100")
        let routes = try await survey()
        #expect(routes.map(\.name) == ["mob0", "lan0"] && routes.map(\.table) == [100, 254])
        #expect(routes.map(\.isPreferred) == [true, false] && routes.map(\.isInChosenTable) == [true, false])
        #expect(routes.sorted { $0.precedes($1) }.map(\.name) == ["mob0", "lan0"])
    }

    private func routes(to text: String, _ flow: PacketFlow?) async throws -> String {
        try await machine.perform {
            let view = try KernelView()
            try view.refresh()
            var finder = PathFinder(view: view)
            let internet = try finder.internet(anchors: ReferenceAddresses.standard)
            let address = try #require(IPAddress(text))
            switch try finder.routes(to: [RoutedAddress(address, flow: flow)], internet: internet)[0] {
            case .byDefault(let index?): return "default by \(view.table.links[index]?.name ?? "")"
            case .own(let host): return "own by \(host.name)"
            case .byDefault(nil), .local, .none: return "neither"
            }
        }
    }

    @Test func `a rule for a protocol and a port concerns what is sent so, and nothing else`() async throws {
        try add("default", "via", "198.51.100.1", "dev", "mob0", "table", "100")
        try machine.run("ip", "rule", "add", "ipproto", "tcp", "dport", "80", "lookup", "100")
        for (flow, expected) in [
            (PacketFlow.tcp(80), "own by mob0"), (.tcp(443), "default by lan0"), (.udp(80), "default by lan0"),
            (nil, "default by lan0"),
        ] {
            #expect(try await routes(to: "203.0.113.9", flow) == expected, "\(String(describing: flow))")
        }
    }

    @Test func `of several next hops, each address has the one that the kernel chooses for it`() async throws {
        try add("default", "nexthop", "via", "192.0.2.1", "nexthop", "via", "198.51.100.1")
        try machine.run("ip", "route", "del", "default", "metric", "100")
        var used: Set<String> = []
        for host in 1...24 {
            let address = "203.0.113.\(host)"
            let told = try machine.run("ip", "route", "get", address).split(separator: " ")
            let place = try #require(told.firstIndex(of: "dev"))
            let link = String(told[place + 1])
            #expect(try await routes(to: address, nil) == "default by \(link)")
            used.insert(link)
        }
        #expect(used == ["lan0", "mob0"])
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
