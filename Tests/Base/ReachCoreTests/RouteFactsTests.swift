import ReachCore
import Testing

/// What is said of routes, addresses and changes of them, for modules above this one.
@Suite struct RouteFactsTests {
    @Test func `a neighbour is confirmed if it has answered and not failed since`() {
        var route = DefaultRoute(
            key: .init(family: .ipv4, interface: 2), name: "eth0", traits: PathTraits(linkClass: .wired))
        #expect(route.hasConfirmedNeighbour)
        let states: [(NeighbourState, Bool)] = [
            (.reachable, true), (.stale, true), (.delay, true), (.probe, true), (.noarp, true), (.permanent, true),
            (.none, false), (.incomplete, false), (.failed, false),
        ]
        for (state, isConfirmed) in states {
            route.neighbour = state
            #expect(route.hasConfirmedNeighbour == isConfirmed, "\(state)")
        }
    }

    @Test func `the preferred routes are those of the families with a path, or with a gateway that failed`() {
        var path = NetworkPath(status: .reachable)
        (path.interface, path.interfaceIndex) = ("eth0", 2)
        var failed = NetworkPath(status: .notReachable, reason: .gatewayUnreachable)
        (failed.interface, failed.interfaceIndex) = ("eth1", 3)
        let none = NetworkPath(status: .notReachable, reason: .noRoute)
        func names(_ ipv4: NetworkPath, _ ipv6: NetworkPath) -> [String] {
            Verdict(ipv4: ipv4, ipv6: ipv6).preferredRoutes.map { "\($0.name) \($0.key.family)" }
        }
        #expect(names(path, failed) == ["eth0 ipv4", "eth1 ipv6"])
        #expect(names(none, path) == ["eth0 ipv6"])
        #expect(names(none, none) == [])
    }

    @Test func `changes concern one family only if each of them does`() {
        func family(_ families: IPAddress.Family?...) -> IPAddress.Family? {
            NetworkTable.Effect.onlyFamily(
                of: families.map { NetworkTable.Effect(cause: .routeAdded, family: $0) })
        }
        #expect(family() == nil)
        #expect(family(.ipv4) == .ipv4 && family(.ipv6, .ipv6) == .ipv6)
        #expect(family(.ipv4, .ipv6) == nil && family(.ipv4, nil) == nil && family(nil, .ipv4) == nil)
    }

    @Test func `an answer is by a route that has its table, its hop and its addresses`() throws {
        var route = Route(destination: try #require(IPPrefix("198.51.100.0/24")))
        route.table = 254
        route.hops = [NextHop(interface: 2, gateway: IPAddress("192.0.2.1"))]
        var answer = route
        answer.destination = try #require(IPPrefix("198.51.100.7/32"))
        let address = try #require(IPAddress("198.51.100.7"))
        func isFound(_ change: (inout Route) -> Void = { _ in }) -> Bool {
            var changed = answer
            change(&changed)
            return route.isFound(in: .route(changed), for: address)
        }
        #expect(isFound())
        #expect(!isFound { $0.table = 100 })
        #expect(!isFound { $0.type = .blackhole })
        #expect(!isFound { $0.hops = [] })
        #expect(!isFound { $0.hops += $0.hops })
        #expect(!isFound { $0.hops[0].gateway = IPAddress("192.0.2.9") })
        #expect(!isFound { $0.hops[0].interface = 3 })
        let elsewhere = try #require(IPAddress("203.0.113.1"))
        #expect(!route.isFound(in: .route(answer), for: elsewhere))
        #expect(!route.isFound(in: .refused(errno: 101), for: address))
        // On the link itself each address has a hop of its own.
        route.hops[0].gateway = nil
        #expect(!isFound { $0.hops[0].gateway = nil })
        route.hops = [NextHop(interface: 2, gateway: IPAddress("192.0.2.1"))]
        route.type = .unreachable
        #expect(!isFound())
    }

    @Test func `the name servers of a resolv.conf are read with their interfaces`() {
        let text = """
            # nameserver 192.0.2.9
            nameserver 192.0.2.1
            search example.net
            nameserver fe80::1%eth0 ; the router
            nameserver
            nameserver none
            \tnameserver\t2001:db8::1
            """
        let found = ResolverText.nameServers(in: text).map { "\($0.address) \($0.zone ?? "-")" }
        #expect(found == ["192.0.2.1 -", "fe80::1 eth0", "2001:db8::1 -"])
    }

    @Test func `a condition says which network is unknown, and which name may be meant`() throws {
        let condition = try NetworkCondition("network=hom")
        #expect(condition.networkProblem(among: ["hom"]) == nil)
        #expect(
            condition.networkProblem(among: ["home", "office"])
                == "no [[network]] is named 'hom'; did you mean 'home'?")
        #expect(
            condition.networkProblem(among: [])
                == "no [[network]] is named 'hom': the daemon's configuration names no network")
        #expect(
            condition.networkProblem(among: ["office", "train"])
                == "no [[network]] is named 'hom'; there are office, train")
        #expect(try NetworkCondition("wifi").networkProblem(among: []) == nil)
        var depending = try ["unmetered", "wifi", "network=a"].map { try NetworkCondition($0) }
        depending += [NetworkCondition(), NetworkCondition()]
        depending[3].excludedClasses = [.wifi]
        depending[4].excludedNetworks = ["a"]
        for condition in depending { #expect(condition.dependsOnConfiguration, "\(condition)") }
        #expect(!NetworkCondition.any.dependsOnConfiguration && !NetworkCondition.reachable.dependsOnConfiguration)
    }

    @Test func `what is proved of interfaces holds for the paths to any host over them`() throws {
        var report = ConnectivityReport()
        report[.ipv4] = .full
        let survey = ConnectivitySurvey(interfaces: ["eth0": report])
        var ipv4 = NetworkPath(status: .reachable)
        (ipv4.interface, ipv4.interfaceIndex) = ("eth0", 2)
        var ipv6 = NetworkPath(status: .reachable)
        (ipv6.interface, ipv6.interfaceIndex) = ("eth1", 3)
        var state = ReachabilityState(target: .internet, since: Timestamp(nanosecondsSince1970: 0))
        state.adopt(Verdict(ipv4: ipv4, ipv6: ipv6))
        let proved = survey.proving(state)
        #expect(proved.isValidated && !state.isValidated)
        #expect(proved.ipv4.connectivity == .full && proved.ipv6.connectivity == .unknown)
    }
}
