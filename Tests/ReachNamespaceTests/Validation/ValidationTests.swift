internal import Glibc
internal import ReachCore
internal import ReachKernel
internal import ReachProbe
internal import ReachTesting
internal import Testing

/// Validation with real servers and a real router, and with the faults and portals of real networks.
@Suite(.enabled(if: SmallInternet.whyNot == nil, "\(SmallInternet.whyNot ?? "")"), .timeLimit(.minutes(2)))
struct ValidationTests {
    @Test func `an Internet that answers is full in both families`() async throws {
        let small = try SmallInternet()
        let validated = try await Validated.start(in: small)
        try await validated.wait(for: .full)
        try await validated.changes.wait { $0.state.ipv4.connectivity == .full && $0.state.ipv6.connectivity == .full }
        #expect(validated.changes.values.allSatisfy { [.unknown, .full].contains($0.state.connectivity) })
        #expect(validated.changes.values.dropFirst().allSatisfy { $0.aspects == [.connectivity] && $0.cause == .probe })
    }

    @Test(arguments: [
        ConnectivityEndpoint("http://check.example.net/text", expectation: .body(prefix: Array("it works".utf8))),
        ConnectivityEndpoint("http://check.example.net/text", expectation: .header(name: "server", value: nil)),
        ConnectivityEndpoint("http://198.51.100.80/204"), ConnectivityEndpoint("https://check.example.net/204"),
    ])
    func `each kind of endpoint can prove the Internet`(endpoint: ConnectivityEndpoint?) async throws {
        let small = try SmallInternet()
        let validated = try await Validated.start(in: small, endpoints: [try #require(endpoint)])
        try await validated.wait(for: .full)
    }

    @Test func `a captive portal is reported with its page until it opens`() async throws {
        let small = try SmallInternet()
        try small.openPortal()
        try small.goDarkInIPv6()
        let validated = try await Validated.start(in: small)
        try await validated.wait(for: .portal)
        #expect(validated.state?.portal == SmallInternet.login)
        #expect(validated.state?.status == .reachable)
        try await validated.changes.wait { $0.state.ipv6.connectivity == .limited }
        #expect(validated.state?.connectivity == .portal)
        try small.closePortal()
        validated.noteAnswer()
        try await validated.wait(for: .full)
        #expect(validated.state?.portal == nil)
    }

    @Test func `a portal that sends its page instead of a redirection is detected`() async throws {
        let small = try SmallInternet()
        try small.openPortal("return 200 '<html>Please pay.</html>';")
        let endpoint = try #require(ConnectivityEndpoint(SmallInternet.plain))
        let validated = try await Validated.start(in: small, endpoints: [endpoint])
        try await validated.changes.wait { $0.state.ipv4.connectivity == .portal }
        // IPv6 gets through, so the Internet is there.
        try await validated.wait(for: .full)
        #expect(validated.state?.ipv4.connectivity == .portal)
        #expect(validated.state?.portal == nil)
    }

    @Test func `names answered with private addresses are neither the Internet nor a portal`() async throws {
        let small = try SmallInternet()
        try small.answerNames(["10.0.0.1", "fd00::1"])
        let validated = try await Validated.start(in: small)
        try await validated.wait(for: .limited)
        #expect(validated.changes.values.allSatisfy { $0.state.connectivity != .portal })
    }

    @Test func `a silent name server is reported within the time for a check`() async throws {
        let small = try SmallInternet()
        try small.goDark("udp dport 53")
        let start = ContinuousClock.now
        let validated = try await Validated.start(in: small)
        let reported = try await validated.wait(for: .limited)
        #expect(reported - start < .milliseconds(1500))
    }

    @Test func `broken IPv6 is reported separately while IPv4 gets through`() async throws {
        let small = try SmallInternet()
        try small.goDarkInIPv6()
        let validated = try await Validated.start(in: small)
        try await validated.wait(for: .full)
        try await validated.changes.wait { $0.state.ipv6.connectivity == .limited }
        #expect(validated.state?.connectivity == .full)
        #expect(validated.changes.values.allSatisfy { [.unknown, .full].contains($0.state.connectivity) })
    }

    @Test func `connectivity is limited if HTTP gets through but HTTPS does not`() async throws {
        let small = try SmallInternet()
        try small.goDark("tcp dport 443")
        let validated = try await Validated.start(in: small)
        try await validated.wait(for: .limited)
    }

    @Test func `an expired certificate does not count against the Internet`() async throws {
        let small = try SmallInternet(validity: .expired)
        let validated = try await Validated.start(in: small)
        try await validated.wait(for: .full)
        #expect(!validated.changes.values.contains { $0.state.connectivity == .limited })
    }

    @Test func `a silent upstream is reported after one strike cycle, and its return when another program sends data`()
        async throws
    {
        let small = try SmallInternet()
        let timeout = Duration.milliseconds(500)
        let validated = try await Validated.start(in: small, timeout: timeout)
        try await validated.changes.wait { $0.state.ipv4.connectivity == .full && $0.state.ipv6.connectivity == .full }
        try small.goDark()
        let begin = ContinuousClock.now
        // A check comes every five minutes, or after a doubt.
        validated.doubt()
        // It starts no sooner than five seconds after the first one.
        let reported = try await validated.wait(for: .limited, within: .seconds(20))
        // Three checks time out, with 1 s and 2 s between them.
        let cycle = timeout * 3 + .seconds(3)
        #expect(reported - begin < .seconds(5) + cycle + .milliseconds(1000))
        // Traffic is sampled once a second. A sample has to find none, before a later one can detect a beginning.
        try await Task.sleep(for: .milliseconds(2500))
        try small.comeBack()
        let connection = try await TCPConnection.make(
            from: small.machine, to: small.internet, "198.51.100.7", port: 5222)
        connection.talk()
        let sent = ContinuousClock.now
        let back = try await validated.wait(for: .full)
        #expect(back - sent < .seconds(2))
    }

    @Test func `a short connection after an outage is enough`() async throws {
        let small = try SmallInternet()
        try small.goDark()
        let validated = try await Validated.start(in: small)
        try await validated.wait(for: .limited)
        // Regular checks become rarer, and a traffic sample has to find none.
        try await Task.sleep(for: .milliseconds(4500))
        try small.comeBack()
        do {
            let connection = try await TCPConnection.make(
                from: small.machine, to: small.internet, "198.51.100.7", port: 5222)
            connection.talk()
            connection.part(farFirst: true)
        }
        let sent = ContinuousClock.now
        #expect(try await validated.wait(for: .full) - sent < .seconds(2))
    }

    @Test func `a check resolves each name once in each family`() async throws {
        let small = try SmallInternet()
        try small.router.run("nft", "add table inet n; add chain inet n f { type filter hook forward priority 0; }")
        try small.router.run("nft", "add rule inet n f udp dport 53 counter")
        let validated = try await Validated.start(in: small)
        try await validated.changes.wait { $0.state.ipv4.connectivity == .full && $0.state.ipv6.connectivity == .full }
        #expect(try small.router.run("nft", "list", "table", "inet", "n").contains("packets 2 "))
    }

    @Test func `another gateway is another network`() async throws {
        let small = try SmallInternet()
        let validated = try await Validated.start(in: small)
        try await validated.changes.wait { $0.state.ipv4.connectivity == .full && $0.state.ipv6.connectivity == .full }
        try small.router.run("ip", "address", "add", "192.0.2.3/24", "dev", "up1")
        try small.goDark("meta nfproto ipv4")
        let count = validated.changes.values.count
        try small.machine.run("ip", "route", "replace", "default", "via", "192.0.2.3")
        let values = try await validated.changes.wait(for: count + 1)
        #expect(values[count].aspects == [.path, .connectivity])
        #expect(values[count].state.ipv4.connectivity == .unknown)
        #expect(values[count].state.connectivity == .full, "IPv6 is unchanged")
        try await validated.changes.wait { $0.state.ipv4.connectivity == .limited }
        // With the first gateway back, earlier proof does not count: a new check is needed.
        try small.comeBack()
        try small.machine.run("ip", "route", "replace", "default", "via", "192.0.2.1")
        try await validated.changes.wait {
            $0.state.ipv4.connectivity == .full && $0.state.ipv4.gateway == IPAddress("192.0.2.1") && $0.cause == .probe
        }
    }

    /// Unreachable paths are checked too: otherwise nothing would detect that the gateway is back.
    @Test func `checks do not depend on the results of earlier checks`() async throws {
        let small = try SmallInternet()
        try small.machine.run("ip", "-6", "route", "del", "default")
        let validated = try await Validated.start(in: small)
        try await validated.wait(for: .full)
        try small.router.run("ip", "address", "del", "192.0.2.1/24", "dev", "up1")
        try small.machine.run("ip", "neigh", "flush", "dev", "up0")
        validated.doubt()
        try await validated.changes.wait(within: .seconds(20)) {
            $0.state.reason == .gatewayUnreachable && $0.state.connectivity == .none
        }
        try small.router.run("ip", "address", "add", "192.0.2.1/24", "dev", "up1")
        // Only the checks send packets.
        try await validated.changes.wait(within: .seconds(30)) { changes in
            changes.last?.state.status == .reachable && changes.last?.state.connectivity == .full
        }
    }

    @Test func `a link that goes down loses its connectivity`() async throws {
        let small = try SmallInternet()
        let validated = try await Validated.start(in: small)
        try await validated.wait(for: .full)
        try small.machine.run("ip", "link", "set", "up0", "down")
        try await validated.wait(for: .none)
        #expect(validated.state?.status == .notReachable)
    }

    @Test func `another link is checked too, unless the kernel would drop the answers`() async throws {
        let small = try SmallInternet()
        try small.machine.run(
            "ip", "link", "add", "second", "type", "veth", "peer", "name", "up2", "netns", small.router.name)
        for (namespace, link, address) in [
            (small.machine, "second", "192.0.2.130/25"), (small.router, "up2", "192.0.2.129/25"),
        ] {
            try namespace.run("ip", "link", "set", link, "up")
            try namespace.run("ip", "address", "add", address, "dev", link)
        }
        try small.machine.run("ip", "route", "add", "default", "via", "192.0.2.129", "dev", "second", "metric", "200")
        try small.machine.run("sysctl", "-qw", "net.ipv4.conf.all.rp_filter=0", "net.ipv4.conf.second.rp_filter=0")
        var options = EngineOptions()
        options.observer.policy.rules = [.init(pattern: Glob("second"), linkClass: .wired)]
        let target = try Target("interface:second")
        let loose = try await Validated.start(target, in: small, engineOptions: options)
        try await loose.wait(for: .full)
        #expect(loose.state?.ipv6.connectivity == Connectivity.none)
        try small.machine.run("sysctl", "-qw", "net.ipv4.conf.second.rp_filter=1")
        let strict = try await Validated.start(target, in: small, engineOptions: options)
        let main = try await Validated.start(in: small, engineOptions: options)
        try await main.wait(for: .full)
        #expect(strict.state?.connectivity == .unknown)
    }

    @Test func `a working path causes no wake-ups except for its checks`() async throws {
        let small = try SmallInternet()
        let validated = try await Validated.start(in: small)
        try await validated.changes.wait { $0.state.ipv4.connectivity == .full && $0.state.ipv6.connectivity == .full }
        // The gateway's neighbour entries settle, connections end.
        try await Task.sleep(for: .seconds(2))
        let before = validated.switches
        try await Task.sleep(for: .seconds(3))
        #expect(validated.switches - before <= 1)
    }
}
