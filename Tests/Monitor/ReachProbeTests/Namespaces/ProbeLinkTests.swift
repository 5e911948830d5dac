import ReachCore
import ReachProbe
import ReachTesting
import ReachTransfer
import Testing

/// Probes of a machine with two real links: `lan0` with the default route, and `lan1`. Both routers have all addresses,
/// so a packet that leaves by the wrong link would be answered.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(1)))
struct ProbeLinkTests {
    private let machine: TestNamespace
    private let routers: [TestNamespace]
    private let scene: RunnerScene
    private let files: TemporaryDirectory
    private static let kinds = ["icmp://%", "tcp://%:9", "http://%:9/", "dns://%/example.org"]

    init() throws {
        machine = try TestNamespace()
        routers = [try TestNamespace(), try TestNamespace()]
        for (number, prefix) in ["192.0.2", "203.0.113"].enumerated() {
            let (router, link) = (routers[number], "lan\(number)")
            try machine.run("ip", "link", "add", link, "type", "veth", "peer", "name", "far", "netns", router.name)
            try machine.run("ip", "link", "set", link, "addrgenmode", "none", "up")
            try machine.run("ip", "address", "add", prefix + ".2/24", "dev", link)
            try machine.run("ip", "address", "add", "fe80::2/64", "dev", link, "nodad")
            try router.run("ip", "link", "set", "far", "addrgenmode", "none", "up")
            try router.run("ip", "address", "add", prefix + ".1/24", "dev", "far")
            try router.run("ip", "address", "add", "fe80::1/64", "dev", "far", "nodad")
            for address in ["192.0.2.1/32", "203.0.113.1/32", "198.51.100.7/32"] {
                try router.run("ip", "address", "add", address, "dev", "lo")
            }
            try router.run("ip", "route", "add", "default", "dev", "far")
            // Answers to requests for neighbours come from any of its addresses.
            try machine.run("sh", "-c", "echo 0 2147483647 > /proc/sys/net/ipv4/ping_group_range")
        }
        try machine.run("ip", "route", "add", "default", "via", "192.0.2.1")
        try machine.run("ip", "route", "add", "prohibit", "203.0.113.9")
        try machine.run(
            "nft",
            """
            add table inet seen
            add chain inet seen out { type filter hook output priority 0; }
            add rule inet seen out oifname lan0 ip daddr 203.0.113.1 counter comment wrong
            add rule inet seen out oifname lan1 ip daddr 198.51.100.7 counter comment wrong
            add rule inet seen out oifname lan0 ip6 daddr fe80::1 counter comment wrong
            add rule inet seen out oifname lan1 ip6 daddr fe80::1 counter comment zone
            add rule inet seen out oifname lan1 ip daddr 203.0.113.1 counter comment own
            add rule inet seen out oifname lan0 ip daddr 198.51.100.7 counter comment default
            """.split(separator: "\n").joined(separator: "; "))
        files = try TemporaryDirectory()
        var options = NameService.Options()
        options.hostsPath = try files.file(
            "hosts", "203.0.113.1 near.test both.test\n198.51.100.7 far.test both.test\n203.0.113.9 forbidden.test\n")
        scene = try RunnerScene(in: machine, options)
    }

    /// The rules by which packets left.
    private func seen() throws -> Set<String> {
        let rules = try machine.run("nft", "list", "table", "inet", "seen").split(separator: "\n")
        return Set(
            rules.filter { $0.contains("counter") && !$0.contains("packets 0 ") }.compactMap {
                $0.split(separator: "\"").last.map(String.init)
            })
    }

    private func probe(
        _ target: String, _ condition: String, by interface: String? = "lan0", followsRoutes: Bool = true
    ) async throws -> ProbeResult {
        var specification = ProbeSpecification(name: "test", target: try ProbeTarget(target))
        // Each probe is answered or refused at once, on a machine that has time for it.
        specification.timeout = .seconds(10)
        specification.condition = try NetworkCondition(condition)
        let order = RunnerScene.Order(
            specification: specification, binding: interface.map { InterfaceBinding(name: $0) },
            followsRoutes: followsRoutes)
        return try #require(try await scene.run([order]).first)
    }

    @Test(arguments: Self.kinds)
    func `a name's address on the second link is sent to by that link alone`(kind: String) async throws {
        _ = try await probe(kind.replacing("%", with: "near.test"), "unmetered")
        #expect(try seen() == ["own"])
    }

    @Test(arguments: Self.kinds)
    func `of a name with addresses of both kinds each is sent to by its own way`(kind: String) async throws {
        _ = try await probe(kind.replacing("%", with: "both.test"), "unmetered")
        let ways = try seen()
        #expect(!ways.isEmpty && !ways.contains("wrong"), "\(ways)")
    }

    @Test(arguments: Self.kinds)
    func `an address whose own link the condition forbids is sent to by no link`(kind: String) async throws {
        let result = try await probe(kind.replacing("%", with: "near.test"), "wifi")
        #expect(try seen().isEmpty)
        #expect(result.outcome != .ok, "\(result)")
    }

    @Test(arguments: [("lan0", "wrong"), ("lan1", "zone")], Self.kinds)
    func `a link-local address is sent to by the link of its zone alone`(link: (String, String), kind: String)
        async throws
    {
        _ = try await probe(kind.replacing("%", with: "[fe80::1%25\(link.0)]"), "unmetered", by: link.0)
        #expect(try seen() == [link.1])
    }

    @Test(arguments: Self.kinds)
    func `without a binding the kernel's own refusal is reported`(kind: String) async throws {
        let target = kind.replacing("%", with: "forbidden.test")
        let plain = try await probe(target, "any", by: nil, followsRoutes: false)
        let result = try await probe(target, "any", by: nil)
        #expect(result.outcome == plain.outcome && result.detail == plain.detail, "\(result) \(plain)")
        #expect(plain.outcome != .ok)
    }
}
