internal import Glibc
internal import ReachCore
internal import ReachKernel
internal import ReachProbe
internal import ReachTesting
internal import Testing

/// Is it the Internet? By real servers, a real router and what routers do to people.
@Suite(.enabled(if: SmallInternet.whyNot == nil, "\(SmallInternet.whyNot ?? "")"), .timeLimit(.minutes(2)))
struct ValidationTests {
    // peers 73, 82
    @Test func `an Internet that answers is full, in both families`() async throws {
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
    func `each kind of endpoint proves it`(endpoint: ConnectivityEndpoint?) async throws {
        let small = try SmallInternet()
        let validated = try await Validated.start(in: small, endpoints: [try #require(endpoint)])
        try await validated.wait(for: .full)
    }

    // N11, peers 73
    @Test func `a captive portal is one, with its page, until somebody has paid`() async throws {
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
        validated.hearAnswer()
        try await validated.wait(for: .full)
        #expect(validated.state?.portal == nil)
    }

    // peers 73: a page instead of a redirection
    @Test func `a portal's page in the place of ours is a portal`() async throws {
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

    // peers 76
    @Test func `names answered with private addresses are not the Internet, and no portal`() async throws {
        let small = try SmallInternet()
        try small.answerNames(["10.0.0.1", "fd00::1"])
        let validated = try await Validated.start(in: small)
        try await validated.wait(for: .limited)
        #expect(validated.changes.values.allSatisfy { $0.state.connectivity != .portal })
    }

    // peers 77
    @Test func `a name server that is silent is told within the time for a check`() async throws {
        let small = try SmallInternet()
        try small.goDark("udp dport 53")
        let start = ContinuousClock.now
        let validated = try await Validated.start(in: small)
        let told = try await validated.wait(for: .limited)
        #expect(told - start < .milliseconds(1500))
    }

    // N15
    @Test func `IPv6 that leads nowhere is told apart, and IPv4 gets through`() async throws {
        let small = try SmallInternet()
        try small.goDarkInIPv6()
        let validated = try await Validated.start(in: small)
        try await validated.wait(for: .full)
        try await validated.changes.wait { $0.state.ipv6.connectivity == .limited }
        #expect(validated.state?.connectivity == .full)
        #expect(validated.changes.values.allSatisfy { [.unknown, .full].contains($0.state.connectivity) })
    }

    // peers 75: what TLS proves
    @Test func `where HTTP gets through and HTTPS does not, it is limited`() async throws {
        let small = try SmallInternet()
        try small.goDark("tcp dport 443")
        let validated = try await Validated.start(in: small)
        try await validated.wait(for: .limited)
    }

    @Test func `an expired certificate says more of the endpoint than of the Internet`() async throws {
        let small = try SmallInternet(validity: .expired)
        let validated = try await Validated.start(in: small)
        try await validated.wait(for: .full)
        #expect(!validated.changes.values.contains { $0.state.connectivity == .limited })
    }

    // peers 80, issue 4: detection
    @Test func `an upstream that goes dark is told after one strike cycle, and its return when something is sent`()
        async throws
    {
        let small = try SmallInternet()
        let timeout = Duration.milliseconds(500)
        let validated = try await Validated.start(in: small, timeout: timeout)
        try await validated.changes.wait { $0.state.ipv4.connectivity == .full && $0.state.ipv6.connectivity == .full }
        try small.goDark()
        let begin = ContinuousClock.now
        // A check comes every five minutes, or when somebody has reason to doubt.
        validated.doubt()
        // Not sooner than five seconds after the first.
        let told = try await validated.wait(for: .limited, within: .seconds(20))
        // Three checks that time out, and 1 s and 2 s between them.
        let cycle = timeout * 3 + .seconds(3)
        #expect(told - begin < .seconds(5) + cycle + .milliseconds(1000))
        // It lasts: a look, of which there is one a second, has to see that nothing moves before something can begin.
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
        // The checks of its own become rarer, and looks have to see that nothing moves.
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

    // peers 83
    @Test func `a check asks for each name once in each family`() async throws {
        let small = try SmallInternet()
        try small.router.run("nft", "add table inet n; add chain inet n f { type filter hook forward priority 0; }")
        try small.router.run("nft", "add rule inet n f udp dport 53 counter")
        let validated = try await Validated.start(in: small)
        try await validated.changes.wait { $0.state.ipv4.connectivity == .full && $0.state.ipv6.connectivity == .full }
        #expect(try small.router.run("nft", "list", "table", "inet", "n").contains("packets 2 "))
    }

    // peers 81
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
        #expect(values[count].state.connectivity == .full, "IPv6 is as it was")
        try await validated.changes.wait { $0.state.ipv4.connectivity == .limited }
        // Back again: proved anew, not remembered.
        try small.comeBack()
        try small.machine.run("ip", "route", "replace", "default", "via", "192.0.2.1")
        try await validated.changes.wait {
            $0.state.ipv4.connectivity == .full && $0.state.ipv4.gateway == IPAddress("192.0.2.1") && $0.cause == .probe
        }
    }

    /// What is not reachable is asked too: nothing else would ever find out that the gateway is back.
    @Test func `checks are not held back by what they find out`() async throws {
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
        // Nobody sends anything but the checks.
        try await validated.changes.wait(within: .seconds(30)) { changes in
            changes.last?.state.status == .reachable && changes.last?.state.connectivity == .full
        }
    }

    @Test func `a link that goes takes its connectivity with it`() async throws {
        let small = try SmallInternet()
        let validated = try await Validated.start(in: small)
        try await validated.wait(for: .full)
        try small.machine.run("ip", "link", "set", "up0", "down")
        try await validated.wait(for: .none)
        #expect(validated.state?.status == .notReachable)
    }

    // peers 82, 83
    @Test func `another link is asked about for itself, unless the kernel would drop the answers`() async throws {
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

    @Test func `with a path that works nothing wakes up but for its own checks`() async throws {
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
