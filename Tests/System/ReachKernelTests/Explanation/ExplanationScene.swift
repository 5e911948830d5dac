import ReachCore
@testable import ReachKernel
import ReachTesting

/// A machine at one moment, and the kernel's answers: the facts for an explanation.
///
/// By default the machine has a cable, 192.0.2.2/24 and 2001:db8::2/64 on eth0, and nothing else.
struct ExplanationScene: Sendable {
    var target = Target.internet
    var links: [Link] = [.up(1, "lo").with { $0.flags.insert(.loopback) }, .up(2, "eth0")]
    var underlay: [InterfaceIndex: InterfaceIndex] = [:]
    var addresses: [InterfaceAddress] = [
        RouteFixtures.address("192.0.2.2", on: 2), RouteFixtures.address("2001:db8::2", on: 2),
    ]
    var neighbours: [IPAddress: NeighbourState] = [:]
    var rules: [Rule] = [
        RouteFixtures.rule(0, table: 255), RouteFixtures.rule(32766, table: 254), RouteFixtures.rule(32767, table: 253),
    ]
    var mark: UInt32?
    var user: UInt32?
    var resolution: NameAnswer?
    var answers: [(destination: IPAddress, answer: RouteAnswer)] = []
    var matched: Route?
    var refusing: [Route] = []
    var hindrance: Rule.Hindrance?
    var tunnelSilence: TunnelSilence?
    var proved: ConnectivityReport?
    var checks: [IPAddress.Family: ConnectivityCheck] = [:]
    var now = BootTime(nanoseconds: 0)

    func with(_ change: (inout ExplanationScene) throws -> Void) rethrows -> ExplanationScene {
        var scene = self
        try change(&scene)
        return scene
    }

    /// The kernel refuses to route to the first anchor.
    static func refused(_ number: Int32, _ change: (inout ExplanationScene) -> Void = { _ in }) -> ExplanationScene {
        ExplanationScene().with {
            $0.answers = [(RouteFixtures.anchor, .refused(errno: number))]
            change(&$0)
        }
    }

    /// The kernel sends to the first anchor by this interface and gateway.
    static func route(
        by interface: InterfaceIndex = 2, via gateway: IPAddress? = RouteFixtures.gateway,
        from source: String? = "192.0.2.2",
        table: UInt32 = 254, to destination: IPAddress = RouteFixtures.anchor,
        _ change: (inout ExplanationScene) -> Void = { _ in }
    ) -> ExplanationScene {
        ExplanationScene().with {
            var route = RouteFixtures.defaultRoute(destination.family, table: table)
            route.hops = [NextHop(interface: interface, gateway: gateway)]
            $0.matched = route
            route.source = source.flatMap { IPAddress($0) }
            $0.answers = [(destination, .route(route))]
            change(&$0)
        }
    }

    var explanation: Explanation {
        var table = NetworkTable()
        for link in links { _ = table.apply(.link(link)) }
        for address in addresses { _ = table.apply(.address(address)) }
        for link in links {
            for (address, state) in neighbours {
                table.setNeighbour(Neighbour.Key(interface: link.index, address: address), to: state)
            }
        }
        let stack = LinkStack(of: links, underlay: underlay)
        let judge = PathJudge(table: table, stack: stack)
        var paths: [IPAddress.Family: NetworkPath] = [:]
        var findings: [PathFinding] = []
        for (destination, answer) in answers {
            let path = judge.path(to: destination, answer: answer, isInternet: target == .internet)
            let isFirst = paths[destination.family] == nil
            if isFirst { paths[destination.family] = path }
            findings.append(PathFinding(destination: destination, answer: answer, path: path, isDecisive: isFirst))
        }
        var verdict = Verdict(
            ipv4: paths[.ipv4] ?? NetworkPath(status: .unknown, reason: .notAsked),
            ipv6: paths[.ipv6] ?? NetworkPath(status: .unknown, reason: .notAsked))
        if answers.isEmpty, resolution != nil { verdict = Verdict(.notReachable, reason: .nameNotResolved) }
        if case .interface(let name) = target.subject, let index = table.link(named: name)?.index {
            verdict = Verdict(
                ipv4: judge.path(ofInterface: index, family: .ipv4), ipv6: judge.path(ofInterface: index, family: .ipv6)
            )
        }
        var facts = ExplanationFacts(target: target, verdict: verdict, table: table)
        facts.resolution = resolution
        facts.findings = findings
        facts.anchors = answers.map(\.destination)
        facts.rules = rules
        facts.tableNames = [100: "office", 253: "default", 254: "main", 255: "local"]
        facts.originNames = [3: "boot", 16: "dhcp"]
        facts.mark = mark
        facts.user = user
        facts.proved = proved
        facts.checks = checks
        facts.now = now
        for family in IPAddress.Family.allCases {
            facts.lookups[family] = ExplanationFacts.Lookup(stack: stack, matched: matched, refusing: refusing)
            facts.lookups[family]?.hindrance = hindrance
            facts.lookups[family]?.tunnelSilence = tunnelSilence
        }
        return ExplanationBuilder(facts).explanation
    }
}
