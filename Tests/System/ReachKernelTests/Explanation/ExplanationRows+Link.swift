@testable import ReachCore
import ReachTesting

extension ExplanationRow {
    private typealias Scene = ExplanationScene

    // MARK: - Links

    static let links: [ExplanationRow] = [
        ExplanationRow("a good link", .route(), .link, .good, "eth0 (wired) is up and has a carrier."),
        ExplanationRow(
            "no cable", .route { $0.links[1] = $0.links[1].withoutCarrier }, .link, .bad,
            "eth0 (wired) has no carrier: the cable or the other end is down. Packets sent now are lost, though the "
                + "route stays (unless net.ipv4.conf.*.ignore_routes_with_linkdown is set)."),
        ExplanationRow(
            "no access point", .route { $0.links[1] = .up(2, "wlan0").withoutCarrier }, .link, .bad,
            "wlan0 (wifi) has no carrier: it is connected to no access point"),
        ExplanationRow(
            "a handshake", .route { $0.links[1] = .up(2, "wlan0").handshaking }, .link, .bad,
            "dormant: it waits for the access point to let it in"),
        ExplanationRow(
            "a VLAN over a dead link",
            .route(by: 3) {
                $0.links[1] = $0.links[1].withoutCarrier
                $0.links.append(.up(3, "eth0.10", kind: "vlan", on: 2).withoutCarrier)
            }, .lower, .bad, "What carries eth0.10: eth0 (wired) has no carrier: the cable or the other end is down."),
        ExplanationRow(
            "a VLAN over a link that was taken down",
            .route(by: 3) {
                $0.links[1] = $0.links[1].takenDown
                $0.links.append(.up(3, "eth0.10", kind: "vlan", on: 2).withoutCarrier)
            }, .lower, .bad, "eth0 (wired) is down"),
        ExplanationRow(
            "a bridge without a port", .route(by: 3) { $0.links.append(.up(3, "br0", kind: "bridge")) }, .lower, .bad,
            "br0 has no port, so there is nothing that carries it."),
        ExplanationRow(
            "a bridge over a cable",
            .route(by: 3) {
                $0.links[1] = .up(2, "eth0", portOf: 3)
                $0.links.append(.up(3, "br0", kind: "bridge"))
            }, .lower, .good, "What carries br0: eth0 (wired) is up and has a carrier."),
        ExplanationRow(
            "a tunnel with a far end",
            .route(by: 3, via: nil) {
                $0.links.append(.up(3, "gre1", kind: "gre").with { $0.remote = IPAddress("192.0.2.9") })
                $0.underlay = [3: 2]
            }, .lower, .good, "What carries the packets of gre1 to its far end, 192.0.2.9: eth0 (wired) is up"),
        ExplanationRow(
            "a tunnel whose far end was never heard",
            .route(by: 3, via: nil) {
                $0.links.append(.up(3, "wg0", kind: "wireguard"))
                $0.tunnelSilence = TunnelSilence(farEnds: [RouteFixtures.gateway], since: nil)
            }, .lower, .bad, "wg0 is WireGuard, and there was never a handshake with 192.0.2.1: nothing passes."),
        ExplanationRow(
            "a tunnel whose far end was heard long ago",
            .route(by: 3, via: nil) {
                $0.links.append(.up(3, "wg0", kind: "wireguard"))
                $0.tunnelSilence = TunnelSilence(farEnds: [RouteFixtures.gateway], since: .seconds(7500))
            }, .lower, .neutral, "wg0 is WireGuard, and the last handshake with 192.0.2.1 was 2 h 5 min ago: if packets"
        ),
        ExplanationRow(
            "a tunnel with an unknown far end",
            .route(by: 3, via: nil) { $0.links.append(.up(3, "wg0", kind: "wireguard")) }, .lower, .neutral,
            "wg0 is a tunnel, and the kernel does not report what carries it."),
        ExplanationRow(
            "a name that would rewrite the screen",
            .route { $0.links[1] = .up(2, "eth\u{1b}[2J").withoutCarrier }, .link, .bad, "eth\\u{1b}[2J"),
    ]

    // MARK: - Addresses

    private static let overIPv6 = Scene.route(
        via: IPAddress("fe80::1"), from: "::1", to: IPAddress(ipv6: 0x2001_0503_ba3e_0000, 0x30))

    static let sources: [ExplanationRow] = [
        ExplanationRow("a good source", .route(), .source, .good, "It is sent from 192.0.2.2, an address of eth0."),
        ExplanationRow(
            "no address", .route(from: nil) { $0.addresses = [] }, .source, .bad,
            "eth0 has no IPv4 address. `ip address add ADDRESS/LENGTH dev eth0`, or DHCP, would give it one."),
        ExplanationRow(
            "tentative only",
            overIPv6.with { $0.addresses = [RouteFixtures.address("2001:db8::2", on: 2, .tentative)] },
            .source,
            .bad, "2001:db8::2 on eth0 is still tentative"),
        ExplanationRow(
            "the source that the kernel uses then",
            overIPv6.with { $0.addresses = [RouteFixtures.address("2001:db8::2", on: 2, .tentative)] },
            .source, .bad, "The kernel would send from ::1, and nothing leaves the machine."),
        ExplanationRow(
            "deprecated only",
            .route(via: IPAddress("fe80::1"), from: "2001:db8::2", to: IPAddress(ipv6: 0x2001_0503_ba3e_0000, 0x30)) {
                $0.addresses = [RouteFixtures.address("2001:db8::2", on: 2, .deprecated)]
            }, .source, .neutral,
            "It is sent from 2001:db8::2, an address of eth0, which is deprecated: its preferred lifetime is over."),
        ExplanationRow(
            "a duplicate",
            overIPv6.with { $0.addresses = [RouteFixtures.address("2001:db8::2", on: 2, [.duplicate, .tentative])] },
            .source, .bad, "in use by another host on the link"),
        ExplanationRow(
            "link-local only",
            .route(via: IPAddress("fe80::1"), from: "fe80::2", to: IPAddress(ipv6: 0x2001_0503_ba3e_0000, 0x30)) {
                $0.addresses = [RouteFixtures.address("fe80::2", on: 2)]
            }, .source, .bad, "eth0 has only fe80::2, which is good for the link and no further."),
    ]

    // MARK: - The first hop

    static let neighbours: [ExplanationRow] = [
        ExplanationRow(
            "a gateway that answers", .route { $0.neighbours = [RouteFixtures.gateway: .reachable] }, .neighbour, .good,
            "The gateway 192.0.2.1 answered ARP a short while ago."),
        ExplanationRow(
            "stale does not count", .route { $0.neighbours = [RouteFixtures.gateway: .stale] }, .neighbour, .neutral,
            "(stale). That does not count against it"),
        ExplanationRow(
            "no query", .route { $0.neighbours = [RouteFixtures.gateway: .none] }, .neighbour, .neutral,
            "has not asked for 192.0.2.1 by ARP"),
        ExplanationRow(
            "a query without an answer", .route { $0.neighbours = [RouteFixtures.gateway: .incomplete] }, .neighbour,
            .neutral,
            "has not answered yet"),
        ExplanationRow(
            "a dead gateway", .route { $0.neighbours = [RouteFixtures.gateway: .failed] }, .neighbour, .bad,
            "The gateway 192.0.2.1 does not answer ARP (failed)"),
        ExplanationRow(
            "an IPv6 gateway for IPv4",
            .route(via: IPAddress("fe80::1")) {
                guard let gateway = IPAddress("fe80::1") else { return }
                $0.neighbours = [gateway: .failed]
            }, .neighbour, .bad, "fe80::1 does not answer neighbour discovery"),
        ExplanationRow(
            "a host on the link", .route(via: nil) { $0.neighbours = [RouteFixtures.anchor: .failed] }, .neighbour,
            .bad,
            "198.41.0.4, on this link, does not answer ARP"),
    ]
}
