import ReachCore
import ReachTesting

private typealias Row = RootCauseSituation

private func own(
    _ text: String, on index: InterfaceIndex, _ flags: InterfaceAddress.Flags = [], scope: UInt8? = nil
) -> InterfaceAddress {
    var address = RouteFixtures.address(text, on: index, flags)
    if let scope { address.scope = scope }
    return address
}

extension RootCauseSituation {
    static let all: [RootCauseSituation] = cables + radios + modems + stacks + addressing + routes + memories + hosts

    // MARK: - Cables and switches

    private static let cables: [RootCauseSituation] = [
        Row("the cable is out, the route is still there", "no-carrier eth0") {
            $0.links = [.up(2, "eth0").withoutCarrier]
            $0.addresses = [own("192.0.2.2", on: 2)]
            $0.verdict = .broken(.noCarrier, by: "eth0", 2)
        },
        Row("the cable is out, and a manager removed address and route", "no-carrier eth0") {
            $0.links = [.up(2, "eth0").withoutCarrier]
        },
        Row("the same, and another cable was never there", "no-carrier eth1") {
            $0.links = [.up(2, "eth0").withoutCarrier, .up(3, "eth1").withoutCarrier]
            $0.before = [("eth1", 3, [])]
        },
        Row("the link was taken down", "link-down eth0") { $0.links = [.up(2, "eth0").takenDown] },
        Row("the link was taken down, the route is still there", "link-down eth0") {
            $0.links = [.up(2, "eth0").takenDown]
            $0.verdict = .broken(.linkDown, by: "eth0", 2)
        },
        Row("802.1X has not let the link in", "not-authorised eth0") { $0.links = [.up(2, "eth0").handshaking] },
        Row("802.1X has not let the link in, the route is still there", "not-authorised eth0") {
            $0.links = [.up(2, "eth0").handshaking]
            $0.verdict = .broken(.dormant, by: "eth0", 2)
        },
        Row("the cable was pulled while 802.1X waited", "no-carrier eth0") {
            $0.links = [.up(2, "eth0").handshaking.with { $0.flags = .up }]
        },
        Row("one cable is out and another link is off", "no-carrier eth1") {
            $0.links = [.up(2, "eth0").takenDown, .up(3, "eth1").withoutCarrier]
        },
        Row("a machine without links", "no-links") { $0.links = [] },
        Row("a VLAN that is down", "link-down eth0.7") {
            $0.links = [.up(2, "eth0"), .up(3, "eth0.7", kind: "vlan", on: 2).takenDown]
            $0.addresses = [own("fe80::2", on: 2), own("192.0.2.2", on: 3)]
        },
        Row("a VLAN that is down, beside a link that waits for its own address", "no-address eth0") {
            $0.links = [.up(2, "eth0"), .up(3, "eth0.7", kind: "vlan", on: 2).takenDown]
        },
        Row("the only link of a container is down", "link-down uplink0") {
            $0.links = [.up(2, "uplink0", kind: "veth").takenDown, .up(3, "tunl0", kind: "ipip").takenDown]
        },
    ]

    // MARK: - Wi-Fi and Bluetooth

    private static let radios: [RootCauseSituation] = [
        Row("Wi-Fi without an access point", "not-associated wlan0") { $0.links = [.up(2, "wlan0").withoutCarrier] },
        Row("Wi-Fi during the handshake", "authenticating wlan0") { $0.links = [.up(2, "wlan0").handshaking] },
        Row("Wi-Fi refused once", "not-associated wlan0") {
            $0.links = [.up(2, "wlan0").withoutCarrier]
            $0.refusals = 1
        },
        Row("Wi-Fi with a wrong password", "authentication-failed wlan0") {
            $0.links = [.up(2, "wlan0").withoutCarrier]
            $0.refusals = 2
        },
        Row("Wi-Fi with a wrong password, during the next attempt", "authentication-failed wlan0") {
            $0.links = [.up(2, "wlan0").handshaking]
            $0.refusals = 3
        },
        Row("Wi-Fi in flight mode", "radio-blocked wlan0") {
            $0.links = [.up(2, "wlan0").takenDown]
            $0.radio = .blockedBySoftware
        },
        Row("Wi-Fi switched off by a key", "radio-switched-off wlan0") {
            $0.links = [.up(2, "wlan0").takenDown]
            $0.radio = .blockedByHardware
        },
        Row("Wi-Fi taken down with the radio on", "link-down wlan0") { $0.links = [.up(2, "wlan0").takenDown] },
        Row("the cable is out and Wi-Fi is in flight mode", "no-carrier eth0") {
            $0.links = [.up(2, "eth0").withoutCarrier, .up(3, "wlan0").takenDown]
            $0.radio = .blockedBySoftware
        },
        Row("the cable is out and Wi-Fi is being joined", "authenticating wlan0") {
            $0.links = [.up(2, "eth0").withoutCarrier, .up(3, "wlan0").handshaking]
        },
        Row("the access point that carried the path is gone", "not-associated wlan0") {
            $0.links = [.up(2, "eth0").withoutCarrier, .up(3, "wlan0").withoutCarrier]
            $0.before = [("wlan0", 3, [])]
        },
        Row("Bluetooth in flight mode", "radio-blocked bnep0") {
            $0.links = [.up(2, "bnep0").takenDown]
            $0.radio = .blockedBySoftware
        },
        Row("a switched-off radio is no reason for a cable", "link-down eth0") {
            $0.links = [.up(2, "eth0").takenDown]
            $0.radio = .blockedByHardware
        },
        Row("only Wi-Fi may be used", "not-associated wlan0") {
            $0.links = [.up(2, "eth0"), .up(3, "wlan0").withoutCarrier]
            $0.addresses = [own("192.0.2.2", on: 2)]
            $0.condition.linkClass = .wifi
        },
        Row("only Wi-Fi may be used, and there is none", "no-links") { $0.condition.linkClass = .wifi },
        Row("only Wi-Fi may be used, in a container with one link", "no-links") {
            $0.links = [.up(2, "uplink0", kind: "veth").takenDown]
            $0.condition.linkClass = .wifi
        },
    ]

    // MARK: - Modems

    private static let modems: [RootCauseSituation] = [
        Row("a modem that is off", "modem-not-connected wwan0") { $0.links = [.up(2, "wwan0").takenDown] },
        Row("a modem without a data connection", "modem-not-connected wwan0") {
            $0.links = [.up(2, "wwan0").withoutCarrier]
        },
        Row("a modem whose link always has a carrier", "modem-not-connected wwan0") { $0.links = [.up(2, "wwan0")] },
        Row("a modem in flight mode", "radio-blocked wwan0") {
            $0.links = [.up(2, "wwan0").takenDown]
            $0.radio = .blockedBySoftware
        },
        Row("a modem that looks like a cable", "modem-not-connected eth0") {
            $0.links = [.up(2, "eth0").withoutCarrier]
            $0.policy = LinkPolicy(linkClasses: ["eth0": .wwan])
        },
        Row("a modem that was unplugged", "interface-gone wwan0") {
            $0.links = [.up(2, "eth0").withoutCarrier]
            $0.before = [("wwan0", 3, [])]
        },
        Row("the dial-up link is gone", "interface-gone ppp0") {
            $0.links = []
            $0.before = [("ppp0", 7, [])]
        },
    ]

    // MARK: - Links on links

    private static let stacks: [RootCauseSituation] = [
        Row("a VLAN whose cable is out", "no-carrier eth0") {
            $0.links = [
                .up(2, "eth0").withoutCarrier,
                .up(3, "eth0.5", kind: "vlan", on: 2).with {
                    $0.flags = .up
                    $0.operationalState = .lowerLayerDown
                },
            ]
            $0.addresses = [own("192.0.2.2", on: 3)]
            $0.verdict = .broken(.noCarrier, by: "eth0.5", 3)
        },
        Row("a VLAN on a bond whose cables are out", "no-carrier eth0") {
            $0.links = [
                .up(2, "eth0", portOf: 4).withoutCarrier, .up(3, "eth1", portOf: 4).takenDown,
                .up(4, "bond0", kind: "bond").withoutCarrier, .up(5, "bond0.7", kind: "vlan", on: 4).withoutCarrier,
            ]
        },
        Row("a bridge whose cable is out", "no-carrier eth0") {
            $0.links = [.up(2, "eth0", portOf: 3).withoutCarrier, .up(3, "br0", kind: "bridge").withoutCarrier]
        },
        Row("a bridge whose port may not forward yet", "port-not-forwarding br0") {
            $0.links = [.up(2, "eth0", portOf: 3), .up(3, "br0", kind: "bridge").withoutCarrier]
        },
        Row("a bridge that lost its port", "no-ports br0") { $0.links = [.up(3, "br0", kind: "bridge")] },
        Row("a VLAN that is down on a cable that works", "link-down eth0.5") {
            $0.links = [.up(2, "eth0"), .up(3, "eth0.5", kind: "vlan", on: 2).takenDown]
            $0.before = [("eth0.5", 3, ["eth0"])]
        },
        Row("a VPN's program has ended", "not-attached tun0") {
            $0.links = [.up(2, "tun0", kind: "tun").withoutCarrier]
            $0.addresses = [own("192.0.2.2", on: 2)]
        },
        Row("a VPN is gone since its cable is out", "no-carrier eth0") {
            $0.links = [.up(2, "eth0").withoutCarrier]
            $0.before = [("tun0", 9, ["eth0"])]
        },
        Row("a VPN is gone, and its kill switch refuses everything", "interface-gone tun0") {
            $0.addresses = [own("192.0.2.2", on: 2)]
            $0.verdict = Verdict(.notReachable, reason: .unreachable)
            $0.before = [("tun0", 9, ["eth0"])]
        },
        Row("containers' bridges are not the way to the Internet", "no-carrier eth0") {
            $0.links = [
                .up(2, "eth0").withoutCarrier, .up(3, "docker0", kind: "bridge"), .up(4, "veth1", kind: "veth"),
            ]
            $0.addresses = [own("172.17.0.1", on: 3), own("172.18.0.1", on: 4)]
        },
        Row("a container whose other end is down", "no-carrier up0") {
            $0.links = [.up(2, "up0", kind: "veth").withoutCarrier]
        },
        Row("a tunnel needs another link", "no-carrier up0") {
            $0.links = [.up(2, "up0", kind: "veth").withoutCarrier, .up(3, "wg0", kind: "wireguard")]
            $0.addresses = [own("198.51.100.2", on: 3)]
        },
    ]

    // MARK: - Addresses

    private static let addressing: [RootCauseSituation] = [
        Row("no DHCP server has answered yet", "no-address eth0") { $0.addresses = [own("fe80::2", on: 2)] },
        Row("no DHCP server answers", "self-assigned-address eth0") {
            $0.addresses = [own("169.254.7.7", on: 2), own("fe80::2", on: 2)]
        },
        Row("an address that is for the link only, by its scope", "no-address eth0") {
            $0.addresses = [own("192.0.2.2", on: 2, scope: InterfaceAddress.linkScope)]
        },
        Row("the address is still being checked", "address-tentative eth0") {
            $0.addresses = [own("2001:db8::2", on: 2, .tentative)]
            $0.verdict = .broken(.noAddress, by: "eth0", 2).swapped
        },
        Row("another host has the address", "address-duplicate eth0") {
            $0.addresses = [own("2001:db8::2", on: 2, [.tentative, .duplicate])]
            $0.verdict = .broken(.noAddress, by: "eth0", 2).swapped
        },
        Row("the lease ended", "no-address eth0") {
            $0.before = [("eth0", 2, [])]
            $0.addresses = [own("fe80::2", on: 2)]
        },
        Row("the lease ended, and IPv6 has an address", "no-address eth0") {
            $0.before = [("eth0", 2, [])]
            $0.addresses = [own("2001:db8::2", on: 2)]
        },
        Row("a route without an address", "no-address eth0") { $0.verdict = .broken(.noAddress, by: "eth0", 2) },
        Row("IPv6 is disabled", "ipv6-disabled eth0") {
            $0.addresses = [own("192.0.2.2", on: 2)]
            $0.verdict = .only(.ipv6, .noRoute)
            $0.isIPv6Disabled = true
        },
        Row("IPv6 was disabled where the Internet was reached by it alone", "ipv6-disabled eth0") {
            $0.before = [("eth0", 2, [])]
            $0.families = [.ipv6]
            $0.isIPv6Disabled = true
        },
        Row("the MTU is too small for IPv6", "small-mtu eth0") {
            $0.links[0].mtu = 1279
            $0.addresses = [own("192.0.2.2", on: 2)]
            $0.verdict = .only(.ipv6, .noRoute)
            $0.isIPv6Disabled = true
        },
        Row("no router has advertised itself", "no-address eth0") {
            $0.addresses = [own("192.0.2.2", on: 2), own("fe80::2", on: 2)]
            $0.verdict = .only(.ipv6, .noRoute)
        },
    ]

    // MARK: - Routes, rules and neighbours

    private static let routes: [RootCauseSituation] = [
        Row("an address, and no default route", "no-default-route eth0") { $0.addresses = [own("192.0.2.2", on: 2)] },
        Row("a deprecated address is one", "no-default-route eth0") {
            $0.addresses = [own("2001:db8::2", on: 2, .deprecated)]
        },
        Row("a route rejects", "unreachable") {
            $0.addresses = [own("192.0.2.2", on: 2)]
            $0.verdict = Verdict(.notReachable, reason: .unreachable)
        },
        Row("a route forbids", "prohibited") {
            $0.addresses = [own("192.0.2.2", on: 2)]
            $0.verdict = Verdict(.notReachable, reason: .prohibited)
        },
        Row("a route discards", "blackhole") {
            $0.addresses = [own("192.0.2.2", on: 2)]
            $0.verdict = Verdict(.notReachable, reason: .blackhole)
        },
        Row("a default route leads back to this machine", "blackhole") {
            $0.addresses = [own("192.0.2.2", on: 2)]
            $0.verdict = .broken(.blackhole, by: "lo", 1)
        },
        Row("a rule forbids", "rule") {
            $0.addresses = [own("192.0.2.2", on: 2)]
            $0.verdict = Verdict(.notReachable, reason: .prohibited)
            $0.refusal = .rule
        },
        Row("a route that ends the search looks like no route", "throw-route") {
            $0.addresses = [own("192.0.2.2", on: 2)]
            $0.refusal = .throwRoute
        },
        Row("a rule of the type unreachable looks like no route", "rule") {
            $0.addresses = [own("192.0.2.2", on: 2)]
            $0.refusal = .rule
        },
        Row("a route of last resort rejects, since the cable is out", "no-carrier eth0") {
            $0.links = [.up(2, "eth0").withoutCarrier]
            $0.verdict = Verdict(.notReachable, reason: .unreachable)
        },
        Row("the gateway does not answer", "gateway-unreachable eth0") {
            $0.addresses = [own("192.0.2.2", on: 2)]
            $0.verdict = .broken(.gatewayUnreachable, by: "eth0", 2)
        },
        Row("the host on the link does not answer", "neighbour-unreachable eth0") {
            $0.addresses = [own("192.0.2.2", on: 2)]
            $0.verdict = .broken(.neighbourUnreachable, by: "eth0", 2)
        },
    ]

    // MARK: - What carried the path before

    private static let memories: [RootCauseSituation] = [
        Row("an adapter was unplugged", "interface-gone eth1") {
            $0.links = [.up(2, "eth0").withoutCarrier]
            $0.before = [("eth1", 3, [])]
        },
        Row("an adapter was unplugged and plugged in again", "no-address eth1") {
            $0.links = [.up(2, "eth0").withoutCarrier, .up(8, "eth1")]
            $0.before = [("eth1", 3, [])]
        },
        Row("an adapter was renamed", "no-carrier lan0") {
            $0.links = [.up(2, "lan0").withoutCarrier]
            $0.before = [("eth0", 2, [])]
        },
        Row("the uplink's cable is out, the local network works", "no-carrier eth0") {
            $0.links = [.up(2, "eth0").withoutCarrier, .up(3, "eth1")]
            $0.addresses = [own("192.0.2.2", on: 3)]
            $0.before = [("eth0", 2, [])]
        },
        Row("IPv4 says nothing about IPv6", "no-address eth0") {
            $0.addresses = [own("192.0.2.2", on: 2), own("fe80::2", on: 2)]
            $0.verdict = .only(.ipv6, .noRoute)
            $0.before = [("eth0", 2, [])]
        },
        Row("the default route was deleted", "no-default-route eth0") {
            $0.links = [.up(2, "eth0"), .up(3, "eth1")]
            $0.addresses = [own("192.0.2.2", on: 2), own("198.51.100.2", on: 3)]
            $0.before = [("eth0", 2, [])]
        },
        Row("a rule forbids by any link, whatever happened to the one that carried the path", "rule") {
            $0.links = [.up(2, "eth0").withoutCarrier, .up(3, "eth1")]
            $0.addresses = [own("192.0.2.2", on: 2), own("198.51.100.2", on: 3)]
            $0.verdict = Verdict(.notReachable, reason: .prohibited)
            $0.refusal = .rule
            $0.before = [("eth0", 2, [])]
        },
        Row("a route forbids, and the link that carried the path is gone", "prohibited") {
            $0.links = [.up(3, "eth1")]
            $0.addresses = [own("198.51.100.2", on: 3)]
            $0.verdict = Verdict(.notReachable, reason: .prohibited)
            $0.before = [("eth0", 2, [])]
        },
        Row("a rule forbids, and no link works", "no-carrier eth0") {
            $0.links = [.up(2, "eth0").withoutCarrier, .up(3, "eth1").takenDown]
            $0.verdict = Verdict(.notReachable, reason: .prohibited)
            $0.refusal = .rule
            $0.before = [("eth1", 3, [])]
        },
        Row("an unreachable route was laid over a path that works", "unreachable") {
            $0.addresses = [own("192.0.2.2", on: 2)]
            $0.verdict = Verdict(.notReachable, reason: .unreachable)
            $0.before = [("eth0", 2, [])]
        },
    ]

    // MARK: - Interfaces and names as targets

    private static let hosts: [RootCauseSituation] = [
        Row("no interface has the name", "no-interface") { $0.verdict = Verdict(.notReachable, reason: .noInterface) },
        Row("the interface was removed", "interface-gone eth3") {
            $0.verdict = Verdict(.notReachable, reason: .noInterface)
            $0.before = [("eth3", 5, [])]
        },
        Row("a route by an interface that is gone", "interface-gone") {
            $0.verdict = Verdict(ipv4: Verdict.broken(.noInterface, by: nil, 9).ipv4, ipv6: .notAsked)
        },
        Row("the loopback device is down", "link-down lo") {
            $0.links = [.up(1, "lo").with { $0.flags = .loopback }]
            $0.verdict = .broken(.linkDown, by: "lo", 1)
        },
        Row("a name without an address", "name-not-resolved") {
            $0.verdict = Verdict(.notReachable, reason: .nameNotResolved)
        },
    ]
}

extension Verdict {
    /// The same with the families exchanged.
    fileprivate var swapped: Verdict { Verdict(ipv4: ipv6, ipv6: ipv4) }
}
