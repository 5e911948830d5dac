import ReachCore
import ReachTesting
import Testing

@Suite struct PathJudgeTests {
    private let machine = Machine()

    @Test(
        arguments: [
            (101, ReachabilityStatus.notReachable, Reason.noRoute), (113, .notReachable, .unreachable),
            (13, .notReachable, .prohibited), (22, .notReachable, .blackhole), (100, .notReachable, .linkDown),
            (19, .notReachable, .noInterface), (1, .unknown, .cannotObserve), (12, .unknown, .cannotObserve),
            (95, .unknown, .cannotObserve), (105, .unknown, .cannotObserve), (0, .unknown, .cannotObserve),
            (-101, .unknown, .cannotObserve),
        ] as [(Int32, ReachabilityStatus, Reason)])
    func `each refusal has its reason, and an unknown error means that nothing is known`(
        number: Int32, status: ReachabilityStatus, reason: Reason
    ) {
        let path = machine.judge.path(to: Machine.documentation, answer: .refused(errno: number))
        #expect(path == NetworkPath(status: status, reason: reason))
    }

    @Test(arguments: [
        (RouteType.blackhole, Reason.blackhole), (.unreachable, .unreachable), (.prohibit, .prohibited),
        (.throw, .noRoute),
    ])
    func `a refusing route is no path, with or without a hop`(type: RouteType, reason: Reason) {
        var route = Route.answer(on: 2, type: type)
        #expect(machine.path(route) == NetworkPath(status: .notReachable, reason: reason))
        route.hops = []
        #expect(machine.path(route) == NetworkPath(status: .notReachable, reason: reason))
    }

    @Test func `a good path has all details`() {
        var route = Route.answer(on: 2)
        route.table = 100
        route.metric = 600
        let path = machine.path(route)
        #expect(path.status == .reachable)
        #expect(path.reason == nil)
        #expect(path.interface == "eth0")
        #expect(path.interfaceIndex == 2)
        #expect(path.linkClass == .wired)
        #expect(path.gateway == Machine.gateway)
        #expect(path.source == Machine.source)
        #expect(path.table == 100)
        #expect(path.metric == 600)
        #expect(path.neighbour == nil)
        #expect(!path.isMetered)
        let answer = RouteAnswer.route(route)
        #expect(machine.judge.path(to: Machine.documentation, answer: answer, metric: 7).metric == 7)
    }

    @Test func `a route without a gateway, and one with a gateway of the other family, are paths`() {
        #expect(machine.path(.answer(on: 2, via: nil)).status == .reachable)
        let viaInet6 = machine.path(.answer(on: 2, via: Machine.routerLocal))
        #expect(viaInet6.status == .reachable)
        #expect(viaInet6.gateway == Machine.routerLocal)
    }

    @Test func `an answer without a next hop means that nothing is known`() {
        var route = Route.answer(on: 2)
        route.hops = []
        #expect(machine.path(route) == NetworkPath(status: .unknown, reason: .cannotObserve))
        route.hops = [NextHop(interface: nil, gateway: Machine.gateway)]
        #expect(machine.path(route) == NetworkPath(status: .unknown, reason: .cannotObserve))
    }

    @Test func `an interface that is gone carries nothing`() {
        let path = machine.path(.answer(on: 9))
        #expect(path.status == .notReachable)
        #expect(path.reason == .noInterface)
        #expect(path.interfaceIndex == 9)
        #expect(path.interface == nil)
    }

    @Test func `a next hop that is dead counts as a link without a carrier`() {
        #expect(machine.path(.answer(on: 2, flags: .dead)).reason == .noCarrier)
        #expect(machine.path(.answer(on: 2, flags: [.dead, .linkDown])).reason == .noCarrier)
        #expect(machine.path(.answer(on: 2, flags: .onLink)).status == .reachable)
        #expect(machine.path(.answer(on: 2, flags: .linkDown)).status == .reachable, "the link's own state decides")
    }

    @Test(arguments: [
        (Link.up(2, "eth0").withoutCarrier, Reason.noCarrier), (.up(2, "eth0").takenDown, .linkDown),
        (.up(2, "eth0").handshaking, .dormant),
    ])
    func `a good route over a broken link is no path and keeps its details`(link: Link, reason: Reason) {
        let path = Machine(link).path(.answer(on: 2))
        #expect(path.status == .notReachable)
        #expect(path.reason == reason)
        #expect(path.interface == "eth0")
        #expect(path.gateway == Machine.gateway)
    }

    @Test func `a link whose operational state is unknown works if it is running`() {
        let path = Machine(.up(2, "ppp0").with { $0.operationalState = .unknown }).path(.answer(on: 2, via: nil))
        #expect(path.status == .reachable)
    }

    @Test func `what a route sends to this machine arrives nowhere`() {
        let loopback = Route.answer(on: 1, via: nil, from: IPAddress(ipv4: 0x7f00_0001))
        #expect(machine.path(loopback).reason == .blackhole)
        #expect(machine.path(loopback, isInternet: false).reason == .blackhole)
    }

    @Test func `the machine's own addresses are reachable while the loopback link is up`() throws {
        let own = try #require(IPAddress("127.0.0.1"))
        let local = Route.answer(on: 1, via: nil, from: own, type: .local)
        #expect(machine.path(local, to: own, isInternet: false).linkClass == .loopback)
        #expect(machine.path(local, to: own, isInternet: false).status == .reachable)
        let down = Machine(.up(1, "lo").with { $0.flags = .loopback })
        #expect(down.path(local, to: own, isInternet: false).reason == .linkDown)
    }

    @Test func `an interface with an address needs no route`() {
        let path = machine.judge.path(ofInterface: 2, family: .ipv4)
        #expect(path.status == .reachable)
        #expect(path.source == Machine.source)
        #expect(machine.judge.path(ofInterface: 3, family: .ipv4).reason == .noAddress)
        #expect(machine.judge.path(ofInterface: 9, family: .ipv4).reason == .noInterface)
    }
}
