internal import ReachCore
internal import ReachKernel
internal import ReachTesting
internal import Testing

/// Which links have a default route, from the kernel's answers for three reference addresses.
@Suite struct DefaultRouteSurveyTests {
    private let survey = DefaultRouteSurvey(
        .ipv4,
        among: [
            IPAddress(ipv4: 0xc000_0201), IPAddress(ipv4: 0xc633_6401), IPAddress(ipv4: 0xcb00_7101),
            IPAddress(ipv6: 1, 1),
        ])

    enum Answer: Sendable { case route, dead, blackhole, otherLink, refused }

    private func answer(_ kind: Answer, metric: UInt32) -> RouteAnswer {
        switch kind {
        case .refused: return .refused(errno: LinuxError.networkUnreachable)
        case .route, .dead, .blackhole, .otherLink:
            var route = Route.answer(
                on: kind == .otherLink ? 3 : 2, type: kind == .blackhole ? .blackhole : .unicast,
                flags: kind == .dead ? .dead : [])
            route.metric = metric
            return .route(route)
        }
    }

    @Test(arguments: [
        ([Answer.route, .route, .route], true), ([.route, .route, .refused], true), ([.refused, .route, .route], true),
        ([.route, .refused, .refused], false), ([.refused, .refused, .refused], false),
        ([.route, .dead, .dead], false), ([.route, .blackhole, .blackhole], false),
        ([.route, .otherLink, .otherLink], false),
    ])
    func `a link counts if most reference addresses have a route over it`(
        answers: [Answer], counts: Bool
    ) {
        let found = survey.route(by: 2, answers.enumerated().map { answer($1, metric: 30 - UInt32($0)) })
        #expect((found != nil) == counts)
        if let found {
            let best = answers.lastIndex { $0 == .route }.map { 30 - UInt32($0) }
            #expect(found.route.metric == best && found.hop.gateway == Machine.gateway)
        }
    }

    @Test func `a candidate is up, leaves the machine, has an address of the family, and is not the preferred link`() {
        var machine = Machine(
            .up(1, "lo").with { $0.flags.insert(.loopback) }, .up(2, "eth0"), .up(3, "wlan0"),
            .up(4, "br0", kind: "bridge"),
            .up(5, "eth1").with { $0.flags.remove(.up) }, .up(6, "eth2"), .up(7, "eth3"))
        for index in InterfaceIndex(1)...5 { machine.add(Machine.documentation, to: index, length: 24) }
        machine.add(Machine.far, to: 6, length: 64)
        let found = survey.candidates(in: machine.table, besides: 2) { $0 == 3 ? .noCarrier : nil }
        #expect(found.map(\.link.name) == ["br0"])
        #expect(found.map(\.source) == [Machine.documentation])
        let none = DefaultRouteSurvey(.ipv6, among: survey.anchors)
        #expect(none.candidates(in: machine.table, besides: nil) { _ in nil }.isEmpty)
    }

    @Test func `a VRF and its ports are no candidates, but other stacked links are`() {
        var machine = Machine(
            .up(2, "eth0"), .up(3, "eth1", portOf: 9), .up(4, "br0", kind: "bridge", portOf: 9),
            .up(5, "eth2", portOf: 8),
            .up(8, "br1", kind: "bridge"), .up(9, "blue", kind: "vrf"), .up(10, "eth3", portOf: 99))
        for index in [2, 3, 4, 5, 8, 9, 10] as [InterfaceIndex] {
            machine.add(Machine.documentation, to: index, length: 24)
        }
        let found = survey.candidates(in: machine.table, besides: nil) { _ in nil }
        #expect(found.map(\.link.name) == ["eth0", "eth2", "br1", "eth3"])
    }

    private func path(_ status: ReachabilityStatus, _ reason: Reason?, neighbour: NeighbourState?) -> NetworkPath {
        var path = NetworkPath(status: status, reason: reason)
        (path.interface, path.interfaceIndex, path.linkClass) = ("eth0", 2, .wired)
        (path.gateway, path.neighbour, path.source, path.metric) = (Machine.gateway, neighbour, Machine.source, 100)
        return path
    }

    @Test func `the preferred route is that of the verdict, and a failed gateway only makes it unusable`() throws {
        let working = path(.reachable, nil, neighbour: .reachable)
        var route = try #require(DefaultRoute(preferred: working, .ipv4, addresses: []))
        #expect(route.isPreferred && route.isUsable && route.gateway == Machine.gateway && route.metric == 100)
        // Without an address of its own the link sends from another link's.
        #expect(route.sources == [Machine.source])
        let failed = path(.notReachable, .gatewayUnreachable, neighbour: .failed)
        route = try #require(DefaultRoute(preferred: failed, .ipv4, addresses: []))
        #expect(!route.isUsable)
        // Nothing is sent to another route's gateway, so nothing would find out that it answers again.
        route.isPreferred = false
        #expect(route.isUsable)
        #expect(DefaultRoute(preferred: path(.notReachable, .noCarrier, neighbour: nil), .ipv4, addresses: []) == nil)
        #expect(
            DefaultRoute(preferred: NetworkPath(status: .notReachable, reason: .noRoute), .ipv4, addresses: []) == nil)
    }
}
