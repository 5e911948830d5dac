import ReachCore
import ReachKernel
import Testing

@Suite struct NoticeParserRouteTests {
    private typealias Kernel = KernelMessage

    private static let gateway: [UInt8] = [192, 0, 2, 1]
    private static let gateway6: [UInt8] = [0xfe, 0x80] + Array(repeating: 0, count: 13) + [1]

    private func parse(_ bytes: [UInt8]) -> Route? {
        guard case .route(let route, _) = bytes.notices.first else { return nil }
        return route
    }

    private func prefix(_ text: String) throws -> IPPrefix { try #require(IPPrefix(text)) }

    private func address(_ bytes: [UInt8]) -> IPAddress? { IPAddress(bytes: bytes) }

    @Test func `every field of a route is parsed`() throws {
        let bytes = Kernel.route(
            family: 2, length: 24, table: 252, origin: 16,
            [
                Kernel.attribute(15, UInt32(1000)), Kernel.attribute(1, [203, 0, 113, 0] as [UInt8]),
                Kernel.attribute(6, UInt32(600)), Kernel.attribute(7, [192, 0, 2, 2] as [UInt8]),
                Kernel.attribute(5, Self.gateway), Kernel.attribute(4, Int32(70_000)),
            ])
        var expected = Route(destination: try prefix("203.0.113.0/24"), table: 1000)
        expected.metric = 600
        expected.origin = 16
        expected.source = IPAddress("192.0.2.2")
        expected.hops = [NextHop(interface: 70_000, gateway: address(Self.gateway))]
        #expect(bytes.notices == [.route(expected, replacesOther: false)])
    }

    @Test func `replacements and removals of routes are distinguished from additions`() {
        let attributes = [Kernel.attribute(4, Int32(2))]
        let route = parse(Kernel.route(family: 2, length: 0, attributes))
        #expect(route != nil)
        #expect(
            Kernel.route(family: 2, length: 0, headerFlags: 0x100, attributes).notices
                == route.map { [.route($0, replacesOther: true)] })
        #expect(
            Kernel.route(family: 2, length: 0, isRemoved: true, attributes).notices == route.map { [.routeRemoved($0)] }
        )
    }

    @Test func `a route without a destination is a default route, with a gateway or without`() throws {
        let ipv4 = parse(Kernel.route(family: 2, length: 0, table: 100, [Kernel.attribute(4, Int32(2))]))
        #expect(ipv4?.destination == (try prefix("0.0.0.0/0")))
        #expect(ipv4?.table == 100)
        #expect(ipv4?.hops == [NextHop(interface: 2)])
        let ipv6 = parse(
            Kernel.route(family: 10, length: 0, [Kernel.attribute(5, Self.gateway6), Kernel.attribute(4, Int32(2))]))
        #expect(ipv6?.destination == (try prefix("::/0")))
        #expect(ipv6?.hops == [NextHop(interface: 2, gateway: address(Self.gateway6))])
    }

    @Test func `a gateway of the other family is parsed`() {
        let via = Kernel.attribute(18, Kernel.number(UInt16(10)) + Self.gateway6)
        let route = parse(Kernel.route(family: 2, length: 0, [via, Kernel.attribute(4, Int32(2))]))
        #expect(route?.hops == [NextHop(interface: 2, gateway: address(Self.gateway6))])
        let broken = Kernel.attribute(18, [10] as [UInt8])
        #expect(
            parse(Kernel.route(family: 2, length: 0, [broken, Kernel.attribute(4, Int32(2))]))?.hops.first?.gateway
                == nil)
    }

    @Test func `a multipath route has all its next hops, with gateways, flags and weights`() {
        let hops =
            Kernel.nextHop(2, weight: 10, [Kernel.attribute(5, Self.gateway)])
            + Kernel.nextHop(3, flags: 0x11, weight: 255)
            + Kernel.nextHop(4, flags: 4, [Kernel.attribute(18, Kernel.number(UInt16(10)) + Self.gateway6)])
        let route = parse(Kernel.route(family: 2, length: 0, [Kernel.attribute(9, hops)]))
        #expect(
            route?.hops == [
                NextHop(interface: 2, gateway: address(Self.gateway), weight: 10),
                NextHop(interface: 3, flags: [.dead, .linkDown], weight: 255),
                NextHop(interface: 4, gateway: address(Self.gateway6), flags: .onLink),
            ])
    }

    @Test func `a single next hop has the flags of the route`() {
        let route = parse(Kernel.route(family: 2, length: 0, flags: 0x11, [Kernel.attribute(4, Int32(2))]))
        #expect(route?.hops == [NextHop(interface: 2, flags: [.dead, .linkDown])])
    }

    @Test func `a route by a nexthop object is parsed, with a next hop or without`() {
        let alone = parse(Kernel.route(family: 2, length: 0, [Kernel.attribute(30, UInt32(7))]))
        #expect(alone?.nexthopObject == 7)
        #expect(alone?.hops == [])
        let compatible = parse(
            Kernel.route(
                family: 2, length: 0,
                [Kernel.attribute(30, UInt32(7)), Kernel.attribute(5, Self.gateway), Kernel.attribute(4, Int32(2))]))
        #expect(compatible?.nexthopObject == 7)
        #expect(compatible?.hops.count == 1)
    }

    @Test func `an appended route is another route`() {
        let first = Kernel.route(family: 2, length: 0, [Kernel.attribute(4, Int32(2))])
        let appended = Kernel.route(family: 2, length: 0, headerFlags: 0xc00, [Kernel.attribute(4, Int32(3))])
        let notices = (first + appended).notices
        #expect(notices.count == 2)
        #expect(notices.allSatisfy { if case .route(_, replacesOther: false) = $0 { true } else { false } })
    }

    @Test(
        arguments: [
            (1, .unicast), (2, .local), (6, .blackhole), (7, .unreachable), (8, .prohibit), (9, .throw),
            (0, .unspecified),
        ] as [(UInt8, RouteType)])
    func `each type of route is parsed`(number: UInt8, type: RouteType) {
        #expect(parse(Kernel.route(family: 10, length: 0, type: number, []))?.type == type)
    }

    @Test func `a cached route is no notice`() {
        #expect(Kernel.route(family: 10, length: 0, flags: 0x200, [Kernel.attribute(4, Int32(2))]).notices == [])
    }

    @Test func `a route with another family, an unknown type or a wrong destination is ignored`() {
        let four: [UInt8] = [203, 0, 113, 0]
        let bad = [
            Kernel.route(family: 128, length: 0, []), Kernel.route(family: 28, length: 20, [Kernel.attribute(1, four)]),
            Kernel.route(family: 2, length: 0, type: 77, []),
            Kernel.route(family: 2, length: 33, [Kernel.attribute(1, four)]),
            Kernel.route(family: 10, length: 24, [Kernel.attribute(1, four)]),
            Kernel.route(family: 2, length: 24, [Kernel.attribute(1, four + [0])]),
            Kernel.message(24, fixed: [2, 0, 0, 0]),
        ]
        for message in bad { #expect(message.notices == []) }
    }
}
