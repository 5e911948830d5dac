import ReachCore
import ReachTesting
import Testing

/// The description of one link.
@Suite struct LinkReportTests {
    private static func address(_ text: String, _ flags: InterfaceAddress.Flags = []) -> InterfaceAddress {
        RouteFixtures.address(text, on: 2, flags)
    }

    private static func report(
        _ link: Link, _ linkClass: LinkClass, controller: String? = nil, addresses: [InterfaceAddress] = [],
        carries: Set<IPAddress.Family> = []
    ) -> LinkReport {
        LinkReport(
            link, linkClass: linkClass, controller: controller, lower: [], trouble: nil, brokenLower: nil,
            isMetered: false, addresses: addresses, carriesInternet: carries)
    }

    @Test(
        arguments: [
            (report(.up(2, "veth1", kind: "veth"), .virtual, controller: "docker0"), true),
            (report(.up(2, "veth1", kind: "veth"), .virtual), false),
            (report(.up(2, "eth0"), .wired, controller: "br0"), false),
            (report(.up(2, "veth1"), .virtual, controller: "br0", carries: [.ipv4]), false),
            (report(Link.up(2, "gre0").takenDown, .tunnel), true), (report(Link.up(2, "d0").takenDown, .virtual), true),
            (report(Link.up(2, "x0").takenDown, .other), true), (report(Link.up(2, "eth0").takenDown, .wired), false),
            (report(Link.up(2, "lo").takenDown, .loopback), false), (report(.up(2, "gre0"), .tunnel), false),
            (report(Link.up(2, "gre0").takenDown, .tunnel, addresses: [address("192.0.2.2")]), false),
            (report(Link.up(2, "gre0").takenDown, .tunnel, carries: [.ipv6]), false),
        ] as [(LinkReport, Bool)])
    func `links that programs made, and that say nothing of the machine's connection, are in the background`(
        report: LinkReport, isBackground: Bool
    ) { #expect(report.isBackground == isBackground) }

    @Test func `what a link carries is what the daemon says of the Internet`() {
        var report = Self.report(.up(2, "eth0"), .wired, carries: [.ipv4])
        var internet = ReachabilityState(target: .internet, since: .at(0))
        var path = NetworkPath(status: .reachable)
        (path.interface, path.interfaceIndex) = ("eth0", 2)
        internet.adopt(Verdict(ipv4: path, ipv6: .notAsked))
        let proofs = ["eth0": LinkReport.Proof(.full, roundTrip: .milliseconds(3))]
        report.adopt(internet, proofs: proofs)
        #expect(report.carriesInternet == [.ipv4] && report.proof?.connectivity == .full)
        // The gateway does not answer, and is just asked again.
        (path.status, path.reason) = (.notReachable, .gatewayUnreachable)
        internet.adopt(Verdict(ipv4: path, ipv6: .notAsked))
        report.adopt(internet, proofs: [:])
        #expect(report.carriesInternet.isEmpty && report.proof == nil)
        report.adopt(nil, proofs: proofs)
        #expect(report.carriesInternet.isEmpty, "of nothing known nothing follows")
    }

    private static func table(_ links: [Link], _ addresses: [InterfaceAddress] = []) -> NetworkTable {
        var table = NetworkTable()
        for link in links { _ = table.apply(.link(link)) }
        for address in addresses { _ = table.apply(.address(address)) }
        return table
    }

    @Test func `a link is described with what carries it, what it carries and why it is broken`() {
        let links = [
            Link.up(1, "eth0").withoutCarrier, .up(2, "eth0.5", kind: "vlan", on: 1, portOf: 3),
            .up(3, "br0", kind: "bridge"),
        ]
        var path = NetworkPath(status: .reachable)
        path.interfaceIndex = 2
        var other = path
        other.interfaceIndex = 3
        let stack = LinkStack(of: links)
        let report = LinkReport(
            links[1], in: Self.table(links), stack: stack, internet: Verdict(ipv4: other, ipv6: path))
        #expect(report.linkClass == .wired && report.controller == "br0" && report.lower == ["eth0"])
        #expect(report.trouble == .noCarrier && report.brokenLower == "eth0" && report.carriesInternet == [.ipv6])
        let lower = LinkReport(
            links[0], in: Self.table(links), stack: stack, internet: Verdict(ipv4: path, ipv6: path))
        #expect(lower.brokenLower == nil && lower.controller == nil && lower.carriesInternet == [])
        path.status = .notReachable
        let lost = LinkReport(
            links[1], in: Self.table(links), stack: stack, internet: Verdict(ipv4: path, ipv6: path))
        #expect(lost.carriesInternet == [])
    }

    @Test func `a bridge without a port, and a link that is down, are broken by no link below`() {
        let bridge = Link.up(2, "br0", kind: "bridge")
        let down = Link.up(3, "eth0.5", kind: "vlan", on: 1).takenDown
        let links = [Link.up(1, "eth0").withoutCarrier, bridge, down]
        let reports = [bridge, down].map {
            LinkReport($0, in: Self.table(links), stack: LinkStack(of: links), internet: .lost)
        }
        #expect(reports.map(\.brokenLower) == [nil, nil])
        #expect(reports.map(\.trouble) == [.noCarrier, .linkDown])
    }

    @Test func `usable addresses come first, and IPv4 before IPv6`() {
        let addresses = [
            Self.address("2001:db8::5", .tentative), Self.address("2001:db8::3", .deprecated),
            Self.address("2001:db8::2"), Self.address("192.0.2.3"), Self.address("192.0.2.2"),
        ]
        let link = Link.up(2, "eth0")
        let report = LinkReport(
            link, in: Self.table([link], addresses), stack: LinkStack(link), internet: .lost)
        #expect(
            report.addresses.map(\.address.description) == [
                "192.0.2.3", "192.0.2.2", "2001:db8::2", "2001:db8::5", "2001:db8::3",
            ])
    }

    @Test func `a metered link is said to be so, with the reason, and in which network it is`() {
        var rule = NetworkRule(name: "phone")
        rule.ssids = [SSID("phone")].compactMap(\.self)
        (rule.isTrusted, rule.isMetered) = (true, true)
        var identity = NetworkIdentity()
        identity.wireless = WirelessNetwork(ssid: SSID("phone"), bssid: nil)
        let link = Link.up(1, "wlan0")
        let stack = LinkStack(
            link, policy: LinkPolicy(networks: NetworkPolicy(rules: [rule], key: nil)), networks: [1: identity])
        let report = LinkReport(link, in: Self.table([link]), stack: stack, internet: .lost)
        #expect(report.isMetered && report.meteredReason == .configuration)
        #expect(report.network == "phone" && report.isTrusted)
    }
}
