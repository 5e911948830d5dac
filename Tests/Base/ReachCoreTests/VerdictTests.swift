import ReachCore
import ReachTesting
import Testing

@Suite struct VerdictTests {
    private static func up(_ interface: String, _ linkClass: LinkClass, isMetered: Bool = false) -> NetworkPath {
        var path = NetworkPath(status: .reachable)
        path.interface = interface
        path.linkClass = linkClass
        path.isMetered = isMetered
        return path
    }

    private static func down(_ reason: Reason) -> NetworkPath { NetworkPath(status: .notReachable, reason: reason) }

    private static let cable = up("eth0", .wired)
    private static let modem = up("wwan0", .wwan, isMetered: true)
    private static let blind = NetworkPath(status: .unknown, reason: .cannotObserve)

    struct Row: Sendable {
        let ipv4: NetworkPath
        let ipv6: NetworkPath
        let status: ReachabilityStatus
        var reason: Reason?
        var interface: String?
    }

    @Test(arguments: [
        Row(ipv4: cable, ipv6: down(.noRoute), status: .reachable, interface: "eth0"),
        Row(ipv4: down(.noRoute), ipv6: cable, status: .reachable, interface: "eth0"),
        Row(ipv4: cable, ipv6: modem, status: .reachable, interface: "eth0"),
        Row(ipv4: modem, ipv6: cable, status: .reachable, interface: "wwan0"),
        Row(ipv4: cable, ipv6: .notAsked, status: .reachable, interface: "eth0"),
        Row(ipv4: .notAsked, ipv6: cable, status: .reachable, interface: "eth0"),
        Row(ipv4: blind, ipv6: cable, status: .reachable, interface: "eth0"),
        Row(ipv4: down(.noRoute), ipv6: down(.noRoute), status: .notReachable, reason: .noRoute),
        Row(ipv4: down(.noRoute), ipv6: .notAsked, status: .notReachable, reason: .noRoute),
        Row(ipv4: .notAsked, ipv6: down(.blackhole), status: .notReachable, reason: .blackhole),
        Row(ipv4: down(.noRoute), ipv6: blind, status: .unknown, reason: .cannotObserve),
        Row(ipv4: blind, ipv6: blind, status: .unknown, reason: .cannotObserve),
        Row(ipv4: .notAsked, ipv6: .notAsked, status: .unknown),
        Row(ipv4: .unknown, ipv6: .unknown, status: .unknown),
        Row(ipv4: down(.noRoute), ipv6: .unknown, status: .unknown),
    ])
    func `one working family is enough, and not reachable requires that both are known`(row: Row) {
        let verdict = Verdict(ipv4: row.ipv4, ipv6: row.ipv6)
        #expect(verdict.status == row.status)
        #expect(verdict.reason == row.reason)
        #expect(verdict.interface == row.interface)
        #expect(verdict.ipv4 == row.ipv4)
        #expect(verdict.ipv6 == row.ipv6)
    }

    @Test func `the class is that of the link of one path, never a mixture`() {
        #expect(Verdict(ipv4: Self.cable, ipv6: Self.modem).linkClass == .wired)
        #expect(Verdict(ipv4: Self.modem, ipv6: Self.cable).linkClass == .wwan)
        #expect(Verdict(ipv4: Self.down(.noRoute), ipv6: Self.modem).linkClass == .wwan)
        #expect(Verdict(ipv4: Self.down(.noRoute), ipv6: Self.down(.noRoute)).linkClass == nil)
    }

    @Test func `the verdict is metered if a working family is`() {
        var deadModem = Self.modem
        deadModem.status = .notReachable
        #expect(Verdict(ipv4: Self.cable, ipv6: Self.modem).isMetered)
        #expect(!Verdict(ipv4: Self.cable, ipv6: deadModem).isMetered)
        #expect(!Verdict(ipv4: Self.down(.noRoute), ipv6: deadModem).isMetered)
    }

    @Test func `of two failures the one closer to the target is the reason, in either family`() {
        let order: [[Reason]] = [
            [.gatewayUnreachable, .neighbourUnreachable], [.noCarrier, .dormant], [.linkDown], [.noAddress],
            [.prohibited],
            [.unreachable], [.blackhole], [.noRoute], [.noInterface, .nameNotResolved, .cannotObserve],
        ]
        for (index, better) in order.enumerated() {
            for worse in order.dropFirst(index + 1).joined() {
                for reason in better {
                    #expect(Verdict(ipv4: Self.down(reason), ipv6: Self.down(worse)).reason == reason)
                    #expect(Verdict(ipv4: Self.down(worse), ipv6: Self.down(reason)).reason == reason)
                }
            }
        }
    }

    @Test func `one reason can apply to both families`() {
        let verdict = Verdict(.unknown, reason: .nameNotResolved)
        #expect(verdict.status == .unknown)
        #expect(verdict.reason == .nameNotResolved)
        #expect(verdict.ipv4 == NetworkPath(status: .unknown, reason: .nameNotResolved))
        #expect(verdict.ipv4 == verdict.ipv6)
    }

    @Test func `the raw values are AFNetworking's`() {
        #expect(NetworkReachabilityStatus.allCases.map(\.rawValue) == [-1, 0, 1, 2])
        for linkClass in LinkClass.allCases {
            let expected: NetworkReachabilityStatus = linkClass == .wwan ? .reachableViaWWAN : .reachableViaWiFi
            #expect(NetworkReachabilityStatus(.reachable, linkClass: linkClass) == expected)
            #expect(NetworkReachabilityStatus(.unknown, linkClass: linkClass) == .unknown)
            #expect(NetworkReachabilityStatus(.notReachable, linkClass: linkClass) == .notReachable)
        }
        #expect(NetworkReachabilityStatus(.reachable, linkClass: nil) == .reachableViaWiFi)
    }
}
