internal import ReachCore
internal import ReachKernel
internal import ReachTesting
internal import Testing

/// Networks by the gateway's hardware address and by prefix, of a link `lan0` whose far end is a router.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(1)))
struct NetworkNameTests {
    private let machine: TestNamespace
    private let router: TestNamespace

    init() throws {
        machine = try TestNamespace()
        router = try TestNamespace()
        try machine.run(
            "ip", "link", "add", "lan0", "type", "veth", "peer", "name", "far0", "netns", router.name)
        try router.run("ip", "link", "set", "far0", "address", "02:00:5e:00:53:01", "addrgenmode", "none", "up")
        try router.run("ip", "address", "add", "192.0.2.1/24", "dev", "far0")
        try machine.run("ip", "link", "set", "lan0", "addrgenmode", "none", "up")
        try machine.run("ip", "address", "add", "192.0.2.2/24", "dev", "lan0")
    }

    private var options: EngineOptions {
        var office = NetworkRule(name: "office")
        office.gateways = [HardwareAddress("02:00:5e:00:53:01")].compactMap(\.self)
        office.isMetered = true
        var home = NetworkRule(name: "home")
        home.prefixes = [IPPrefix("198.51.100.0/24")].compactMap(\.self)
        var options = EngineOptions()
        options.observer.policy.networks = NetworkPolicy(rules: [home, office], key: NetworkKey(0..<16))
        return options
    }

    private func addRoute() throws { try machine.run("ip", "route", "add", "default", "via", "192.0.2.1") }

    /// The gateway answers to the first packet that is sent to it; this one comes from the machine's own kernel.
    private func resolveGateway() throws {
        try machine.run(
            "ip", "neighbour", "replace", "192.0.2.1", "lladdr", "02:00:5e:00:53:01", "dev", "lan0", "nud", "stale")
    }

    @Test func `a network has a name once its gateway is known, and another gateway is another network`() async throws {
        let engine = try await TestEngine.start(in: machine, options: options)
        try await engine.expect(.init(.reachable, because: .routeAdded), after: addRoute)
        #expect(engine.state?.network == nil, "nothing was sent, so nobody knows the gateway")
        try await engine.expect(
            .init(.reachable, because: .neighbour, [.path, .metered]), after: resolveGateway)
        #expect(engine.state?.network == "office" && engine.state?.meteredReason == .configuration)
        try await engine.expect(.init(.reachable, because: .network, [.path, .metered])) {
            try machine.run(
                "ip", "neighbour", "replace", "192.0.2.1", "lladdr", "02:00:5e:00:53:99", "dev", "lan0", "nud", "stale")
        }
        let identifier = try #require(engine.state?.network)
        #expect(identifier.hasPrefix("net-") && engine.state?.isMetered == false)
        #expect(engine.state?.epoch == 2, "the path is the same")
    }

    @Test func `a network has a name by its prefix at once, also for the family that the address is not of`()
        async throws
    {
        try machine.run("ip", "address", "add", "2001:db8::2/64", "dev", "lan0", "nodad")
        try machine.run("ip", "-6", "route", "add", "default", "via", "2001:db8::1")
        try addRoute()
        let engine = try await TestEngine.start(in: machine, options: options)
        #expect(engine.state?.network == nil)
        try await engine.expect(.init(.reachable, because: .addressAdded, [.path])) {
            try machine.run("ip", "address", "add", "198.51.100.2/24", "dev", "lan0")
        }
        #expect(engine.state?.ipv4.network == "home" && engine.state?.ipv6.network == "home")
        try await engine.expect(.init(.reachable, because: .addressRemoved, [.path])) {
            try machine.run("ip", "address", "del", "198.51.100.2/24", "dev", "lan0")
        }
        #expect(engine.state?.network == nil)
    }

    @Test func `links and default routes have the network of their gateway`() async throws {
        try addRoute()
        try resolveGateway()
        let (options, anchors) = (options, ReferenceAddresses.standard)
        let (links, routes) = try await machine.perform {
            let snapshot = try KernelSnapshot(options: options)
            let links = try snapshot.links()
            var finder = PathFinder(view: snapshot.view)
            let internet = try finder.internet(anchors: anchors)
            return (links, try finder.defaultRoutes(preferred: internet, anchors: anchors))
        }
        let link = try #require(links.first { $0.link.name == "lan0" })
        #expect(link.network == "office" && link.meteredReason == .configuration && link.wireless == nil)
        #expect(routes.map(\.traits.network) == ["office"])
    }
}
