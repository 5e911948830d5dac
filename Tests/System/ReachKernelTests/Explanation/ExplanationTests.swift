import ReachCore
import ReachTesting
import Testing

private typealias Scene = ExplanationScene

@Suite struct ExplanationTests {
    @Test(arguments: ExplanationRow.all)
    func `the explanation has the step`(_ row: ExplanationRow) {
        let explanation = row.scene.explanation
        let steps = explanation.ipv4.steps + explanation.ipv6.steps
        let candidates = steps.filter { $0.subject == row.subject }
        #expect(
            candidates.contains { $0.finding == row.finding && $0.text.contains(row.text) },
            "steps: \(steps.map(\.text))")
    }

    @Test func `a healthy path has these steps and no others`() {
        let scene = Scene.route().with { $0.neighbours = [RouteFixtures.gateway: .reachable] }
        #expect(
            scene.explanation.ipv4.steps.map { "\($0.finding) \($0.subject): \($0.text)" } == [
                "good target: 198.41.0.4 stands for the Internet.",
                "neutral rule: Rule 32766 (from all lookup main) sends this to table main.",
                "good route: The route `default via 192.0.2.1 dev eth0` in table main matches 198.41.0.4.",
                "good link: eth0 (wired) is up and has a carrier.",
                "good source: It is sent from 192.0.2.2, an address of eth0.",
                "good neighbour: The gateway 192.0.2.1 answered ARP a short while ago.",
                "good verdict: So IPv4 packets for the Internet leave by eth0 to 192.0.2.1. Not tested beyond the gateway.",
            ])
    }

    @Test(arguments: ExplanationRow.all)
    func `the last step is the verdict and agrees with the path`(_ row: ExplanationRow) {
        let explanation = row.scene.explanation
        for family in [explanation.ipv4, explanation.ipv6] where family.path.reason != .notAsked {
            #expect(family.steps.last?.subject == .verdict)
            #expect((family.steps.last?.finding == .good) == (family.path.status == .reachable))
        }
    }

    @Test(arguments: ExplanationRow.all)
    func `an unreachable path has a bad finding before the verdict`(_ row: ExplanationRow) {
        let explanation = row.scene.explanation
        for family in [explanation.ipv4, explanation.ipv6] where family.path.status == .notReachable {
            #expect(family.steps.dropLast().contains { $0.finding == .bad && $0.subject != .target })
        }
    }

    @Test func `tables and origins have their names, and boot is not shown, as in ip`() throws {
        for (origin, table, text) in [
            (16, 100, "`default via 192.0.2.1 dev eth0 proto dhcp` in table office"),
            (3, 7, "`default via 192.0.2.1 dev eth0` in table 7"),
            (99, 254, "`default via 192.0.2.1 dev eth0` in table main"),
        ] as [(UInt8, UInt32, String)] {
            let steps = Scene.route(table: table) { $0.matched?.origin = origin }.explanation.ipv4.steps
            #expect(steps.contains { $0.text.contains(text) }, "\(steps.map(\.text))")
        }
    }

    @Test func `the first step for a name is its resolution`() throws {
        let scene = try Scene.route().with {
            $0.target = try Target("www.example.org")
            $0.resolution = .addresses([RouteFixtures.anchor])
        }
        #expect(scene.explanation.ipv4.steps.first?.text == "www.example.org resolves to 198.41.0.4.")
        #expect(scene.explanation.ipv6.steps.map(\.subject) == [.name])
    }

    @Test func `a name without addresses has the same steps in both families`() throws {
        let scene = try Scene().with {
            $0.target = try Target("www.example.org")
            $0.resolution = .noAddress
        }
        #expect(scene.explanation.ipv4.steps == scene.explanation.ipv6.steps)
        #expect(scene.explanation.ipv4.steps.map(\.finding) == [.bad, .bad])
    }

    @Test func `the first step for a prefix names the address that represents it`() throws {
        let scene = try Scene.route().with { $0.target = try Target("198.41.0.0/24") }
        #expect(scene.explanation.ipv4.steps.first?.text == "198.41.0.1, its first host, stands for 198.41.0.0/24.")
    }

    @Test func `the loopback device is no link that anybody has to look at`() {
        let scene = Scene.route(by: 1, via: nil, from: "127.0.0.1", to: IPAddress(ipv4: 0x7f00_0001))
        #expect(!scene.explanation.ipv4.steps.map(\.subject).contains(.link))
    }

    @Test func `each link below is listed once, and so is a broken one that carries nothing`() {
        func lower(_ change: (inout ExplanationScene) -> Void) -> [String] {
            Scene.route(by: 3, change).explanation.ipv4.steps.filter { $0.subject == .lower }.map(\.text)
        }
        let vlan = lower {
            $0.links[1] = $0.links[1].withoutCarrier
            $0.links.append(.up(3, "eth0.10", kind: "vlan", on: 2).withoutCarrier)
        }
        #expect(vlan.count == 1)
        #expect(vlan.first?.hasSuffix("eth0.10 can carry nothing while that lasts.") == true)
        let bridge = lower {
            $0.links.append(.up(3, "docker0", kind: "bridge"))
            $0.links.append(Link.up(4, "veth1", kind: "veth", portOf: 3).withoutCarrier)
        }
        #expect(
            bridge == [
                "What carries docker0: veth1 (virtual) has no carrier: its other end is down. docker0 can carry nothing "
                    + "while that lasts."
            ])
    }

    @Test(
        arguments: [
            (Link.up(2, "veth0", kind: "veth"), "its other end is down"),
            (.up(2, "br0", kind: "bridge"), "none of its ports has one"),
            (.up(2, "tun0", kind: "tun"), "no program holds its other side"),
            (.up(2, "eth0"), "the cable or the other end is down"),
            (.up(2, "wlan0"), "it is connected to no access point"),
            (.up(2, "wwan0"), "the modem has no data connection"),
            (.up(2, "dummy0", kind: "dummy"), "there is nothing at its other end"),
            (.up(2, "eth1.5", kind: "vlan", on: 4), "what carries it has none"),
        ] as [(Link, String)])
    func `what it means to have no carrier depends on the link`(link: Link, meaning: String) {
        let scene = Scene.route { $0.links = [.up(4, "eth1"), link.withoutCarrier] }
        let texts = scene.explanation.ipv4.steps.filter { $0.subject == .link }.map(\.text)
        #expect(texts.contains { $0.contains("has no carrier: \(meaning).") }, "\(texts)")
    }

    @Test func `an interface is explained without a route`() throws {
        let scene = try Scene().with { $0.target = try Target("interface:eth0") }
        #expect(scene.explanation.ipv4.steps.map(\.subject) == [.link, .source, .verdict])
        #expect(scene.explanation.ipv4.steps.last?.text == "So eth0 can carry IPv4 packets.")
    }

    @Test(
        arguments: [
            (nil, "Not tested beyond the gateway."), (.unknown, "Not tested beyond the gateway."),
            (.full, "The Internet answers over this path."),
            (.portal, "A captive portal asks for a login before it lets packets pass."),
            (.limited, "The Internet does not answer over this path."),
            (Connectivity.none, "No probe could be sent over this path."),
        ] as [(Connectivity?, String)])
    func `the verdict says what probes have proved beyond the gateway`(proved: Connectivity?, sentence: String) {
        let scene = Scene.route().with { $0.proved = proved.map { ConnectivityReport(ipv4: $0) } }
        #expect(
            scene.explanation.ipv4.steps.last?.text
                == "So IPv4 packets for the Internet leave by eth0 to 192.0.2.1. " + sentence)
    }

    @Test func `the daemon's last check says what was silent`() {
        let now = BootTime(nanoseconds: 100_000_000_000)
        let scene = Scene.route().with {
            $0.proved = ConnectivityReport(ipv4: .limited)
            let silence = SilenceEvidence(transmissions: 9, destinations: 3, duration: .seconds(3), handshakes: 24)
            $0.checks = [.ipv4: ConnectivityCheck(found: .limited, at: now + .seconds(-4), silence: silence)]
            $0.now = now
        }
        let text = scene.explanation.ipv4.steps.last?.text ?? ""
        let sentence =
            "reachd's last check: limited, 4.0 s ago: for 3.0 s nothing answered 9 transmissions of TCP to 3 addresses and 24 "
            + "attempts to connect to endpoints."
        #expect(text.contains(sentence), "\(text)")
    }

    @Test func `the verdict ends with the daemon's last check`() {
        let now = BootTime(nanoseconds: 100_000_000_000)
        let scene = Scene.route().with {
            $0.proved = ConnectivityReport(ipv4: .unknown)
            $0.checks = [.ipv4: ConnectivityCheck(found: .limited, at: now + .seconds(-40))]
            $0.now = now
        }
        #expect(
            scene.explanation.ipv4.steps.last?.text.hasSuffix(
                "Not tested beyond the gateway. reachd's last check: limited, 40 s ago.") == true)
    }

    @Test func `without a gateway the verdict adds only what probes have proved`() {
        let scene = Scene.route(via: nil)
        let text = "So IPv4 packets for the Internet leave by eth0, without a gateway."
        #expect(scene.explanation.ipv4.steps.last?.text == text)
        let proved = scene.with { $0.proved = ConnectivityReport(ipv4: .full) }
        #expect(proved.explanation.ipv4.steps.last?.text == text + " The Internet answers over this path.")
    }
}
