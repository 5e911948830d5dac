import ReachControl
import ReachCore
import ReachDaemon
import ReachKernel
import ReachProbe
import ReachTOML
import ReachTesting
import Testing

/// `[[network]]` tables, and conditions that name networks.
@Suite struct NetworkConfigurationTests {
    private static let example = """
        [[network]]
        name = "office"
        ssid = ["office", 'caf\\xc3\\xa9']
        gateway_mac = "00:00:5E:00:53:01"
        trusted = true
        [[network]]
        name = "hotspot"
        bssid = ["00:00:5e:00:53:02"]
        prefix = ["192.0.2.0/24", "2001:db8::/64"]
        pvd = "Phone.example.com"
        metered = true
        [hooks]
        when = "network=office, not network=hotspot"
        [[probe]]
        name = "intranet"
        target = "https://intranet.example/"
        when = "network=office"
        """

    @Test func `every key is read`() throws {
        let configuration = try Configuration.parse(Array(Self.example.utf8), file: "reach.toml")
        let rules = configuration.engineOptions.observer.policy.networks.rules
        #expect(rules.map(\.name) == ["office", "hotspot"])
        #expect(rules[0].ssids.map(\.description) == ["office", "café"] && rules[0].isTrusted)
        #expect(rules[0].gateways.map(\.description) == ["00:00:5e:00:53:01"] && rules[0].isMetered == nil)
        #expect(rules[1].bssids.count == 1 && rules[1].prefixes.count == 2 && rules[1].isMetered == true)
        #expect(!rules[1].isTrusted && rules[1].domains.map(\.description) == ["phone.example.com"])
        #expect(configuration.hooks.condition == (try NetworkCondition("network=office, not network=hotspot")))
        #expect(configuration.probeSpecifications.map(\.condition) == [try NetworkCondition("network=office")])
    }

    @Test func `a command without a daemon reads what the configuration says of paths`() throws {
        let text =
            Self.example + """

                [internet]
                anchors = ["198.51.100.1", "2001:db8::1"]
                mark = 0x20
                [hold]
                up = "2s"
                down = "7s"
                [targets]
                backup = "interface:eth9"
                [[interface]]
                match = "lte*"
                class = "wwan"
                metered = true
                past_tunnels = true
                """
        let configuration = try Configuration.parse(Array(text.utf8), file: "reach.toml")
        let policy = configuration.observationPolicy
        let line = try JSONReader.read(policy.line)
        #expect(ObservationPolicy(reading: line) == policy)
        #expect(policy.hold == configuration.engineOptions.holdDown && policy.hold.maximum == .seconds(70))
        #expect(policy.anchors?.count == 2 && policy.mark == 0x20 && policy.rules.first?.passesTunnels == true)
        let uplink = try Target("interface:eth9")
        #expect(policy.targets == [.init(name: "backup", target: uplink)])
        let plain = try Configuration.parse([], file: "reach.toml").observationPolicy
        let plainLine = try JSONReader.read(plain.line)
        #expect(plain.rules.isEmpty && plain.anchors == nil && ObservationPolicy(reading: plainLine) == plain)
    }

    @Test func `the effective configuration reads back the same`() throws {
        let read = try ReadConfiguration([("reach.toml", Array(Self.example.utf8))])
        let text = read.text
        let again = try Configuration.parse(Array(text.utf8), file: "again.toml")
        #expect(again == read.configuration)
    }

    @Test(arguments: [
        ("[[network]]\nssid = \"a\"", "reach.toml:1: network: name is missing"),
        ("[[network]]\nname = \"a\"\ntrusted = true", "reach.toml:1: network: nothing identifies the network"),
        (
            "[[network]]\nname = \"a b\"\nssid = \"a\"",
            "reach.toml:2: network.name: \"a b\" cannot be the name of a network"
        ),
        (
            "[[network]]\nname = \"net-1\"\nssid = \"a\"",
            "reach.toml:2: network.name: \"net-1\" looks like the identifier"
        ),
        ("[[network]]\nname = \"a\"\npvd = \"a..b\"", "reach.toml:3: network.pvd: \"a..b\" is not a domain name"),
        (
            "[[network]]\nname = \"a\"\nssid = \"\"",
            "reach.toml:3: network.ssid: \"\" cannot be the name of a Wi-Fi network"
        ),
        ("[[network]]\nname = \"a\"\nssid = '\\q'", "reach.toml:3: network.ssid"),
        (
            "[[network]]\nname = \"a\"\nbssid = \"00:00\"",
            "reach.toml:3: network.bssid: \"00:00\" is not a hardware address"
        ),
        (
            "[[network]]\nname = \"a\"\nprefix = [\"192.0.2.0\"]",
            "reach.toml:3: network.prefix: \"192.0.2.0\" is not a prefix"
        ),
        ("[[network]]\nname = \"a\"\nprefix = []", "reach.toml:3: network.prefix: the list has 0 elements"),
        ("[[network]]\nname = \"a\"\nsid = \"a\"", "reach.toml:3: network.sid: unknown key; did you mean 'ssid'?"),
        ("[[netwrk]]\nname = \"a\"", "; did you mean [[network]]?"),
        ("[hooks]\nwhen = \"wlan\"", "did you mean 'wifi'?"),
        ("[hooks]\nwhen = \"reachable\"", "reach.toml:2: hooks.when: \"reachable\" is about the target"),
        (
            "[[network]]\nname = \"office\"\nssid = \"a\"\n[hooks]\nwhen = \"network=offce\"",
            "reach.toml:5: hooks.when: no [[network]] is named 'offce'; did you mean 'office'?"
        ),
        (
            "[[probe]]\nname = \"p\"\ntarget = \"tcp://192.0.2.1:1\"\nwhen = \"not network=a\"",
            "reach.toml:4: probe.when: probe \"p\": no [[network]] is named 'a'"
        ),
        (
            "[[probe]]\nname = \"p\"\ntarget = \"tcp://192.0.2.1:1\"\nclass = \"wifi\"\nwhen = \"wired\"",
            "reach.toml:5: probe.when: interface or class is set, too"
        ),
    ])
    func `a mistake is reported with its file, line and key`(text: String, line: String) {
        let lines = Configuration.errors(in: text)
        #expect(lines.count == 1 && lines.first?.contains(line) == true, "\(lines)")
    }

    @Test func `an identifier of a network without a name may be asked for`() {
        #expect(Configuration.errors(in: "[hooks]\nwhen = \"network=net-0123456789abcdef\"").isEmpty)
    }

    @Test func `tables of a later file come first, since the first that matches decides`() throws {
        let table = { (name: String) in Array("[[network]]\nname = \"\(name)\"\nssid = \"a\"".utf8) }
        let read = try ReadConfiguration([("a.toml", table("one")), ("b.toml", table("two"))])
        #expect(read.configuration.networks.map(\.name) == ["two", "one"])
    }
}
