internal import ReachCore
internal import ReachKernel
internal import ReachTesting
internal import Testing

/// A machine with a cable `lan0` and a modem `mob0`, and with the tunnel `vpn0` whose far end the kernel does not know.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(1)))
struct TunnelTests {
    private let machine: TestNamespace

    init() throws {
        machine = try TestNamespace()
        for (name, address) in [("lan0", "192.0.2.2/24"), ("mob0", "198.51.100.2/24")] {
            try machine.run("ip", "link", "add", name, "type", "veth", "peer", "name", "far-" + name)
            for end in [name, "far-" + name] { try machine.run("ip", "link", "set", end, "addrgenmode", "none", "up") }
            try machine.run("ip", "address", "add", address, "dev", name)
        }
        try run("route add default via 192.0.2.1 metric 100", "route add default via 198.51.100.1 metric 700")
        // A VXLAN device without a far end: as with tun, nothing says what carries it.
        try run(
            "link add vpn0 type vxlan id 7 dstport 4789", "link set vpn0 addrgenmode none up",
            "address add 203.0.113.65/28 dev vpn0")
    }

    private func run(_ commands: String...) throws {
        for command in commands {
            _ = try ChildProcess.run(["ip", "-n", machine.name] + command.split(separator: " ").map(String.init))
        }
    }

    /// The rules of wg-quick: all but the tunnel's own packets go into it.
    private func fullTunnel() throws {
        try run(
            "route add default dev vpn0 table 51820", "rule add not fwmark 51820 lookup 51820 pref 5210",
            "rule add lookup main suppress_prefixlength 0 pref 5209")
    }

    private static func policy(past: String? = nil) -> LinkPolicy {
        var rules = [
            LinkPolicy.Rule(pattern: Glob("lan*"), linkClass: .wired),
            LinkPolicy.Rule(pattern: Glob("mob*"), linkClass: .wwan),
        ]
        if let past { rules.append(LinkPolicy.Rule(pattern: Glob(past), passesTunnels: true)) }
        return LinkPolicy(rules: rules)
    }

    private func observe<Value: Sendable>(
        past: String? = nil, _ body: @escaping @Sendable (KernelView, inout PathFinder, Verdict) throws -> Value
    ) async throws -> Value {
        try await machine.perform {
            let view = try KernelView(policy: Self.policy(past: past))
            try view.refresh()
            var finder = PathFinder(view: view)
            let internet = try finder.internet(anchors: ReferenceAddresses.standard)
            return try body(view, &finder, internet)
        }
    }

    private func routes(past: String? = nil) async throws -> [String] {
        try await observe(past: past) { _, finder, internet in
            try finder.defaultRoutes(preferred: internet, anchors: ReferenceAddresses.standard).map(\.name)
        }
    }

    @Test func `no link below or beside a tunnel is another way`() async throws {
        #expect(try await routes() == ["lan0", "mob0"])
        try fullTunnel()
        #expect(try await routes() == ["vpn0"])
        #expect(try await routes(past: "mob0") == ["vpn0", "mob0"])
        let wired = try await observe { _, finder, internet in
            try finder.choose(
                internet, on: .address(IPAddress("192.0.2.200") ?? IPAddress(ipv4: 0), zone: nil), internet: internet,
                names: [], anchors: ReferenceAddresses.standard, where: NetworkCondition("wwan"))
        }
        #expect(wired.status == .notReachable && wired.available.isEmpty)
    }

    @Test func `halves of a default route lead into a tunnel, too`() async throws {
        try run("route add 0.0.0.0/1 dev vpn0", "route add 128.0.0.0/1 dev vpn0")
        #expect(try await routes() == ["vpn0"])
    }

    @Test func `what alone goes into a tunnel goes by no default route, and the reverse`() async throws {
        let asked = ["9.9.9.9", "192.0.2.9", "203.0.113.200"].map { RoutedAddress(IPAddress($0) ?? IPAddress(ipv4: 0)) }
        func kinds() async throws -> [String] {
            try await observe { _, finder, internet in
                try finder.routes(to: asked, internet: internet).map { route in
                    switch route {
                    case .byDefault: "default"
                    case .own(let host): host.name
                    case .local, .none: "none"
                    }
                }
            }
        }
        #expect(try await kinds() == ["default", "lan0", "default"])
        try run("route add 0.0.0.0/1 dev vpn0")
        #expect(try await kinds() == ["vpn0", "lan0", "default"])
        try run("route del 0.0.0.0/1 dev vpn0", "route add 128.0.0.0/1 dev vpn0")
        #expect(try await kinds() == ["lan0", "lan0", "default"])
    }

    @Test func `a tunnel has the class and price of the link that probably carries it`() async throws {
        try fullTunnel()
        let path = try await observe { _, _, internet in internet.ipv4 }
        #expect(path.lower == ["lan0"] && path.carrierClass == .wired && !path.isMetered)
        try run("route del default dev lan0", "address del 192.0.2.2/24 dev lan0")
        let mobile = try await observe { _, _, internet in internet.ipv4 }
        #expect(mobile.lower == ["mob0"] && mobile.carrierClass == .wwan && mobile.meteredReason == .carriedBy)
    }

    @Test func `a tunnel is not reachable while no link that could carry it works`() async throws {
        try run("link del mob0")
        try fullTunnel()
        try run("link set far-lan0 down")
        let unplugged = try await observe { _, _, internet in internet }
        #expect(unplugged.status == .notReachable && unplugged.reason == .noCarrier)
        try run("link set lan0 down")
        let down = try await observe { _, _, internet in internet }
        #expect(down.status == .notReachable && down.reason == .linkDown)
    }

    @Test func `a tunnel works without any link, until one that carried it is gone`() async throws {
        try fullTunnel()
        try run("link del mob0")
        let machine = machine
        let states = try await machine.perform {
            let view = try KernelView(policy: Self.policy())
            var states: [ReachabilityStatus] = []
            for removal in [nil, "lan0"] {
                if let removal { _ = try machine.run("ip", "link", "del", removal) }
                try view.refresh()
                var finder = PathFinder(view: view)
                states.append(try finder.internet(anchors: ReferenceAddresses.standard).status)
            }
            let fresh = try KernelView(policy: Self.policy())
            try fresh.refresh()
            var finder = PathFinder(view: fresh)
            states.append(try finder.internet(anchors: ReferenceAddresses.standard).status)
            return states
        }
        #expect(states == [.reachable, .notReachable, .reachable])
    }

    @Test func `a tunnel that is carried by no link works beside a card without a cable`() async throws {
        try fullTunnel()
        try run("link del mob0", "link del lan0", "link add lan0 type veth peer name far-lan0", "link set lan0 up")
        #expect(try await observe { _, _, internet in internet.status } == .reachable)
    }

    @Test func `a tunnel that received since the last link broke is carried by something else`() async throws {
        try run("link del mob0", "link set lo up")
        try fullTunnel()
        let watched = try await TestEngine.start(in: machine)
        try machine.run("ip", "link", "set", "far-lan0", "down")
        try await watched.changes.wait { $0.last?.state.reason == .noCarrier }
        // What was on its way when the link broke does not count, so it has to receive for some seconds.
        while watched.state?.status != .reachable { try machine.run("python3", "-c", Self.receive) }
        #expect(watched.changes.values.last?.cause == .poll)
    }

    /// Sends a frame to the tunnel, as its far end would.
    private static let receive = """
        import socket
        frame = bytes([255] * 6 + [2, 0, 0, 0, 0, 1, 8, 0]) + bytes(46)
        message = bytes([8, 0, 0, 0, 0, 0, 7, 0]) + frame
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(message, ("127.0.0.1", 4789))
        """

    @Test func `the route to the far end decides what carries a tunnel that has one`() async throws {
        try run(
            "link set vpn0 down", "link del vpn0", "route add 203.0.113.9 via 198.51.100.1",
            "link add vpn0 type vxlan id 7 remote 203.0.113.9 dstport 4789", "link set vpn0 addrgenmode none up",
            "address add 203.0.113.65/28 dev vpn0")
        try fullTunnel()
        let path = try await observe { _, _, internet in internet.ipv4 }
        #expect(path.lower == ["mob0"] && path.meteredReason == .carriedBy)
        let host = try await observe { _, finder, internet in
            try finder.routes(to: [RoutedAddress(IPAddress("203.0.113.66") ?? IPAddress(ipv4: 0))], internet: internet)
        }
        #expect(host.first?.host?.traits.carrierClass == .wwan, "hosts behind it, too")
    }
}

/// What the kernel does with answers to lookups that the lookup alone does not show.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(1)))
struct LookupDetailTests {
    private let machine: TestNamespace

    init() throws {
        machine = try TestNamespace()
        for (name, number) in [("lan0", 1), ("lan1", 2)] {
            try machine.run("ip", "link", "add", name, "type", "veth", "peer", "name", "far-" + name)
            for end in [name, "far-" + name] { try machine.run("ip", "link", "set", end, "addrgenmode", "none", "up") }
            try machine.run("ip", "address", "add", "198.18.\(number).2/24", "dev", name)
            try machine.run("ip", "address", "add", "2001:db8:\(number)::2/64", "dev", name, "nodad")
        }
    }

    private func path(to address: String) async throws -> NetworkPath {
        try await machine.perform {
            let view = try KernelView()
            try view.refresh()
            var finder = PathFinder(view: view)
            let target = try Target(address)
            let verdict = try finder.verdict(on: target.subject, anchors: ReferenceAddresses.standard)
            let path = address.contains(":") ? verdict?.ipv6 : verdict?.ipv4
            return path ?? .unknown
        }
    }

    @Test func `a rule for the source that the kernel chooses applies`() async throws {
        try machine.run("ip", "route", "add", "default", "via", "198.18.1.1")
        #expect(try await path(to: "203.0.113.5").interface == "lan0")
        try machine.run("ip", "route", "add", "default", "via", "198.18.2.1", "table", "100")
        try machine.run("ip", "rule", "add", "from", "198.18.1.2", "lookup", "100")
        let other = try await path(to: "203.0.113.5")
        #expect(other.interface == "lan1" && other.table == 100 && other.source?.description == "198.18.1.2")
        try machine.run("ip", "rule", "add", "from", "198.18.1.2", "prohibit", "pref", "100")
        let refused = try await path(to: "203.0.113.5")
        #expect(refused.status == .notReachable && refused.reason == .prohibited)
    }

    @Test func `the explanation shows the rule for the source that the kernel chooses`() async throws {
        try machine.run("ip", "route", "add", "default", "via", "198.18.1.1")
        try machine.run("ip", "route", "add", "default", "via", "198.18.2.1", "table", "100")
        try machine.run("ip", "rule", "add", "from", "198.18.1.2", "lookup", "100", "pref", "900")
        #expect(
            try await explainedRoute() == [
                "A first lookup chooses the source 198.18.1.2; the kernel looks up again with it, so that rules for it apply.",
                "Rule 900 (from 198.18.1.2 lookup 100) sends this to table 100, before table main is used.",
                "The route `default via 198.18.2.1 dev lan1` in table 100 matches 203.0.113.5.",
            ])
        try machine.run("ip", "rule", "add", "from", "198.18.1.2", "prohibit", "pref", "100")
        let refused = try await explainedRoute()
        #expect(
            refused.count == 2 && refused[1].hasPrefix("Rule 100 (from 198.18.1.2 prohibit) refuses this"), "\(refused)"
        )
    }

    private func explainedRoute() async throws -> [String] {
        try await machine.perform {
            let explanation = try Explainer().explain(Target("203.0.113.5"))
            return explanation.ipv4.steps.filter { [.rule, .route].contains($0.subject) }.map(\.text)
        }
    }

    @Test func `one next hop of several is enough`() async throws {
        try machine.run(
            "ip", "route", "add", "default", "nexthop", "via", "2001:db8:1::1", "dev", "lan0", "nexthop", "via",
            "2001:db8:2::1", "dev", "lan1")
        try machine.run("ip", "link", "set", "far-lan0", "down")
        for host in 1...8 {
            let path = try await path(to: "2001:db8:f::\(host)")
            #expect(path.status == .reachable && path.interface == "lan1", "\(host): \(path)")
        }
        try machine.run("ip", "link", "set", "far-lan1", "down")
        let dead = try await path(to: "2001:db8:f::1")
        #expect(dead.status == .notReachable && dead.reason == .noCarrier)
    }

    @Test func `a route to the machine itself leads nowhere, and the address of all hosts is refused`() async throws {
        try machine.run("ip", "route", "add", "203.0.113.0/24", "dev", "lo")
        let lost = try await path(to: "203.0.113.5")
        #expect(lost.status == .notReachable && lost.reason == .blackhole)
        let all = try await path(to: "198.18.1.255")
        #expect(all.status == .notReachable && all.reason == .prohibited)
        #expect(try await path(to: "198.18.1.2").status == .reachable)
        #expect(try await path(to: "127.0.0.1").status == .reachable)
    }
}
