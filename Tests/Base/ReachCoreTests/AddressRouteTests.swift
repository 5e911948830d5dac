import ReachCore
import Testing

/// Which routes lead to the Internet as a whole, and which to a part of it.
@Suite struct AddressRouteTests {
    @Test(arguments: [
        ("0.0.0.0/0", 254, true), ("0.0.0.0/1", 254, true), ("128.0.0.0/1", 254, true), ("192.0.2.0/24", 254, false),
        ("10.0.0.0/8", 254, false), ("203.0.113.9/32", 254, false), ("::/0", 254, true), ("2000::/3", 254, true),
        ("2001:db8::/32", 254, false), ("0.0.0.0/0", 100, false), ("192.0.2.0/24", 100, false),
    ])
    func `a default route in the table that leads to the Internet is one`(
        prefix: String, table: UInt32, isDefault: Bool
    ) throws {
        var path = NetworkPath(status: .reachable)
        path.table = 254
        let rule = DefaultRouteRule(internet: Verdict(ipv4: path, ipv6: path))
        let route = Route(destination: try #require(IPPrefix(prefix)), table: table)
        #expect(rule.isDefault(route) == isDefault)
    }

    @Test func `where another table leads to the Internet, its default route is the one`() throws {
        var path = NetworkPath(status: .reachable)
        path.table = 51820
        let rule = DefaultRouteRule(internet: Verdict(ipv4: path, ipv6: .notAsked))
        let everything = try #require(IPPrefix("0.0.0.0/0"))
        #expect(rule.isDefault(Route(destination: everything, table: 51820)))
        #expect(!rule.isDefault(Route(destination: everything)))
    }

    @Test func `only the lack of a route leaves an address to the default routes`() {
        #expect(RouteAnswer.refused(errno: LinuxError.networkUnreachable).isWithoutRoute)
        for number in [LinuxError.hostUnreachable, LinuxError.accessDenied, LinuxError.invalidArgument] {
            #expect(!RouteAnswer.refused(errno: number).isWithoutRoute)
        }
    }
}
