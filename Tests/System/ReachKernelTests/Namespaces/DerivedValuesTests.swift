internal import ReachCore
@testable internal import ReachKernel
internal import ReachTesting
internal import Testing

/// What a view derives from the kernel's tables: each input is changed once, and the value follows.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(1)))
struct DerivedValuesTests {
    private let namespace: TestNamespace

    init() throws { namespace = try TestNamespace() }

    private static let gateway = HardwareAddress([2, 0, 0, 0, 0, 1])

    /// Names the network behind the link 7 by its prefix, or by its gateway.
    private static func policy() throws -> LinkPolicy {
        var prefix = NetworkRule(name: "by-prefix")
        prefix.prefixes = [try #require(IPPrefix("192.0.2.0/24"))]
        var gateway = NetworkRule(name: "by-gateway")
        gateway.gateways = [try #require(Self.gateway)]
        var policy = LinkPolicy(linkClasses: ["lan*": .wired])
        policy.networks = NetworkPolicy(rules: [prefix, gateway])
        return policy
    }

    private static func link(_ change: (inout Link) -> Void = { _ in }) -> Notice {
        var link = Link(index: 7, name: "lan7")
        link.flags = [.up, .running, .lowerUp]
        change(&link)
        return .link(link)
    }

    private static func address(_ text: String, on index: InterfaceIndex = 7) throws -> InterfaceAddress {
        InterfaceAddress(
            interface: index, address: try #require(IPAddress(text)), prefixLength: 24, scope: 0, flags: [])
    }

    /// What is said of the link 7 before and after a change. It is in the view alone.
    private func conditions(
        after change: @escaping @Sendable (KernelView) throws -> Void
    ) async throws -> [LinkCondition] {
        try await namespace.perform {
            let view = try KernelView(policy: Self.policy())
            try view.refresh()
            _ = view.apply(Self.link())
            let route = DefaultRoute.Key(family: .ipv4, interface: 7)
            view.table.gateways.note(try #require(IPAddress("192.0.2.1")), of: route)
            let before = try view.condition(of: 7)
            #expect(try view.condition(of: 7) == before)
            try change(view)
            return [before, try view.condition(of: 7)]
        }
    }

    @Test func `a link's condition follows the link`() async throws {
        let found = try await conditions { _ = $0.apply(Self.link { $0.flags = [.up] }) }
        #expect(found.map(\.trouble) == [nil, .noCarrier])
    }

    @Test func `a link's condition follows the prefixes of its addresses`() async throws {
        let found = try await conditions { _ = $0.apply(.address(try Self.address("192.0.2.2"))) }
        #expect(found.map(\.traits.network) == [nil, "by-prefix"])
    }

    @Test func `a link's condition follows its gateway's device`() async throws {
        let found = try await conditions { view in
            let key = Neighbour.Key(interface: 7, address: try #require(IPAddress("192.0.2.1")))
            var neighbour = Neighbour(key: key, state: .reachable)
            neighbour.hardwareAddress = Self.gateway
            _ = view.apply(.neighbour(neighbour))
        }
        #expect(found.map(\.traits.network) == [nil, "by-gateway"])
    }

    @Test func `a link's condition follows what its lease says`() async throws {
        let found = try await conditions { view in
            var leases = LeaseFindings()
            leases.note(7, [], isHotspot: true)
            view.leases = leases
        }
        #expect(found.map(\.traits.meteredReason) == [nil, .androidHotspot])
    }

    @Test func `what carries a tunnel follows the routes with each evaluation`() async throws {
        try namespace.batch(
            """
            link add lan0 type veth peer name far0
            link add lan1 type veth peer name far1
            link set lan0 up
            link set lan1 up
            link set far0 up
            link set far1 up
            addr add 192.0.2.2/24 dev lan0
            addr add 198.51.100.2/24 dev lan1
            route add 203.0.113.9 via 192.0.2.1
            link add tun7 type vxlan id 7 dstport 4789 remote 203.0.113.9
            link set tun7 up
            """)
        let found = try await namespace.perform { [namespace] in
            let view = try KernelView()
            try view.refresh()
            let tunnel = try #require(view.table.link(named: "tun7")).index
            var found = [try view.condition(of: tunnel).lower]
            try namespace.batch("route replace 203.0.113.9 via 198.51.100.1")
            _ = PathFinder(view: view)
            found.append(try view.condition(of: tunnel).lower)
            return found
        }
        #expect(found == [["lan0"], ["lan1"]])
    }

    @Test func `the rules are read again after a notice of one`() async throws {
        let counts = try await namespace.perform { [namespace] in
            let view = try KernelView()
            try view.refresh()
            var counts = [try view.rules().count]
            try namespace.run("ip", "rule", "add", "from", "192.0.2.0/24", "lookup", "100")
            counts.append(try view.rules().count)
            _ = view.apply(.rule(Rule(family: .ipv4, priority: 100)))
            counts.append(try view.rules().count)
            try namespace.run("ip", "rule", "del", "from", "192.0.2.0/24", "lookup", "100")
            try view.refresh()
            return counts + [try view.rules().count]
        }
        #expect(counts.map { $0 - counts[0] } == [0, 0, 1, 0])
    }

    @Test func `routes that end the search are looked for again where the kernel reports more`() async throws {
        try namespace.run("ip", "link", "set", "lo", "up")
        let counts = try await namespace.perform { [namespace] in
            let view = try KernelView()
            try view.refresh()
            var counts = [try view.throwRoutes(.ipv4).count]
            try namespace.run("ip", "route", "add", "throw", "198.51.100.0/24")
            counts.append(try view.throwRoutes(.ipv4).count)
            view.expectMoreReports()
            return counts + [try view.throwRoutes(.ipv4).count]
        }
        #expect(counts == [0, 0, 1])
    }

    @Test func `the kept path of a family is not that of another network`() async throws {
        try namespace.batch(
            """
            link add lan7 type veth peer name far7
            link set lan7 up
            link set far7 up
            addr add 198.51.100.2/24 dev lan7
            addr add 2001:db8::2/64 dev lan7 nodad
            route add default dev lan7
            route add ::/0 dev lan7
            """)
        let networks = try await namespace.perform {
            let view = try KernelView(policy: Self.policy())
            try view.refresh()
            var finder = PathFinder(view: view)
            let before = try finder.internet(anchors: ReferenceAddresses.standard)
            let lan = try #require(view.table.link(named: "lan7")).index
            _ = view.apply(.address(try Self.address("192.0.2.2", on: lan)))
            var next = PathFinder(view: view)
            let after = try next.internet(anchors: ReferenceAddresses.standard, only: .ipv4, known: before)
            return [before.ipv4.network, before.ipv6.network, after.ipv4.network, after.ipv6.network]
        }
        #expect(networks == [nil, nil, "by-prefix", "by-prefix"])
    }
}
