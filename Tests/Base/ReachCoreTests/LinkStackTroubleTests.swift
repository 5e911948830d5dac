import ReachCore
import ReachTesting
import Testing

@Suite struct LinkStackTroubleTests {
    @Test func `the trouble of a plain link follows from its flags`() {
        let cable = Link.up(1, "eth0")
        #expect(LinkStack(cable).trouble(with: 1) == nil)
        #expect(LinkStack(cable.takenDown).trouble(with: 1) == .linkDown)
        #expect(LinkStack(cable.withoutCarrier).trouble(with: 1) == .noCarrier)
        #expect(LinkStack(Link.up(1, "wlan0").handshaking).trouble(with: 1) == .dormant)
        // Modems, tunnels and PPP stay in the state unknown.
        #expect(LinkStack(Link.up(1, "wwan0").with { $0.operationalState = .unknown }).trouble(with: 1) == nil)
        // A carrier flag often remains set on a link that is down.
        #expect(LinkStack(cable.takenDown.with { $0.flags = [.lowerUp, .running] }).trouble(with: 1) == .linkDown)
    }

    @Test func `a link that waits for authentication and lost its carrier has none`() {
        // As an access point says goodbye: wpa_supplicant sets the state before the kernel does.
        let left = Link.up(1, "wlan0").handshaking.with { $0.flags = [.up] }
        #expect(LinkStack(left).trouble(with: 1) == .noCarrier)
        #expect(LinkStack(left, Link.up(2, "top", kind: "vlan", on: 1)).trouble(with: 2) == .noCarrier)
    }

    @Test(arguments: ["vlan", "macvlan", "ipvlan", "macsec"])
    func `a stacked link has the trouble of the link below`(kind: String) {
        let top = Link.up(2, "top", kind: kind, on: 1)
        let cases: [(Link, Reason?)] = [
            (.up(1, "eth0"), nil), (.up(1, "eth0").takenDown, .linkDown),
            (.up(1, "eth0").withoutCarrier, .noCarrier), (.up(1, "wlan0").handshaking, .dormant),
        ]
        for (lower, expected) in cases {
            // Before the notice about the upper link arrives, and after.
            #expect(LinkStack(lower, top).trouble(with: 2) == expected)
            #expect(LinkStack(lower, top.withoutCarrier).trouble(with: 2) == expected ?? .noCarrier)
            #expect(LinkStack(lower, top).firstBroken(below: 2)?.reason == expected)
            #expect(LinkStack(lower, top.takenDown).trouble(with: 2) == .linkDown)
        }
    }

    @Test func `the first broken link is the nearest, with the reason of the lowest`() throws {
        let stack = LinkStack(
            .up(1, "eth0", portOf: 2).takenDown, Link.up(2, "bond0", kind: "bond").withoutCarrier,
            .up(3, "bond0.5", kind: "vlan", on: 2))
        let broken = try #require(stack.firstBroken(below: 3))
        #expect(broken.link.name == "bond0")
        #expect(broken.reason == .linkDown)
    }

    @Test func `a bridge that never had a port has no carrier, although it is running`() {
        #expect(LinkStack(.up(1, "br0", kind: "bridge")).trouble(with: 1) == .noCarrier)
        #expect(
            LinkStack(.up(1, "br0", kind: "bridge"), .up(2, "br0.5", kind: "vlan", on: 1)).trouble(with: 2)
                == .noCarrier)
    }

    @Test(arguments: ["bond", "team", "bridge", "vrf"])
    func `one usable port is enough`(kind: String) {
        let top = Link.up(1, "top", kind: kind)
        let good = Link.up(2, "eth0", portOf: 1)
        let other = Link.up(3, "eth1", portOf: 1)
        #expect(LinkStack(top, good, other.withoutCarrier).trouble(with: 1) == nil)
        #expect(LinkStack(top, good.withoutCarrier, other.takenDown).trouble(with: 1) == .noCarrier)
        #expect(LinkStack(top, good.takenDown, other.handshaking).trouble(with: 1) == .dormant)
        #expect(LinkStack(top, good.takenDown, other.takenDown).trouble(with: 1) == .linkDown)
    }

    @Test func `a port that is broken below is not usable`() {
        let stack = LinkStack(
            .up(1, "br0", kind: "bridge"), .up(2, "eth0.5", kind: "vlan", on: 3, portOf: 1),
            .up(3, "eth0").withoutCarrier)
        #expect(stack.trouble(with: 1) == .noCarrier)
    }

    @Test func `a bond that has just lost its active port is about to choose another`() {
        let bond = Link.up(1, "bond0", kind: "bond").with { $0.activePort = 2 }
        #expect(
            LinkStack(bond, .up(2, "eth0", portOf: 1).withoutCarrier, .up(3, "eth1", portOf: 1)).trouble(with: 1) == nil
        )
    }

    @Test func `a bond without a partner has usable ports and no carrier`() {
        let stack = LinkStack(Link.up(1, "bond0", kind: "bond").withoutCarrier, .up(2, "eth0", portOf: 1))
        #expect(stack.trouble(with: 1) == .noCarrier)
        #expect(stack.firstBroken(below: 1) == nil)
    }

    @Test func `a tunnel has the trouble of its known underlay`() {
        let wireguard = Link.up(2, "wg0", kind: "wireguard")
        let dead = Link.up(1, "wlan0").withoutCarrier
        #expect(LinkStack(dead, wireguard).trouble(with: 2) == nil)
        #expect(LinkStack(dead, wireguard, underlay: [2: 1]).trouble(with: 2) == .noCarrier)
        #expect(LinkStack(.up(1, "wlan0"), wireguard, underlay: [2: 1]).trouble(with: 2) == nil)
    }
}
