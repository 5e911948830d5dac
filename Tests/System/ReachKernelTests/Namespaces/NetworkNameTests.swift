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

    private var options: ReachabilityEngine.Options {
        var office = NetworkRule(name: "office")
        office.gateways = [HardwareAddress("02:00:5e:00:53:01")].compactMap(\.self)
        office.isMetered = true
        var home = NetworkRule(name: "home")
        home.prefixes = [IPPrefix("198.51.100.0/24")].compactMap(\.self)
        var options = ReachabilityEngine.Options()
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
        #expect(engine.state?.network == nil, "nothing was sent, so no one knows the gateway")
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

    @Test func `a network outlives neither its default route nor a fresh look at the kernel`() async throws {
        try addRoute()
        try resolveGateway()
        let engine = try await TestEngine.start(in: machine, options: options, networks: EventLog())
        #expect(engine.state?.network == "office")
        let forget = { _ = try machine.run("ip", "neighbour", "del", "192.0.2.1", "dev", "lan0") }
        try await engine.expect(.init(.notReachable, .noRoute, because: .routeRemoved)) {
            try machine.run("ip", "route", "del", "default")
        }
        try forget()
        try await engine.expect(.init(.reachable, because: .routeAdded), after: addRoute)
        #expect(engine.state?.network == nil && engine.state?.isMetered == false, "the uplink may have moved")
        let options = options
        try resolveGateway()
        let networks = try await machine.perform { [machine] in
            let snapshot = try KernelSnapshot(options: options)
            let before = try snapshot.links().first { $0.link.name == "lan0" }?.network
            try machine.run("ip", "neighbour", "del", "192.0.2.1", "dev", "lan0")
            try snapshot.view.refresh()
            let index = try #require(snapshot.view.table.link(named: "lan0")?.index)
            return [before, try snapshot.view.condition(of: index).traits.network]
        }
        #expect(networks == ["office", nil])
    }

    /// - Returns: How often the engine evaluated after the default route was deleted, and the last state.
    private func evaluationsOfDeletion(
        watching target: Target
    ) async throws -> (count: UInt64, state: ReachabilityState?) {
        try addRoute()
        try resolveGateway()
        let networks = EventLog<NetworkSnapshot>()
        let engine = try await TestEngine.start(target, in: machine, options: options, networks: networks)
        #expect(engine.state?.network == "office")
        let versions = EventLog<UInt64>()
        engine.perform { versions.append($0.routesVersion) }
        try await versions.wait(for: 1)
        let known = networks.values.count
        try machine.run("ip", "route", "del", "default")
        try await networks.wait(for: known + 1)
        try await engine.drain()
        engine.perform { versions.append($0.routesVersion) }
        let both = try await versions.wait(for: 2)
        // The version increases once for the notice.
        return (both[1] - both[0] - 1, engine.state)
    }

    @Test func `after the last default route everything is evaluated once`() async throws {
        let (count, state) = try await evaluationsOfDeletion(watching: .internet)
        #expect(count == 1 && state?.status == .notReachable)
    }

    @Test func `a neighbour of a link that has lost its default route is evaluated again, without a network`()
        async throws
    {
        let (count, state) = try await evaluationsOfDeletion(watching: try Target("192.0.2.9"))
        #expect(count == 2 && state?.status == .reachable && state?.network == nil)
    }

    @Test func `the gateway of a link that the kernel does not prefer names its network, too`() async throws {
        try machine.run("ip", "route", "add", "default", "via", "192.0.2.1", "metric", "200")
        try machine.run("ip", "link", "add", "lan1", "type", "veth", "peer", "name", "far1", "netns", router.name)
        try router.run("ip", "link", "set", "far1", "up")
        try machine.run("ip", "link", "set", "lan1", "addrgenmode", "none", "up")
        try machine.run("ip", "address", "add", "203.0.113.2/24", "dev", "lan1")
        try machine.run("ip", "route", "add", "default", "via", "203.0.113.1", "metric", "100")
        let networks = EventLog<NetworkSnapshot>()
        let engine = try await TestEngine.start(in: machine, options: options, networks: networks)
        try await networks.wait(for: 1)
        try await engine.drain()
        let known = networks.values.count
        #expect(networks.values.last?.routes.map(\.traits.network) == [nil, nil])
        try resolveGateway()
        let route = try await networks.wait(for: known + 1).last?.routes.first { $0.name == "lan0" }
        #expect(route?.traits.network == "office" && route?.isPreferred == false)
        #expect(engine.state?.interface == "lan1")
    }

    @Test func `an explanation knows networks by their gateway, and hotspots`() async throws {
        try addRoute()
        try resolveGateway()
        var options = options
        let explain = { [machine] (options: ReachabilityEngine.Options) in
            try await machine.perform { try Explainer(options: options).explain(.internet).verdict }
        }
        let office = try await explain(options)
        #expect(office.ipv4.network == "office" && office.ipv4.meteredReason == .configuration)
        options.observer.policy.networks.rules = []
        let index = try #require(office.ipv4.interfaceIndex)
        var leases = LeaseFindings()
        leases.note(index, [], isHotspot: true)
        options.leases = leases
        let hotspot = try await explain(options)
        #expect(hotspot.isMetered && hotspot.ipv4.meteredReason == .androidHotspot)
        #expect(hotspot.ipv4.network?.hasPrefix("net-") == true)
    }

    @Test func `a default route may be metered until its lease was read, and a hotspot is known from the start`()
        async throws
    {
        try addRoute()
        let index = try #require(Int32(try machine.run("cat", "/sys/class/net/lan0/ifindex").split(separator: "\n")[0]))
        let own: Set<IPAddress> = [IPAddress(ipv4: 0xc000_0202)]
        // Namespaces have no hardware, and phones are not behind virtual links.
        var options = ReachabilityEngine.Options()
        options.observer.policy = LinkPolicy(linkClasses: ["lan0": .wired])
        options.leases = LeaseFindings()
        let networks = EventLog<NetworkSnapshot>()
        let engine = try await TestEngine.start(in: machine, options: options, networks: networks)
        let unmetered = try NetworkCondition("unmetered")
        let first = try #require(try await networks.wait(for: 1)[0].routes.first)
        #expect(first.traits.mayBeMetered && unmetered.unmet(on: first) == .metered)
        #expect(engine.state?.isMetered == false, "only requests and probes wait, and no one is told")
        var read = LeaseFindings()
        read.note(index, own, isHotspot: false)
        engine.perform { [read] in $0.setLeases(read) }
        let second = try #require(try await networks.wait(for: 2)[1].routes.first)
        #expect(!second.traits.mayBeMetered && unmetered.unmet(on: second).isEmpty)
        #expect(engine.changes.values.count == 1)
        read.note(index, own, isHotspot: true)
        options.leases = read
        let late = try await TestEngine.start(in: machine, options: options)
        #expect(late.changes.values[0].state.meteredReason == .androidHotspot, "after a reload")
    }
}
