import Glibc
import ReachCore
import ReachLoop
import ReachTransfer
import Testing

struct NameServerRouteTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var chosen: AddressRoute?
        var overBound: AddressRoute = .byDefault()
        var isMetered = false
        /// The interface's name; `nil` for routing, "error" where the server cannot be used.
        let expected: String?
    }

    private static func own(_ name: String, isMetered: Bool = false) -> AddressRoute {
        var host = HostRoute(to: "172.20.0.2", interface: 7, name: name)
        host.traits.isMetered = isMetered
        return .own(host)
    }

    @Test(arguments: [
        Row(testDescription: "routes are not known", expected: "up0"),
        Row(testDescription: "by the default routes", chosen: .byDefault(), expected: "up0"),
        Row(
            testDescription: "on this machine", chosen: .local(HostRoute(to: "10.0.0.1", interface: 1, name: "lo")),
            expected: nil),
        Row(testDescription: "in a container", chosen: own("docker0"), expected: "docker0"),
        Row(testDescription: "behind a tunnel", chosen: own("wg0"), expected: "wg0"),
        Row(
            testDescription: "on both links, each with a server of this address", chosen: own("lan0"),
            overBound: own("up0"), expected: "up0"),
        Row(testDescription: "on a metered link", chosen: own("wwan0", isMetered: true), expected: "up0"),
        Row(
            testDescription: "metered, for what is metered, too", chosen: own("wwan0", isMetered: true),
            isMetered: true,
            expected: "wwan0"),
        Row(testDescription: "forbidden", chosen: AddressRoute.none, expected: "error"),
    ])
    func `a name server is queried by its own route, and by no metered one for what is unmetered`(row: Row) {
        let route = NameServerRoute(
            to: .init("172.20.0.2"), boundTo: InterfaceBinding(name: "up0", index: 2), isMetered: row.isMetered
        ) { asked in
            #expect(asked == [nil, "up0"].map { RoutedAddress("172.20.0.2", zone: $0, flow: .udp(53)) })
            return row.chosen.map { [$0, row.overBound] }
        }
        do throws(SystemError) {
            #expect(try route.interface()?.name == row.expected)
        } catch {
            #expect(row.expected == "error" && error.number == ENETUNREACH)
        }
    }
}
