import ReachCore
import ReachProbe
import ReachTesting
import ReachTransfer
import Testing

/// Attempts by icmp that send several requests.
@Suite struct EchoBurstTests {
    /// A namespace whose peer answers pings, but those that a rule drops.
    private func namespace(dropping rule: String? = nil) throws -> TestNamespace {
        let namespace = try TestNamespace()
        let peer = try namespace.vethPair()
        try namespace.run("sysctl", "-qw", "net.ipv4.ping_group_range=0 2147483647")
        guard let rule else { return namespace }
        try peer.run(
            "nft",
            "add table inet t; add chain inet t in { type filter hook input priority 0; }; add rule inet t in \(rule)")
        return namespace
    }

    @Test(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"))
    func `every fifth request is lost, and the others are measured`() async throws {
        let namespace = try namespace(dropping: "icmp type echo-request numgen inc mod 5 == 1 drop")
        defer { namespace.remove() }
        let scene = try RunnerScene(in: namespace)
        let result = try await scene.run("icmp://192.0.2.1") { $0.burst = 20 }
        #expect(result.outcome == .ok, "\(result)")
        let burst = try #require(result.burst)
        #expect(burst.sent == 20 && burst.lost == 4 && burst.lossShare == 0.2)
        let trips = try #require(burst.trips)
        #expect(trips.least <= trips.median && trips.median <= trips.percentile90 && trips.percentile90 <= trips.most)
        #expect(result.phases[.processing] == trips.median)
        #expect(result.duration == trips.median + (result.phases[.resolve] ?? .zero))
        let strict = try await scene.run("icmp://192.0.2.1") {
            $0.burst = 10
            $0.expected.lossPercent = 10
        }
        #expect(strict.outcome == .fail(.loss), "\(strict)")
        #expect(strict.detail == "2 of 10 requests were lost, expected 10 % or fewer")
    }

    @Test(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"))
    func `without any answer the attempt fails at its time limit, and without a host at once`() async throws {
        let namespace = try namespace(dropping: "meta l4proto { icmp, icmpv6 } drop")
        defer { namespace.remove() }
        let scene = try RunnerScene(in: namespace)
        let silent = try await scene.run("icmp://192.0.2.1", timeout: .milliseconds(900)) { $0.burst = 5 }
        #expect(silent.outcome == .fail(.timeout), "\(silent)")
        #expect(silent.burst == ProbeBurst(sent: 5, answers: []))
        #expect(silent.duration >= .milliseconds(850))
        let absent = try await scene.run("icmp://192.0.2.77", timeout: .seconds(8)) { $0.burst = 5 }
        #expect(absent.outcome == .fail(.unreachable) && absent.burst?.trips == nil, "\(absent)")
    }

    @Test(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"))
    func `the time limit ends a burst with the answers that came`() async throws {
        let namespace = try namespace()
        defer { namespace.remove() }
        let scene = try RunnerScene(in: namespace)
        let result = try await scene.run("icmp://[2001:db8::1]", timeout: .milliseconds(450)) { $0.burst = 50 }
        #expect(result.outcome == .ok, "\(result)")
        let burst = try #require(result.burst)
        #expect((2...5).contains(burst.sent) && burst.sent - burst.lost > 0, "\(burst)")
    }

    /// The first one has no way there, or is silent.
    @Test(
        .enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"),
        arguments: [("2001:db8:9::9", nil), ("2001:db8::1", "icmpv6 type echo-request drop")] as [(String, String?)])
    func `a burst goes to the second address where the first one does not answer`(first: String, rule: String?)
        async throws
    {
        let namespace = try namespace(dropping: rule)
        defer { namespace.remove() }
        try namespace.run("ip", "route", "add", "2001:db8:9::/64", "via", "2001:db8::1")
        let addresses = [first, "192.0.2.1"].compactMap { IPAddress($0) }
        var options = NameService.Options()
        options.configuration = ResolverConfiguration(servers: [], hosts: ["half.example": addresses])
        let scene = try RunnerScene(in: namespace, options)
        let result = try await scene.run("icmp://half.example") { $0.burst = 5 }
        #expect(result.outcome == .ok && result.address == addresses[1], "\(result)")
        #expect(result.burst?.sent == 5 && result.burst?.lost == 0, "\(result)")
    }

    @Test(arguments: [(nil, 1), (true, 1), (false, 20)] as [(Bool?, Int)])
    func `over a path that costs money, or may, an attempt sends one request`(isMetered: Bool?, count: Int) throws {
        let scene = try ControllerScene()
        var specification = try ControllerScene.specification("a", "icmp://192.0.2.1")
        specification.burst = 20
        var willing = try ControllerScene.specification("b", "icmp://192.0.2.1")
        (willing.burst, willing.burstsOnMetered) = (20, true)
        scene.controller.configure([specification, willing])
        if let isMetered {
            var state = try ControllerScene.state("192.0.2.1", .reachable)
            state.isMetered = isMetered
            try scene.send("192.0.2.1", state)
        }
        scene.run { Set(scene.attempts.map(\.name)).count == 2 }
        #expect(scene.attempts.first { $0.name == "a" }?.burst ?? 1 == count)
        #expect(scene.attempts.first { $0.name == "b" }?.burst == 20)
        scene.controller.stop()
    }
}
