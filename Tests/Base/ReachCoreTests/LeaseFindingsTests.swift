import ReachCore
import Testing

@Suite struct LeaseFindingsTests {
    private static func route(
        _ index: InterfaceIndex, _ name: String, _ linkClass: LinkClass?, _ family: IPAddress.Family = .ipv4,
        lower: [String] = []
    ) -> DefaultRoute {
        var traits = PathTraits()
        traits.linkClass = linkClass
        var route = DefaultRoute(key: .init(family: family, interface: index), name: name, traits: traits)
        route.lower = lower
        route.addresses = [
            InterfaceAddress(
                interface: index, address: address, prefixLength: 24, scope: 0, flags: [])
        ]
        return route
    }

    private static let address = IPAddress(ipv4: 0xc000_0202)

    private static let routes = [
        route(2, "eth0", .wired), route(3, "wlan0", .wifi), route(4, "bnep0", .bluetooth), route(5, "wwan0", .wwan),
        route(6, "wg0", .tunnel, lower: ["wlan0"]), route(7, "wg1", .tunnel, lower: ["wwan0"]), route(8, "x0", nil),
        route(2, "eth0", .wired, .ipv6), route(9, "eth9", .wired, .ipv6),
    ]

    private static func marked(_ findings: LeaseFindings) -> [String] {
        findings.markingUndecided(routes).filter(\.traits.mayBeMetered).map { "\($0.name) \($0.key.family)" }
    }

    @Test func `a link to a phone may be metered until its lease was read, with the tunnels above it`() {
        var findings = LeaseFindings()
        #expect(
            Self.marked(findings) == ["eth0 ipv4", "wlan0 ipv4", "bnep0 ipv4", "wg0 ipv4", "eth0 ipv6"])
        // A lease of an earlier address decides nothing.
        findings.note(3, [IPAddress(ipv4: 1)], isHotspot: true)
        findings.note(2, [Self.address, IPAddress(ipv4: 1)], isHotspot: false)
        #expect(Self.marked(findings) == ["wlan0 ipv4", "bnep0 ipv4", "wg0 ipv4"])
        findings.note(3, [Self.address], isHotspot: false)
        #expect(Self.marked(findings) == ["bnep0 ipv4"])
        findings.note(4, [Self.address], isHotspot: true)
        #expect(findings.markingUndecided(Self.routes) == Self.routes)
    }

    @Test func `a link is a hotspot as long as its last lease says so, and is forgotten with the link`() {
        var findings = LeaseFindings()
        for index in [2, 3, 4] as [InterfaceIndex] { findings.note(index, [Self.address], isHotspot: true) }
        findings.note(3, [Self.address], isHotspot: false)
        #expect(findings.hotspots == [2, 4])
        findings.keep([3, 4, 5])
        #expect(findings.hotspots == [4])
        #expect(findings.decided == [3: [Self.address], 4: [Self.address]])
    }
}
