import ReachControl
import ReachCore
import Testing

@Suite struct EventStreamNoticeTests {
    private static let address: InterfaceAddress = {
        InterfaceAddress(
            interface: 2, address: IPAddress(ipv4: 0xc000_0202), prefixLength: 24, flags: [.deprecated, .tentative])
    }()
    private static let neighbour = Neighbour.Key(interface: 2, address: IPAddress(ipv4: 0xc000_0201))
    private static let bridge: Link = {
        var link = Link(index: 3, name: "br0")
        link.flags = [.up, .running, .lowerUp]
        link.operationalState = .up
        link.kind = "bridge"
        link.controller = 5
        return link
    }()
    private static let route: Route = {
        guard let anywhere = IPPrefix("0.0.0.0/0") else { preconditionFailure("0.0.0.0/0 is a prefix") }
        var route = Route(destination: anywhere, table: 100)
        route.metric = 600
        route.nexthopObject = 7
        route.hops = [NextHop(interface: 2, gateway: IPAddress(ipv4: 0xc000_0201)), NextHop(interface: 3)]
        return route
    }()
    private static let routeText = """
        "destination":"0.0.0.0/0","kind":"unicast","table":100,"metric":600,"nexthop_id":7,\
        "hops":[{"ifindex":2,"gateway":"192.0.2.1"},{"ifindex":3,"gateway":null}]
        """
    private static let rule = Rule(family: .ipv6, priority: 32_766)

    @Test(
        arguments: [
            (
                .link(bridge),
                """
                "link","new","ifindex":3,"interface":"br0","up":true,"running":true,"operstate":"up","kind":"bridge",\
                "controller":5
                """
            ),
            (
                .link(Link(index: 3, name: "x")),
                """
                "link","new","ifindex":3,"interface":"x","up":false,"running":false,"operstate":null,"kind":null,\
                "controller":null
                """
            ),
            (.linkRemoved(3), #""link","removed","ifindex":3"#),
            (
                .address(address),
                #""address","new","ifindex":2,"address":"192.0.2.2","prefix_length":24,"ready":false,"deprecated":true"#
            ),
            (
                .addressRemoved(address),
                #""address","removed","ifindex":2,"address":"192.0.2.2","prefix_length":24,"ready":false,"deprecated":true"#
            ),
            (
                .neighbour(Neighbour(key: neighbour, state: .failed)),
                #""neighbour","new","ifindex":2,"address":"192.0.2.1","state":"failed""#
            ),
            (
                .neighbourRemoved(neighbour),
                #""neighbour","removed","ifindex":2,"address":"192.0.2.1","state":null"#
            ),
            (.route(route, replacesOther: true), #""route","new","replaces":true,\#(routeText)"#),
            (.routeRemoved(route), #""route","removed",\#(routeText)"#),
            (.rule(rule), #""rule","new","family":"ipv6","priority":32766,"table":254"#),
            (.ruleRemoved(rule), #""rule","removed","family":"ipv6","priority":32766,"table":254"#),
            (.nexthop(id: 9), #""nexthop","new","id":9"#), (.nexthopRemoved(id: 9), #""nexthop","removed","id":9"#),
            (.setting(family: .ipv4, interface: nil), #""setting","new","family":"ipv4","ifindex":null"#),
            (.setting(family: .ipv6, interface: 2), #""setting","new","family":"ipv6","ifindex":2"#),
        ] as [(Notice, String)])
    func `each kind of notice has its line`(notice: Notice, text: String) {
        var stream = EventStream(source: .kernel)
        let moment = Instant(wall: Timestamp(nanosecondsSince1970: 0), boot: BootTime(nanoseconds: 5))
        // The table has only what differs between lines: "TYPE","ACTION",details.
        let parts = text.split(separator: ",", maxSplits: 2)
        #expect(
            String(decoding: stream.notice(notice, at: moment), as: UTF8.self) == """
                {"v":1,"type":\(parts[0]),"seq":1,"time":"1970-01-01T00:00:00.000000Z","boottime_ns":5,\
                "action":\(parts[1]),\(parts[2])}

                """)
    }

    @Test func `operational states have the words of ip and sysfs`() {
        #expect(
            (0...6).map { Link.OperationalState(rawValue: $0)?.word } == [
                "unknown", "notpresent", "down", "lowerlayerdown", "testing", "dormant", "up",
            ])
        #expect(Link.OperationalState(rawValue: 7) == nil)
    }
}
