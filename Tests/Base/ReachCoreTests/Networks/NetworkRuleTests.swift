import ReachCore
import ReachTesting
import Testing

/// Networks by name, and why they are metered.
@Suite struct NetworkRuleTests {
    private static let key = NetworkKey(0..<16)
    private static let gateway = HardwareAddress("02:00:00:00:00:01")
    private static let otherGateway = HardwareAddress("02:00:00:00:00:02")

    private static func identity(
        ssid: String? = nil, bssid: String? = nil, gateways: [HardwareAddress?] = [], prefixes: [String] = []
    ) -> NetworkIdentity {
        var identity = NetworkIdentity()
        if ssid != nil || bssid != nil {
            identity.wireless = WirelessNetwork(
                ssid: ssid.flatMap { SSID($0) }, bssid: bssid.flatMap { HardwareAddress($0) })
        }
        identity.gateways = gateways.compactMap(\.self)
        identity.prefixes = prefixes.compactMap { IPPrefix($0) }
        return identity
    }

    private static func rule(_ name: String, _ change: (inout NetworkRule) -> Void) -> NetworkRule {
        var rule = NetworkRule(name: name)
        change(&rule)
        return rule
    }

    private static func traits(
        of identity: NetworkIdentity, _ rules: [NetworkRule] = [], key: NetworkKey? = nil, named name: String = "wlan0"
    ) -> PathTraits {
        let policy = LinkPolicy(networks: NetworkPolicy(rules: rules, key: key))
        return LinkStack(.up(1, name), policy: policy, networks: [1: identity]).condition(of: 1).traits
    }

    @Test func `a rule matches by each of its keys, and all of them must agree`() {
        let office = Self.rule("office") {
            $0.ssids = ["office", "office-5G"].compactMap { SSID($0) }
            $0.gateways = [Self.gateway].compactMap(\.self)
        }
        let here = Self.identity(ssid: "office-5G", gateways: [Self.otherGateway, Self.gateway])
        #expect(Self.traits(of: here, [office]).network == "office")
        #expect(Self.traits(of: Self.identity(ssid: "office"), [office]).network == nil, "the name alone")
        #expect(Self.traits(of: Self.identity(gateways: [Self.gateway]), [office]).network == nil, "the gateway alone")
        #expect(Self.traits(of: Self.identity(ssid: "Office", gateways: [Self.gateway]), [office]).network == nil)
    }

    @Test(arguments: [
        ("192.0.2.0/24", "192.0.2.0/24", true), ("192.0.0.0/16", "192.0.2.0/24", true),
        ("192.0.2.0/25", "192.0.2.0/24", false), ("198.51.100.0/24", "192.0.2.0/24", false),
        ("2001:db8::/32", "2001:db8:1::/64", true), ("0.0.0.0/0", "2001:db8::/64", false),
    ])
    func `a prefix matches the networks within it`(wanted: String, own: String, isMatch: Bool) {
        let rule = Self.rule("lan") { $0.prefixes = [wanted].compactMap { IPPrefix($0) } }
        #expect((Self.traits(of: Self.identity(prefixes: [own]), [rule]).network == "lan") == isMatch)
    }

    @Test func `the first matching rule names the network, and the first that says so decides whether it is metered`() {
        let first = Self.rule("first") { $0.bssids = [HardwareAddress("02:00:00:00:00:09")].compactMap(\.self) }
        let second = Self.rule("second") {
            $0.ssids = [SSID("cafe")].compactMap(\.self)
            $0.isMetered = true
            $0.isTrusted = true
        }
        let both = Self.traits(of: Self.identity(ssid: "cafe", bssid: "02:00:00:00:00:09"), [first, second])
        #expect(both.network == "first" && both.isMetered && both.meteredReason == .configuration)
        #expect(!both.isTrusted, "trust belongs to the name")
        let one = Self.traits(of: Self.identity(ssid: "cafe", bssid: "02:00:00:00:00:08"), [first, second])
        #expect(one.network == "second" && one.isTrusted)
        #expect(one.accessPoint?.description == "02:00:00:00:00:08")
    }

    @Test func `a network without a name has an identifier that needs the key`() throws {
        let home = Self.identity(ssid: "home", gateways: [Self.gateway])
        let identifier = try #require(Self.traits(of: home, key: Self.key).network)
        #expect(identifier.hasPrefix("net-") && identifier.count == 20 && NetworkRule.isName(identifier))
        #expect(!identifier.contains("home"))
        #expect(Self.traits(of: home).network == nil, "no key, no identifier")
        #expect(Self.traits(of: home, key: NetworkKey(1..<17)).network != identifier)
        let moved = Self.identity(ssid: "home", bssid: "02:00:00:00:00:07", gateways: [Self.otherGateway])
        #expect(Self.traits(of: moved, key: Self.key).network == identifier, "another router, the same name")
        #expect(Self.traits(of: Self.identity(ssid: "hom"), key: Self.key).network != identifier)
        let wired = Self.identity(gateways: [Self.gateway])
        #expect(Self.traits(of: wired, key: Self.key).network?.hasPrefix("net-") == true)
        #expect(Self.traits(of: Self.identity(prefixes: ["192.0.2.0/24"]), key: Self.key).network == nil)
        #expect(NetworkKey(0..<15) == nil && NetworkKey(0..<17) == nil)
    }

    @Test func `each reason for metered, and what outweighs it`() {
        let apple = Self.identity(prefixes: ["172.20.10.0/28"])
        var android = Self.identity(prefixes: ["192.168.43.0/24"])
        android.isAndroidHotspot = true
        #expect(Self.traits(of: apple).meteredReason == .appleHotspot && Self.traits(of: apple).isMetered)
        #expect(Self.traits(of: Self.identity(prefixes: ["172.20.10.0/24"])).meteredReason == nil)
        #expect(Self.traits(of: Self.identity(prefixes: ["172.20.10.16/28"])).meteredReason == nil)
        #expect(Self.traits(of: android).meteredReason == .androidHotspot)
        #expect(Self.traits(of: android, named: "wwan0").meteredReason == .wwan)
        #expect(
            Self.traits(of: apple, named: "veth0").meteredReason == nil, "a container's network may have any prefix")
        let free = Self.rule("phone") {
            $0.prefixes = [IPPrefix("172.20.10.0/28")].compactMap(\.self)
            $0.isMetered = false
        }
        #expect(Self.traits(of: apple, [free]).meteredReason == nil)
        #expect(Self.traits(of: apple, [free]).network == "phone")
        let policy = LinkPolicy(
            rules: [LinkPolicy.Rule(pattern: Glob("wlan*"), isMetered: true)], networks: NetworkPolicy(rules: [free]))
        let stack = LinkStack(.up(1, "wlan0"), policy: policy, networks: [1: apple])
        #expect(stack.meteredReason(of: 1) == .configuration, "a rule about the link outweighs one about its network")
    }

    @Test func `a bridge, a VLAN and a tunnel are in the network of the link that carries them`() {
        let rule = Self.rule("office") { $0.ssids = [SSID("office")].compactMap(\.self) }
        let policy = LinkPolicy(networks: NetworkPolicy(rules: [rule]))
        var android = Self.identity(ssid: "office", bssid: "02:00:00:00:00:07")
        android.isAndroidHotspot = true
        let stack = LinkStack(
            .up(1, "wlan0"), .up(2, "wlan0.5", kind: "vlan", on: 1), .up(3, "wg0", kind: "wireguard"), .up(4, "wg1"),
            policy: policy, underlay: [3: 2], networks: [1: android])
        for index: InterfaceIndex in 1...3 {
            let traits = stack.condition(of: index).traits
            let reason = index == 3 ? MeteredReason.carriedBy : .androidHotspot
            #expect(traits.network == "office" && traits.meteredReason == reason, "\(index)")
        }
        #expect(stack.condition(of: 4).traits.network == nil)
    }

    @Test func `what is known of a network behind a VLAN is its own first, and all of the link's below`() throws {
        var lower = Self.identity(
            ssid: "office", bssid: "02:00:00:00:00:07", gateways: [Self.gateway], prefixes: ["192.0.2.0/24"])
        lower.domains = [ProvisioningDomain("office.example")].compactMap(\.self)
        lower.isAndroidHotspot = true
        var own = Self.identity(gateways: [Self.otherGateway], prefixes: ["198.51.100.0/24"])
        own.domains = [ProvisioningDomain("lab.example")].compactMap(\.self)
        let links = [Link.up(1, "wlan0"), .up(2, "wlan0.5", kind: "vlan", on: 1)]
        let whole = LinkStack(of: links, networks: [1: lower, 2: own]).identity(of: 2)
        #expect(whole.wireless == lower.wireless && whole.isAndroidHotspot)
        #expect(whole.gateways == [Self.otherGateway, Self.gateway].compactMap(\.self))
        #expect(whole.prefixes.map(\.description) == ["198.51.100.0/24", "192.0.2.0/24"])
        #expect(whole.domains.map(\.description) == ["lab.example", "office.example"])
        own.wireless = WirelessNetwork(ssid: SSID("lab"), bssid: nil)
        #expect(LinkStack(of: links, networks: [1: lower, 2: own]).identity(of: 2).wireless == own.wireless)
        #expect(LinkStack(of: links, networks: [1: lower]).identity(of: 2) == lower)
    }

    @Test func `a link that cannot carry packets is in no network`() {
        let rule = Self.rule("office") { $0.ssids = [SSID("office")].compactMap(\.self) }
        let policy = LinkPolicy(networks: NetworkPolicy(rules: [rule]))
        let stack = LinkStack(
            .up(1, "wlan0").withoutCarrier, policy: policy, networks: [1: Self.identity(ssid: "office")])
        #expect(stack.condition(of: 1).traits.network == nil)
    }

    @Test func `a gateway's hardware address stays known until the link loses its carrier or gets another gateway`()
        throws
    {
        var table = NetworkTable()
        _ = table.apply(.link(.up(1, "eth0")))
        let (address, other) = (IPAddress(ipv4: 0xc000_0201), IPAddress(ipv4: 0xc000_02fe))
        let route = DefaultRoute.Key(family: .ipv4, interface: 1)
        var entry = Neighbour(key: Neighbour.Key(interface: 1, address: address), state: .reachable)
        entry.hardwareAddress = Self.gateway
        #expect(table.apply(.neighbour(entry)) == nil, "nobody sends by it")
        #expect(table.noteGateway(address, of: route, entry) == true)
        #expect(table.noteGateway(address, of: route, entry) == false)
        #expect(table.identity(of: 1).gateways == [Self.gateway])
        table.setNeighbour(entry.key, to: .reachable)
        let failed = Neighbour(key: entry.key, state: .failed)
        #expect(table.apply(.neighbour(failed))?.cause == .neighbour)
        #expect(table.identity(of: 1).gateways == [Self.gateway])
        table.setNeighbour(entry.key, to: .reachable)
        entry.hardwareAddress = Self.otherGateway
        #expect(table.apply(.neighbour(entry)) == NetworkTable.Effect(cause: .network, interface: 1), "taken over")
        #expect(table.identity(of: 1).gateways == [Self.otherGateway])
        #expect(table.noteGateway(other, of: route, nil) == true)
        #expect(table.identity(of: 1).gateways.isEmpty)
        _ = table.noteGateway(address, of: route, entry)
        #expect(table.gateways.keep([route]).isEmpty && !table.identity(of: 1).gateways.isEmpty)
        #expect(table.gateways.keep([]) == [1], "the default route is gone")
        #expect(table.identity(of: 1).gateways.isEmpty)
        _ = table.noteGateway(address, of: route, entry)
        for known in [entry.hardwareAddress, nil] {
            var fresh = NetworkTable()
            _ = fresh.apply(.link(.up(1, "eth0")))
            fresh.keepGateways(of: table) { _ in known }
            #expect(fresh.identity(of: 1).gateways == [known].compactMap(\.self), "read again")
        }
        _ = table.apply(.link(Link.up(1, "eth0").withoutCarrier))
        #expect(table.identity(of: 1).gateways.isEmpty)
    }
}
