import ReachCore
import ReachTesting
import Testing

@Suite struct LinkStackTests {
    @Test(arguments: ["vlan", "macvlan", "macvtap", "ipvlan", "ipvtap", "macsec"])
    func `a stacked link has the class of the link below`(kind: String) {
        let classes: [(String, LinkClass)] = [
            ("eth0", .wired), ("wlan0", .wifi), ("wwan0", .wwan), ("bnep0", .bluetooth), ("x0", .other),
        ]
        for (lower, expected) in classes {
            let stack = LinkStack(.up(1, lower), .up(2, "top", kind: kind, on: 1))
            #expect(stack.class(of: 2) == expected)
            #expect(stack.lowerNames(of: 2) == [lower])
        }
    }

    @Test func `a VLAN on a veth is virtual, and so is a macvlan whose lower link is in another namespace`() {
        let stack = LinkStack(
            .up(1, "veth0", kind: "veth"), .up(2, "veth0.5", kind: "vlan", on: 1), .up(3, "mac0", kind: "macvlan"),
            .up(4, "mac1", kind: "macvlan", on: 99))
        #expect([2, 3, 4].map { stack.class(of: $0) } == [.virtual, .virtual, .virtual])
        #expect(stack.lowerNames(of: 2) == ["veth0"])
        #expect(stack.lowerNames(of: 4) == [])
    }

    @Test func `a VLAN on a bond of two cables is wired and lists the links below, nearest first`() {
        let stack = LinkStack(
            .up(1, "bond0", kind: "bond"), .up(2, "bond0.5", kind: "vlan", on: 1),
            .up(4, "eth1", portOf: 1), .up(3, "eth0", portOf: 1))
        #expect(stack.class(of: 2) == .wired)
        #expect(stack.lowerNames(of: 2) == ["bond0", "eth0", "eth1"])
    }

    @Test func `the active port of a bond decides`() {
        let ports = [Link.up(2, "eth0", portOf: 1), .up(3, "wlan0", portOf: 1)]
        for (port, expected) in zip(ports, [LinkClass.wired, .wifi]) {
            let bond = Link.up(1, "bond0", kind: "bond").with { $0.activePort = port.index }
            let stack = LinkStack(bond, ports[0], ports[1])
            #expect(stack.class(of: 1) == expected)
            #expect(stack.lowerNames(of: 1) == [port.name])
        }
    }

    @Test func `without a known active port, a usable one decides`() {
        let bond = Link.up(1, "bond0", kind: "bond")
        let wifi = Link.up(3, "wlan0", portOf: 1)
        let stack = LinkStack(bond, Link.up(2, "eth0", portOf: 1).withoutCarrier, wifi)
        #expect(stack.class(of: 1) == .wifi)
        #expect(stack.lowerNames(of: 1) == ["wlan0"])
        // An active port that was removed no longer counts.
        #expect(LinkStack(bond.with { $0.activePort = 2 }, wifi).class(of: 1) == .wifi)
        let none = LinkStack(bond.withoutCarrier, .up(2, "eth0", portOf: 1).withoutCarrier, wifi.takenDown)
        #expect(none.class(of: 1) == .wired, "without a usable port all ports count")
    }

    // The order of Chromium's connection types, for links with several media.
    static let mixtures: [([String], LinkClass)] = [
        ([], .virtual), (["eth0"], .wired), (["wlan0"], .wifi), (["wwan0"], .wwan), (["bnep0"], .bluetooth),
        (["wlan0", "eth0"], .wired), (["wwan0", "eth0"], .wired), (["bnep0", "eth0"], .wired),
        (["wwan0", "wlan0"], .wifi), (["bnep0", "wlan0"], .wifi), (["bnep0", "wwan0"], .wwan),
        (["x0"], .virtual), (["x0", "wwan0"], .wwan),
    ]

    @Test(arguments: mixtures, ["bond", "team", "bridge", "vrf", "openvswitch", "batadv"])
    func `of several media the first of wired, wifi, wwan, bluetooth is the class`(
        mixture: ([String], LinkClass), kind: String
    ) {
        var links: [InterfaceIndex: Link] = [1: .up(1, "top", kind: kind)]
        var traits: [InterfaceIndex: LinkTraits] = [:]
        let known = ["eth0": LinkTraits.cable, "wlan0": .wifi, "wwan0": .modem, "bnep0": .bluetooth]
        for (index, name) in zip(InterfaceIndex(2)..., mixture.0) {
            links[index] = .up(index, name, portOf: 1)
            traits[index] = known[name]
        }
        #expect(LinkStack(links: links, traits: traits).class(of: 1) == mixture.1)
    }

    // Such as docker0 and virbr0.
    @Test func `a bridge of containers and guests is virtual, and its class and lower links do not change with them`() {
        let bridge = Link.up(1, "docker0", kind: "bridge")
        let alone = LinkStack(bridge)
        let crowded = LinkStack(
            bridge, .up(2, "veth1", kind: "veth", portOf: 1), .up(3, "vnet0", kind: "tun", portOf: 1),
            .up(4, "dummy0", kind: "dummy", portOf: 1))
        for stack in [alone, crowded] {
            #expect(stack.class(of: 1) == .virtual)
            #expect(stack.lowerNames(of: 1) == [])
        }
        #expect(crowded.members(of: 1) == [1, 2, 3, 4])
    }

    @Test func `a bridge with a cable among its guests is wired, and lists the cable only`() {
        let stack = LinkStack(
            .up(1, "br0", kind: "bridge"), .up(2, "vnet0", kind: "tun", portOf: 1),
            .up(3, "eth0.7", kind: "vlan", on: 4, portOf: 1), .up(4, "eth0"))
        #expect(stack.class(of: 1) == .wired)
        #expect(stack.lowerNames(of: 1) == ["eth0.7", "eth0"])
        #expect(stack.members(of: 1) == [1, 2, 3, 4])
    }

    @Test func `a bond of veths is virtual, and lists them`() {
        let stack = LinkStack(.up(1, "bond0", kind: "bond"), .up(2, "veth0", kind: "veth", portOf: 1))
        #expect(stack.class(of: 1) == .virtual)
        #expect(stack.lowerNames(of: 1) == ["veth0"])
    }

    @Test func `a bridge of Open vSwitch is carried by the ports of the switch`() {
        let stack = LinkStack(
            .up(1, "ovs-system", kind: "openvswitch").takenDown, .up(2, "br-ex", kind: "openvswitch"),
            .up(3, "eth0", portOf: 1), .up(4, "veth0", kind: "veth", portOf: 1))
        #expect(stack.class(of: 2) == .wired)
        #expect(stack.lowerNames(of: 2) == ["eth0"])
        #expect(stack.trouble(with: 2) == nil)
    }

    @Test func `a tunnel stays a tunnel and lists its underlay`() {
        let wifi = Link.up(1, "wlan0")
        let wireguard = Link.up(2, "wg0", kind: "wireguard")
        #expect(LinkStack(wifi, wireguard).lowerNames(of: 2) == [])
        let known = LinkStack(wifi, wireguard, underlay: [2: 1])
        #expect(known.class(of: 2) == .tunnel)
        #expect(known.lowerNames(of: 2) == ["wlan0"])
        #expect(known.members(of: 2) == [2, 1])
        let bound = LinkStack(wifi, .up(2, "vx0", kind: "vxlan", on: 1), .up(3, "vx0.9", kind: "vlan", on: 2))
        #expect(bound.class(of: 3) == .tunnel)
        #expect([known.condition(of: 2), bound.condition(of: 3)].map(\.traits.carrierClass) == [.wifi, .wifi])
        #expect(LinkStack(wifi, wireguard).condition(of: 2).traits.carrierClass == nil)
        #expect(known.condition(of: 1).traits.carrierClass == nil)
        #expect(bound.lowerNames(of: 3) == ["vx0", "wlan0"])
    }

    @Test func `the device that an XFRM interface names need not carry it`() {
        let stack = LinkStack(.up(1, "lo").takenDown, .up(2, "ipsec0", kind: "xfrm", on: 1))
        #expect(stack.lowerNames(of: 2) == [])
        #expect(stack.trouble(with: 2) == nil)
    }

    @Test func `PPPoE is carried by its Ethernet, unless another PPP link makes that uncertain`() {
        let cable = Link.up(1, "eth0").withoutCarrier
        let ppp = Link.up(2, "ppp0", kind: "ppp")
        let certain = LinkStack(cable, ppp, pppoe: "eth0")
        #expect(certain.class(of: 2) == .tunnel)
        #expect(certain.lowerNames(of: 2) == ["eth0"])
        #expect(certain.trouble(with: 2) == .noCarrier)
        let uncertain = LinkStack(cable, ppp, .up(3, "ppp1", kind: "ppp"), pppoe: "eth0")
        #expect(uncertain.lowerNames(of: 2) == [])
        #expect(uncertain.trouble(with: 2) == nil)
    }

    @Test func `links of different media on one machine each have their own class`() {
        let stack = LinkStack(.up(1, "eth0"), .up(2, "wlan0"), .up(3, "wwan0"))
        #expect([1, 2, 3].map { stack.class(of: $0) } == [.wired, .wifi, .wwan])
    }

    @Test func `an unknown link has the class other`() {
        let stack = LinkStack()
        #expect(stack.class(of: 5) == .other)
        #expect(stack.lowerNames(of: 5) == [])
        #expect(stack.members(of: 5) == [5])
        #expect(stack.trouble(with: 5) == nil)
        #expect(!stack.isMetered(5))
    }

    @Test func `a cycle of links does not crash`() {
        let stack = LinkStack(
            .up(1, "a", kind: "vlan", on: 2), .up(2, "b", kind: "macvlan", on: 1),
            .up(3, "c", kind: "bond", portOf: 3), .up(4, "d", kind: "wireguard"), underlay: [4: 4])
        #expect([1, 2, 3, 4].map { stack.class(of: $0) } == [.virtual, .virtual, .virtual, .tunnel])
        #expect(stack.lowerNames(of: 1) == ["b"])
        #expect(stack.members(of: 1) == [1, 2])
        #expect([1, 2, 4].map { stack.trouble(with: $0) } == [nil, nil, nil])
        #expect(!stack.isMetered(1))
    }

    @Test func `a bridge of many ports is no deep stack`() {
        var links = [Link.up(1, "br0", kind: "bridge"), .up(2, "eth0")]
        for index in 3...102 as ClosedRange<InterfaceIndex> {
            links.append(.up(index, "veth\(index)", kind: "veth", portOf: 1))
        }
        links.append(.up(103, "eth0.5", kind: "vlan", on: 2, portOf: 1))
        #expect(LinkStack(of: links).class(of: 1) == .wired)
    }

    @Test func `what it takes to know what carries a link depends on its kind`() {
        let needs: [(Link, LinkStack.Need)] = [
            (.up(1, "eth0"), .below), (.up(1, "eth0.5", kind: "vlan", on: 2), .below),
            (.up(1, "br0", kind: "bridge"), .ports), (.up(1, "bond0", kind: "bond"), .ports),
            (.up(1, "wg0", kind: "wireguard"), .anyLink), (.up(1, "ppp0", kind: "ppp"), .anyLink),
            (.up(1, "br-ex", kind: "openvswitch"), .anyLink),
        ]
        for (link, need) in needs { #expect(LinkStack(link).need(of: link) == need, "\(link.name)") }
    }

    @Test func `a stack deeper than any kernel builds gets the fallback`() {
        var links: [InterfaceIndex: Link] = [0: .up(0, "eth0")]
        for index in 1...100_000 as ClosedRange<InterfaceIndex> {
            links[index] = .up(index, "v\(index)", kind: "vlan", on: index - 1)
        }
        let stack = LinkStack(links: links, traits: [0: .cable])
        #expect(stack.class(of: 8) == .wired)
        #expect(stack.class(of: 100_000) == .virtual)
        #expect(stack.trouble(with: 100_000) == nil)
    }
}
