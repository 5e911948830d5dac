import ReachCore
import ReachTesting
import Testing

/// The explanation of a network: each row is a machine, and a sentence that one of its steps must contain.
struct ExplanationRow: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let scene: ExplanationScene
    let subject: Explanation.Step.Subject
    let finding: Explanation.Step.Finding
    let text: String

    init(
        _ name: String, _ scene: ExplanationScene, _ subject: Explanation.Step.Subject,
        _ finding: Explanation.Step.Finding, _ text: String
    ) {
        testDescription = name
        self.scene = scene
        self.subject = subject
        self.finding = finding
        self.text = text
    }
}

extension ExplanationRow {
    private typealias Scene = ExplanationScene

    static let all = rulesAndRoutes + links + sources + neighbours

    static let rulesAndRoutes: [ExplanationRow] = [
        ExplanationRow(
            "a good route", .route(), .route, .good,
            "The route `default via 192.0.2.1 dev eth0` in table main matches 198.41.0.4."),
        ExplanationRow(
            "the standard rule", .route(), .rule, .neutral,
            "Rule 32766 (from all lookup main) sends this to table main."),
        ExplanationRow(
            "no route", .refused(LinuxError.networkUnreachable), .route, .bad,
            "no route to 198.41.0.4 (ENETUNREACH): none of the tables local, main and default has a usable one. A "
                + "default route would fix it: `ip route add default via GATEWAY`"),
        ExplanationRow(
            "no route, and no link is up",
            .refused(LinuxError.networkUnreachable) { $0.links[1] = $0.links[1].takenDown }, .link, .bad,
            "eth0 (wired) is down: it was taken down, or never brought up. `ip link set eth0 up`"),
        ExplanationRow(
            "no route, and no link at all",
            .refused(LinuxError.networkUnreachable) { $0.links.removeLast() }, .link, .bad,
            "There is no link but the loopback device."),
        ExplanationRow(
            "a throw route",
            .refused(LinuxError.networkUnreachable) {
                $0.hindrance = .thrown(RouteFixtures.defaultRoute(.ipv4, .throw))
            },
            .route,
            .bad,
            "`throw default` in table main ends the search for 198.41.0.4 in its table. If that is not intended, "
                + "`ip route del throw default`"),
        ExplanationRow(
            "a rule that ignores the default route",
            .refused(LinuxError.networkUnreachable) {
                $0.hindrance = .ignored(
                    RouteFixtures.defaultRoute(.ipv4, .unicast),
                    by: RouteFixtures.rule(100) { $0.suppressedPrefixLength = 0 })
            }, .rule, .bad,
            "ignores the route `default` of table main, and no other rule leads there. If that is not intended, "
                + "`ip rule add lookup main`"),
        ExplanationRow(
            "a blackhole route",
            .refused(LinuxError.invalidArgument) { $0.refusing = [RouteFixtures.defaultRoute(.ipv4, .blackhole)] },
            .route,
            .bad,
            "`blackhole default` in table main drops packets for 198.41.0.4 silently. If that is not intended, "
                + "`ip route del blackhole default`"),
        ExplanationRow(
            "an unreachable route behind a mark: a kill switch", killSwitch, .route, .bad,
            "`unreachable default` in table 51820 rejects 198.41.0.4"),
        ExplanationRow(
            "a rule before main", killSwitch, .rule, .neutral,
            "Rule 32765 (not from all fwmark 0xca6c lookup 51820) sends this to table 51820, before table main "
                + "is used."
        ),
        ExplanationRow(
            "a rule that ignores default routes", killSwitch, .rule, .neutral,
            "Rule 32764 (from all lookup main suppress_prefixlength 0) does not decide"),
        ExplanationRow(
            "a marked packet avoids it",
            .route { scene in
                scene.rules = killSwitch.rules
                scene.mark = 0xca6c
            }, .rule, .neutral, "Rule 32766 (from all lookup main) sends this to table main."),
        ExplanationRow(
            "an unreachable rule",
            .refused(LinuxError.networkUnreachable) { $0.rules.insert(RouteFixtures.rule(90, .unreachable), at: 1) },
            .rule,
            .bad,
            "Rule 90 (from all unreachable) refuses this: no routing table after it is used. If that is not intended, "
                + "`ip rule del priority 90`"),
        ExplanationRow(
            "a rule for some users, who ask",
            .refused(LinuxError.networkUnreachable) { scene in
                scene.rules.insert(RouteFixtures.rule(90, .unreachable) { $0.users = 1_000...1_999 }, at: 1)
                scene.user = 1_001
            }, .rule, .bad, "Rule 90 (from all uidrange 1000-1999 unreachable) refuses this"),
        ExplanationRow(
            "a rule for a port, which a lookup does not have",
            .refused(LinuxError.accessDenied) {
                $0.rules.insert(RouteFixtures.rule(90, .prohibit) { $0.hasOtherSelectors = true }, at: 1)
            }, .rule, .bad, "Rule 90 (from all prohibit) may be what refuses this"),
        ExplanationRow(
            "a prohibit rule for some destinations",
            .refused(LinuxError.accessDenied) {
                $0.rules.insert(RouteFixtures.rule(90, .prohibit) { $0.to = IPPrefix("198.41.0.0/16") }, at: 1)
            }, .rule, .bad, "Rule 90 (from all to 198.41.0.0/16 prohibit) refuses this"),
        ExplanationRow(
            "a rule for others is not blamed",
            .refused(LinuxError.accessDenied) {
                $0.rules.insert(RouteFixtures.rule(90, .prohibit) { $0.to = IPPrefix("203.0.113.0/24") }, at: 1)
            }, .route, .bad, "The kernel refuses to route to 198.41.0.4 (EACCES)."),
        ExplanationRow(
            "a rule that matches on ports is uncertain",
            .route(table: 7) {
                $0.rules.insert(RouteFixtures.rule(90, table: 7) { $0.hasOtherSelectors = true }, at: 1)
            },
            .rule,
            .neutral, "This route may come from rule 90 (from all lookup 7)."),
        ExplanationRow(
            "a rule from a source does not concern packets whose source is still chosen",
            .route {
                $0.rules.insert(RouteFixtures.rule(90, table: 254) { $0.from = IPPrefix("192.0.2.0/24") }, at: 1)
            }, .rule,
            .neutral, "Rule 32766 (from all lookup main) sends this to table main."),
        ExplanationRow(
            "a rule from every source does",
            .route { $0.rules.insert(RouteFixtures.rule(90, table: 254) { $0.from = IPPrefix("0.0.0.0/0") }, at: 1) },
            .rule,
            .neutral, "Rule 90 ("),
        ExplanationRow(
            "goto skips rules",
            .route { scene in
                scene.rules.insert(RouteFixtures.rule(90, .goto) { $0.gotoPriority = 32766 }, at: 1)
                scene.rules.insert(RouteFixtures.rule(100, table: 254), at: 2)
            }, .rule, .neutral, "Rule 32766 (from all lookup main) sends this to table main."),
        ExplanationRow(
            "a default route to the machine itself", .route(by: 1, via: nil), .route, .bad, "leads back to this machine"
        ),
        ExplanationRow(
            "IPv4 over an IPv6 gateway", .route(via: IPAddress("fe80::1")), .route, .good,
            "`default via inet6 fe80::1 dev eth0`"),
        ExplanationRow(
            "a multipath route's dead hop", multipath, .route, .bad,
            "Its next hop `via 198.51.100.1 dev wlan0` is broken: the link has no carrier."),
        ExplanationRow(
            "a multipath route's chosen hop", multipath, .route, .good,
            "Its next hop `via 192.0.2.1 dev eth0`, chosen for this address, has weight 1 of 2."),
        ExplanationRow(
            "some anchors",
            .refused(LinuxError.networkUnreachable) {
                $0.answers += ExplanationScene.route(to: IPAddress(ipv4: 9)).answers
            },
            .target, .good,
            "Of the 2 addresses that stand for the Internet, 1 must have a path: 0.0.0.9 does, 198.41.0.4 does "
                + "not."),
    ]

    private static let killSwitch = Scene.refused(LinuxError.hostUnreachable) { scene in
        scene.rules.insert(RouteFixtures.rule(32764, table: 254) { $0.suppressedPrefixLength = 0 }, at: 1)
        scene.rules.insert(
            RouteFixtures.rule(32765, table: 51820) {
                $0.mark = 0xca6c
                $0.isInverted = true
            }, at: 2)
        scene.refusing = [RouteFixtures.defaultRoute(.ipv4, .unreachable, table: 51820)]
    }

    private static let multipath = Scene.route { scene in
        scene.links.append(.up(3, "wlan0").withoutCarrier)
        scene.matched?.hops.append(NextHop(interface: 3, gateway: IPAddress("198.51.100.1")))
    }
}
