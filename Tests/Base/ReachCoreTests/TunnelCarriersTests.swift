internal import ReachCore
internal import ReachTesting
internal import Testing

/// What carries tunnels, and what follows for them.
struct TunnelCarriersTests {
    private static let modem = Link.up(1, "wwan0")
    private static let cable = Link.up(2, "eth0")
    private static let tunnel = Link.up(3, "tun0", kind: "tun")

    private static func stack(
        _ links: [Link] = [modem, cable, tunnel], carriers: TunnelCarriers, policy: LinkPolicy = LinkPolicy()
    ) -> LinkStack {
        let named = LinkStack(of: links, policy: policy)
        return LinkStack(
            links: named.links, traits: named.traits, policy: policy, tunnelCarriers: [3: carriers])
    }

    @Test func `a tunnel is metered if every link that could carry it is`() {
        #expect(Self.stack(carriers: TunnelCarriers([1])).condition(of: 3).traits.meteredReason == .carriedBy)
        #expect(Self.stack(carriers: TunnelCarriers([1, 2])).condition(of: 3).traits.meteredReason == nil)
        #expect(Self.stack(carriers: TunnelCarriers()).condition(of: 3).traits.meteredReason == nil)
        let unplugged = [Self.modem, Self.cable.withoutCarrier, Self.tunnel]
        let only = Self.stack(unplugged, carriers: TunnelCarriers([1, 2]))
        #expect(only.condition(of: 3).traits.meteredReason == .carriedBy, "only what works counts")
        let free = LinkPolicy(rules: [LinkPolicy.Rule(pattern: Glob("tun*"), isMetered: false)])
        #expect(!Self.stack(carriers: TunnelCarriers([1]), policy: free).condition(of: 3).traits.isMetered)
    }

    @Test func `of the links that could carry a tunnel the likeliest gives it its class`() {
        let condition = Self.stack(carriers: TunnelCarriers([2, 1])).condition(of: 3)
        #expect(condition.traits.carrierClass == .wired && condition.lower == ["eth0"])
        #expect(condition.traits.isCarried(by: .wired) && !condition.traits.isCarried(by: .wwan))
    }

    @Test func `a tunnel has the trouble of the links that could carry it only if none works`() {
        let dead = Self.cable.withoutCarrier
        #expect(Self.stack([Self.modem, dead, Self.tunnel], carriers: TunnelCarriers([1, 2])).trouble(with: 3) == nil)
        #expect(Self.stack([dead, Self.tunnel], carriers: TunnelCarriers([2])).trouble(with: 3) == .noCarrier)
        #expect(Self.stack([Self.tunnel], carriers: TunnelCarriers()).trouble(with: 3) == nil)
        #expect(Self.stack([Self.tunnel], carriers: TunnelCarriers(isLost: true)).trouble(with: 3) == .noCarrier)
    }

    @Test func `what could carry a tunnel has a route to the Internet, else is hardware, else is any link`() {
        func candidate(
            _ index: InterfaceIndex, hardware: Bool = true, works: Bool = true, inUse: Bool = true, _ metric: UInt32?
        ) -> CarrierCandidate {
            CarrierCandidate(index: index, isHardware: hardware, works: works, isInUse: inUse, metric: metric)
        }
        #expect(TunnelCarriers(among: [candidate(1, 700), candidate(2, 100), candidate(4, nil)]).links == [2, 1])
        #expect(TunnelCarriers(among: [candidate(1, 700), candidate(2, works: false, 100)]).links == [1, 2])
        let down = candidate(2, works: false, nil)
        #expect(TunnelCarriers(among: [candidate(1, hardware: false, nil), down]).links == [2])
        #expect(TunnelCarriers(among: [candidate(1, hardware: false, works: false, nil)]).links == [1])
        #expect(TunnelCarriers(among: []).links == [])
        #expect(!TunnelCarriers(among: [candidate(1, inUse: false, nil)]).isUnknown, "it works")
        #expect(!TunnelCarriers(among: [candidate(1, works: false, nil)]).isUnknown, "it was in use")
        let spare = TunnelCarriers(among: [candidate(1, works: false, inUse: false, nil)])
        #expect(spare.isUnknown && spare.links == [1])
    }

    @Test func `a broken link that was never in use says nothing about a tunnel`() {
        var spare = TunnelCarriers([2])
        spare.isUnknown = true
        #expect(Self.stack([Self.cable.withoutCarrier, Self.tunnel], carriers: spare).trouble(with: 3) == nil)
    }

    @Test func `AFNetworking's status of a tunnel is that of what carries it`() {
        var path = NetworkPath(status: .reachable)
        (path.linkClass, path.carrierClass) = (.tunnel, .wwan)
        var machine = StatusMachine(target: .internet, at: .at(0))
        let verdict = Verdict(ipv4: path, ipv6: .notAsked)
        _ = machine.observe(verdict, cause: .start, epoch: 1, at: .at(1))
        #expect(machine.state.networkReachabilityStatus == .reachableViaWWAN)
    }

    // MARK: - What is a tunnel

    @Test func `a VLAN on a tunnel leads into it, and a configured class changes nothing`() {
        let vlan = Link.up(4, "tun0.7", kind: "vlan", on: 3)
        let policy = LinkPolicy(rules: [LinkPolicy.Rule(pattern: Glob("tun0"), linkClass: .wired)])
        let stack = LinkStack(of: [Self.modem, Self.cable, Self.tunnel, vlan], policy: policy)
        #expect((1...4).map { stack.leadsIntoTunnel($0) } == [false, false, true, true])
    }

    @Test func `a link whose lower link is in another namespace, an unknown one and a bridge lead into no tunnel`() {
        let stack = LinkStack(
            .up(1, "mac0", kind: "macvlan"), .up(2, "mac1", kind: "macvlan", on: 99), .up(3, "br0", kind: "bridge"),
            .up(4, "tun0", kind: "tun", portOf: 3))
        #expect((1...3).map { stack.leadsIntoTunnel($0) } == [false, false, false])
        #expect(!stack.leadsIntoTunnel(99))
    }

    @Test(
        arguments: [
            (Link.up(1, "eth0"), true), (.up(1, "wlan0"), true), (.up(1, "veth0", kind: "veth"), true),
            (.up(1, "nk0", kind: "netkit"), true), (.up(1, "dummy0", kind: "dummy"), false),
            (.up(1, "ppp0", kind: "ppp"), true), (.up(1, "tun0", kind: "tun"), false),
            (.up(1, "eth0", portOf: 2), false), (.up(1, "vrf0", kind: "vrf"), false),
            (Link.up(1, "lo").with { $0.flags.insert(.loopback) }, false), (.up(1, "br0", kind: "bridge"), false),
            (.up(1, "eth0.5", kind: "vlan", on: 3), true), (.up(1, "tun1.5", kind: "vlan", on: 4), false),
        ] as [(Link, Bool)])
    func `hardware could carry tunnels, and what stands for it in a container`(link: Link, could: Bool) {
        let stack = LinkStack(link, .up(3, "eth1"), .up(4, "tun1", kind: "tun"))
        #expect(stack.couldCarryTunnels(link) == could)
    }

    @Test func `a bridge could carry tunnels by its cable`() {
        let bridge = Link.up(1, "br0", kind: "bridge")
        #expect(LinkStack(bridge, .up(2, "eth0", portOf: 1)).couldCarryTunnels(bridge))
        #expect(!LinkStack(bridge, .up(2, "veth0", kind: "veth", portOf: 1)).couldCarryTunnels(bridge))
    }

    @Test func `PPP is an uplink by PPPoE, and a modem without`() {
        let ppp = Link.up(3, "ppp0", kind: "ppp")
        let dsl = LinkStack(Self.cable, ppp, pppoe: "eth0")
        #expect(dsl.class(of: 3) == .tunnel && dsl.carrierClass(of: 3) == .wired && !dsl.leadsIntoTunnel(3))
        let modem = LinkStack(Self.cable, ppp)
        #expect(modem.class(of: 3) == .wwan && modem.isMetered(3) && modem.leadsIntoTunnel(3))
        let policy = LinkPolicy(rules: [LinkPolicy.Rule(pattern: Glob("ppp0"), linkClass: .wwan)])
        #expect(!LinkStack(Self.cable, ppp, policy: policy).leadsIntoTunnel(3))
        let both = LinkStack(Self.cable, ppp, .up(4, "ppp1", kind: "ppp"), pppoe: "eth0")
        #expect(both.leadsIntoTunnel(3) && both.leadsIntoTunnel(4), "one session may be that of either")
    }

    // MARK: - Bridges

    @Test func `a bridge whose cable is out keeps its class and names the cable, though a container keeps it up`() {
        let container = Link.up(4, "veth1", kind: "veth", portOf: 5)
        let bridge = Link.up(5, "br0", kind: "bridge")
        let whole = LinkStack(.up(2, "eth0", portOf: 5), container, bridge).condition(of: 5)
        #expect(whole.traits.linkClass == .wired && whole.lower == ["eth0"] && whole.traits.brokenCarriers == [])
        let broken = LinkStack(Link.up(2, "eth0", portOf: 5).withoutCarrier, container, bridge).condition(of: 5)
        #expect(broken.traits.linkClass == .wired && broken.lower == ["eth0"] && broken.trouble == nil)
        #expect(broken.traits.brokenCarriers == ["eth0"])
        let vlan = LinkStack(
            Link.up(2, "eth0", portOf: 5).withoutCarrier, container, bridge, .up(6, "br0.9", kind: "vlan", on: 5))
        #expect(vlan.condition(of: 6).traits.brokenCarriers == ["eth0"])
    }

    @Test func `WireGuard sends what has no other peer to the peer that takes everything`() {
        func peer(_ text: String?, takesAll: Bool = false) -> WireGuardDevice.Peer {
            var peer = WireGuardDevice.Peer()
            peer.endpoint = text.flatMap { IPAddress($0) }
            peer.takesAll = takesAll
            return peer
        }
        var device = WireGuardDevice()
        device.peers = [peer("192.0.2.7"), peer("198.51.100.7", takesAll: true), peer(nil, takesAll: true)]
        #expect(device.farEnds.map(\.description) == ["198.51.100.7"])
        device.peers = [peer("192.0.2.7"), peer(nil), peer("192.0.2.7"), peer("2001:db8::7")]
        #expect(device.farEnds.map(\.description) == ["192.0.2.7", "2001:db8::7"])
    }

    @Test(
        arguments: [
            ([nil], .some(nil)), ([1_000], .seconds(1_000)), ([1_820], nil), ([1_819], .seconds(181)),
            ([nil, 1_900], nil),
            ([2_500], nil), ([], nil),
        ] as [([Int64?], Duration??)])
    func `far ends of WireGuard are silent once the keys of all have run out`(
        _ handshakes: [Int64?], _ since: Duration??
    ) {
        var device = WireGuardDevice()
        for (place, handshake) in handshakes.enumerated() {
            var peer = WireGuardDevice.Peer()
            peer.endpoint = IPAddress("203.0.113.\(place + 1)")
            peer.lastHandshake = handshake
            device.peers.append(peer)
        }
        device.peers.append(WireGuardDevice.Peer())
        let silence = device.silence(at: Timestamp(secondsSince1970: 2_000, nanoseconds: 0))
        #expect(silence.map(\.since) == since)
    }
}
