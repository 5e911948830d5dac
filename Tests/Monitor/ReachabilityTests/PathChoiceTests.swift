internal import ReachCore
internal import Reachability
internal import Testing

/// The choice among paths, as a value.
struct PathChoiceTests {
    private func route(
        _ name: String, _ index: InterfaceIndex, _ linkClass: LinkClass, metric: UInt32 = 0,
        family: IPAddress.Family = .ipv4, isPreferred: Bool = false
    ) -> DefaultRoute {
        var route = DefaultRoute(
            key: DefaultRoute.Key(family: family, interface: index), name: name,
            traits: PathTraits(linkClass: linkClass, isMetered: linkClass == .wwan), isPreferred: isPreferred)
        route.metric = metric
        return route
    }

    private func path(_ name: String, _ index: InterfaceIndex, _ linkClass: LinkClass) -> NetworkPath {
        var path = NetworkPath(status: .reachable)
        (path.interface, path.interfaceIndex, path.linkClass) = (name, index, linkClass)
        return path
    }

    private static let conditions: [(String, String?)] = [
        ("any", "eth0"), ("wired", "eth0"), ("wifi", "wlan0"), ("not wired", "wlan0"),
        ("unmetered, not wired", "wlan1"),
        ("interface=wlan1", "wlan1"), ("bluetooth", nil), ("family=6", nil), ("not wifi, not wired", nil),
    ]

    @Test(arguments: conditions)
    func `the kernel's path counts if it satisfies the condition, otherwise the one with the lowest metric`(
        text: String, interface: String?
    ) throws {
        var metered = route("wlan0", 3, .wifi, metric: 100)
        metered.traits.isMetered = true
        let routes = [
            route("eth0", 2, .wired, metric: 700, isPreferred: true), route("wlan1", 4, .wifi, metric: 600), metered,
        ]
        let verdict = Verdict(ipv4: path("eth0", 2, .wired), ipv6: NetworkPath(status: .notReachable, reason: .noRoute))
        let chosen = verdict.choosing(from: routes, where: try NetworkCondition(text))
        #expect(chosen.interface == interface)
        #expect(chosen.reason == (interface == nil ? .noRoute : nil))
        #expect(chosen.available.first?.name == interface)
        #expect(chosen.ipv6 == verdict.ipv6)
    }

    @Test func `the list begins with the interfaces that the kernel chooses, then goes by metric and index`() {
        let routes = [
            route("a", 9, .wifi, metric: 900, isPreferred: true), route("b", 8, .wifi, metric: 1),
            route("c", 7, .wifi, metric: 1), route("d", 6, .wifi, metric: 5, family: .ipv6, isPreferred: true),
            route("b", 8, .wifi, metric: 3, family: .ipv6),
        ]
        let verdict = Verdict(ipv4: path("a", 9, .wifi), ipv6: path("d", 6, .wifi))
        let list = verdict.choosing(from: routes, where: .any).available
        #expect(list.map(\.name) == ["a", "d", "c", "b"])
        #expect(list.last?.families == [.ipv4, .ipv6])
    }

    @Test func `a route whose replies the kernel would drop is not chosen, nor is a failed gateway's listed`() throws {
        var dropped = route("wlan0", 3, .wifi)
        dropped.dropsReplies = true
        var failed = route("eth0", 2, .wired, isPreferred: true)
        (failed.gateway, failed.neighbour) = (IPAddress(ipv4: 1), .failed)
        var own = path("eth0", 2, .wired)
        (own.status, own.reason) = (.notReachable, .gatewayUnreachable)
        let verdict = Verdict(ipv4: own, ipv6: .notAsked)
        for condition in ["any", "wired"] {
            let chosen = verdict.choosing(from: [failed, dropped], where: try NetworkCondition(condition))
            #expect(chosen.reason == .gatewayUnreachable && chosen.available.isEmpty)
        }
        #expect(verdict.choosing(from: [failed, dropped], where: try NetworkCondition("wifi")).reason == .noRoute)
    }

    @Test func `a tunnel is of the class of the link that carries it, too`() throws {
        var tunnel = path("wg0", 5, .tunnel)
        tunnel.carrierClass = .wifi
        var route = route("wg0", 5, .tunnel, isPreferred: true)
        route.traits.carrierClass = .wifi
        let verdict = Verdict(ipv4: tunnel, ipv6: .notAsked)
        for condition in ["wifi", "tunnel", "not wired"] {
            let chosen = verdict.choosing(from: [route], where: try NetworkCondition(condition))
            #expect(chosen.interface == "wg0" && chosen.available.map { $0.uses(.wifi) } == [true])
        }
        #expect(verdict.choosing(from: [route], where: try NetworkCondition("not wifi")).reason == .noRoute)
    }
}
