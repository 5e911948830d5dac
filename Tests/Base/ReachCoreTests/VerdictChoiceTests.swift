import ReachCore
import ReachTesting
import Testing

/// The path of a program that accepts some paths only.
@Suite struct VerdictChoiceTests {
    private static func route(
        _ family: IPAddress.Family, _ index: InterfaceIndex, _ name: String, _ linkClass: LinkClass,
        metric: UInt32 = 100, _ change: (inout DefaultRoute) -> Void = { _ in }
    ) -> DefaultRoute {
        var route = DefaultRoute(
            key: DefaultRoute.Key(family: family, interface: index), name: name,
            traits: PathTraits(linkClass: linkClass), isPreferred: false)
        route.metric = metric
        change(&route)
        return route
    }

    private static func path(_ name: String, _ index: InterfaceIndex, _ linkClass: LinkClass) -> NetworkPath {
        var path = NetworkPath(status: .reachable)
        (path.interface, path.interfaceIndex, path.linkClass) = (name, index, linkClass)
        return path
    }

    private static let lost = NetworkPath(status: .notReachable, reason: .noRoute)

    @Test func `in place of a path that is refused the accepted route counts, with all that it has`() throws {
        let route = Self.route(.ipv4, 3, "wlan0", .wifi, metric: 600) {
            $0.traits.network = "office"
            $0.lower = ["wlan0-below"]
            $0.gateway = IPAddress("192.0.2.1")
            $0.source = IPAddress("192.0.2.2")
            $0.neighbour = .reachable
        }
        let verdict = Verdict(ipv4: Self.path("eth0", 2, .wired), ipv6: Self.lost)
        let chosen = verdict.choosing(from: [route], where: try NetworkCondition("wifi"))
        var expected = Self.path("wlan0", 3, .wifi)
        (expected.network, expected.lower, expected.metric) = ("office", ["wlan0-below"], 600)
        (expected.gateway, expected.source) = (route.gateway, route.source)
        expected.neighbour = .reachable
        #expect(chosen.ipv4 == expected)
        #expect(chosen.ipv6 == Self.lost && chosen.status == .reachable)
        #expect(chosen.available.map(\.name) == ["wlan0"])
    }

    @Test func `of several routes in a family the one with the lowest metric counts, then the lower index`() throws {
        let verdict = Verdict(ipv4: Self.path("eth0", 2, .wired), ipv6: Self.path("eth0", 2, .wired))
        let routes = [
            Self.route(.ipv4, 5, "wlan2", .wifi, metric: 700), Self.route(.ipv4, 4, "wlan1", .wifi, metric: 600),
            Self.route(.ipv4, 3, "wlan0", .wifi, metric: 600), Self.route(.ipv6, 5, "wlan2", .wifi, metric: 1),
        ]
        let chosen = verdict.choosing(from: routes, where: try NetworkCondition("wifi"))
        #expect(chosen.ipv4.interface == "wlan0" && chosen.ipv6.interface == "wlan2")
        #expect(chosen.available.map(\.name) == ["wlan0", "wlan2", "wlan1"])
    }

    @Test func `a path that satisfies the condition counts, whether or not it works`() throws {
        var broken = Self.path("wlan0", 3, .wifi)
        (broken.status, broken.reason) = (.notReachable, .gatewayUnreachable)
        let other = Self.route(.ipv4, 4, "wlan1", .wifi)
        let chosen = Verdict(ipv4: broken, ipv6: Self.lost).choosing(from: [other], where: try NetworkCondition("wifi"))
        #expect(chosen.ipv4 == broken)
    }

    @Test func `without a path of the kernel a route counts that a rule may lead to, or nothing changes`() throws {
        let verdict = Verdict(ipv4: Self.lost, ipv6: .notAsked)
        let route = Self.route(.ipv4, 3, "wlan0", .wifi)
        let condition = try NetworkCondition("wifi")
        #expect(verdict.choosing(from: [route], where: condition).ipv4.interface == "wlan0")
        #expect(verdict.choosing(from: [], where: condition).ipv4 == Self.lost)
        #expect(verdict.choosing(from: [route], where: condition).ipv6 == .notAsked)
        var unusable = route
        unusable.dropsReplies = true
        #expect(verdict.choosing(from: [unusable], where: condition).ipv4 == Self.lost)
    }

    @Test func `only other paths are no route`() throws {
        let verdict = Verdict(ipv4: Self.path("eth0", 2, .wired), ipv6: .notAsked)
        let chosen = verdict.choosing(
            from: [Self.route(.ipv4, 2, "eth0", .wired)], where: try NetworkCondition("wifi"))
        #expect(chosen.ipv4 == Self.lost && chosen.available == [])
    }

    @Test func `a route of the kernel's choice has what its path has`() throws {
        var path = Self.path("wlan0", 3, .wifi)
        (path.lower, path.metric) = (["below"], 9)
        (path.gateway, path.source) = (IPAddress("fe80::1"), IPAddress("2001:db8::2"))
        path.neighbour = .stale
        path.network = "office"
        let address = RouteFixtures.address("2001:db8::2", on: 3)
        let route = try #require(DefaultRoute(preferred: path, .ipv6, addresses: [address]))
        #expect(route.key == DefaultRoute.Key(family: .ipv6, interface: 3) && route.name == "wlan0")
        #expect(route.traits == path.traits && route.lower == ["below"] && route.metric == 9)
        #expect(route.gateway == path.gateway && route.source == path.source && route.neighbour == .stale)
        #expect(route.addresses == [address] && route.isPreferred)
        path.gateway = nil
        #expect(DefaultRoute(preferred: path, .ipv6, addresses: [])?.neighbour == nil, "that of the target itself")
        path.status = .notReachable
        path.reason = .gatewayUnreachable
        #expect(DefaultRoute(preferred: path, .ipv6, addresses: []) != nil)
        path.reason = .linkDown
        #expect(DefaultRoute(preferred: path, .ipv6, addresses: []) == nil)
        #expect(DefaultRoute(preferred: Self.lost, .ipv6, addresses: []) == nil)
    }

    @Test(
        arguments: [
            (nil, true), (.reachable, true), (.stale, true), (.delay, true), (.probe, true), (.noarp, true),
            (.permanent, true), (NeighbourState.none, false), (.incomplete, false), (.failed, false),
        ] as [(NeighbourState?, Bool)])
    func `a first hop counts as confirmed once it has answered, until it fails`(
        neighbour: NeighbourState?, isConfirmed: Bool
    ) {
        #expect(Self.route(.ipv4, 2, "eth0", .wired) { $0.neighbour = neighbour }.hasConfirmedNeighbour == isConfirmed)
    }
}
