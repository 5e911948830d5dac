internal import Glibc
internal import ReachCore
internal import ReachKernel
internal import ReachLoop
internal import ReachProbe
internal import ReachTesting
internal import Testing

/// Validation of the Internet connection with real servers, a real router and the faults of real networks.
@Suite(.enabled(if: SmallInternet.whyNot == nil, "\(SmallInternet.whyNot ?? "")"), .timeLimit(.minutes(2)))
struct ValidationTests {
    @Test func `connectivity is full in both families when the endpoints answer`() async throws {
        let small = try SmallInternet()
        let validated = try await ValidatingEngine.start(in: small)
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
    func `each kind of endpoint proves full connectivity`(endpoint: ConnectivityEndpoint?) async throws {
        let small = try SmallInternet()
        let validated = try await ValidatingEngine.start(in: small, endpoints: [try #require(endpoint)])
        try await validated.wait(for: .full)
    }

    @Test func `a captive portal is reported with its page until it opens`() async throws {
        let small = try SmallInternet()
        try small.openPortal()
        try small.goDarkInIPv6()
        // Without the answer the next check would come too late.
        var rhythm = ValidationOptions()
        rhythm.firstRetry = .seconds(600)
        let validated = try await ValidatingEngine.start(in: small, rhythm: rhythm)
        try await validated.wait(for: .portal)
        #expect(validated.state?.portal == SmallInternet.login)
        #expect(validated.state?.status == .reachable)
        try await validated.changes.wait { $0.state.ipv6.connectivity == .limited }
        #expect(validated.state?.connectivity == .portal)
        try small.closePortal()
        validated.reportAnswer()
        try await validated.wait(for: .full)
        #expect(validated.state?.portal == nil)
    }

    @Test func `a page in place of the expected answer is a portal`() async throws {
        let small = try SmallInternet()
        try small.openPortal("return 200 '<html>Please pay.</html>';")
        let endpoint = try #require(ConnectivityEndpoint(SmallInternet.plain))
        let validated = try await ValidatingEngine.start(in: small, endpoints: [endpoint])
        try await validated.changes.wait { $0.state.ipv4.connectivity == .portal }
        // IPv6 works, so the Internet is reachable.
        try await validated.wait(for: .full)
        #expect(validated.state?.ipv4.connectivity == .portal)
        #expect(validated.state?.portal == nil)
    }

    @Test(arguments: [["10.0.0.1", "fd00::1"], ["192.0.2.1"]])
    func `name lookups that return private addresses, or the link's own, mean a portal`(addresses: [String])
        async throws
    {
        let small = try SmallInternet()
        try small.answerNames(addresses)
        let validated = try await ValidatingEngine.start(in: small)
        try await validated.wait(for: .portal)
        #expect(validated.state?.portal == SmallInternet.plain)
    }

    @Test func `name lookups that return no host's address mean limited connectivity, and no portal`() async throws {
        let small = try SmallInternet()
        try small.answerNames(["0.0.0.0", "::"])
        let validated = try await ValidatingEngine.start(in: small)
        try await validated.wait(for: .limited)
        #expect(validated.changes.values.allSatisfy { $0.state.connectivity != .portal })
    }

    @Test func `private addresses that stand for IPv4 hosts behind a NAT64 prove the Internet`() async throws {
        let small = try SmallInternet()
        try small.internet.run("ip", "address", "add", "fd64:9b::c633:6450/128", "dev", "lo", "nodad")
        try small.router.run("ip", "route", "add", "fd64:9b::/96", "via", "2001:db8:f::1")
        try small.answerNames(["fd64:9b::c633:6450"], others: ["--address=/ipv4only.arpa/fd64:9b::c000:aa"])
        let validated = try await ValidatingEngine.start(in: small)
        try await validated.changes.wait { $0.state.ipv6.connectivity == .full }
    }

    @Test func `a name server on another link is asked there, and the Internet is found by the default route`()
        async throws
    {
        let small = try SmallInternet()
        let container = try TestNamespace()
        defer { container.remove() }
        try small.machine.run(
            "ip", "link", "add", "bridge0", "type", "veth", "peer", "name", "eth0", "netns", container.name)
        for (namespace, link, address) in [
            (small.machine, "bridge0", "172.30.0.1/24"), (container, "eth0", "172.30.0.53/24"),
        ] {
            try namespace.run("ip", "address", "add", address, "dev", link)
            try namespace.run("ip", "link", "set", link, "up")
        }
        let server = try NameServer(["--address=/example.net/198.51.100.80"], port: 53, in: container)
        defer { withExtendedLifetime(server) {} }
        // Nothing answers names behind the default route.
        try small.goDark("udp dport 53")
        let validated = try await ValidatingEngine.start(in: small, nameServer: "172.30.0.53")
        try await validated.wait(for: .full)
        #expect(validated.changes.values.allSatisfy { $0.state.connectivity != .limited })
    }

    @Test func `where the kernel chooses another link that is proved, too, the Internet stays proved`() async throws {
        let small = try SmallInternet()
        try small.machine.run(
            "ip", "link", "add", "up2", "type", "veth", "peer", "name", "down2", "netns", small.router.name)
        for (namespace, link, address) in [
            (small.machine, "up2", "172.30.0.2/24"), (small.router, "down2", "172.30.0.1/24"),
        ] {
            try namespace.run("ip", "address", "add", address, "dev", link)
            try namespace.run("ip", "link", "set", link, "up")
        }
        try small.internet.run("ip", "route", "add", "172.30.0.0/24", "via", "203.0.113.2")
        try small.machine.run("ip", "route", "del", "default", "via", "192.0.2.1")
        for (gateway, metric) in [("192.0.2.1", "100"), ("172.30.0.1", "200")] {
            try small.machine.run("ip", "route", "add", "default", "via", gateway, "metric", metric)
        }
        let validated = try await ValidatingEngine.start(in: small)
        try await validated.wait(for: .full)
        let deadline = ContinuousClock.now + .seconds(10)
        while try await validated.ask({ $0.linkProofs(internet: nil)["up2"]?.connectivity }) != .full,
            ContinuousClock.now < deadline
        {
        }
        try small.machine.run("ip", "route", "add", "default", "via", "172.30.0.1", "metric", "50")
        try await validated.changes.wait { changes in
            let path = changes.last?.state.ipv4
            return path?.interface == "up2" && path?.connectivity == .full
        }
    }

    @Test func `what is proved of a link has its last check and its servers' time, which a sleep makes void`()
        async throws
    {
        let small = try SmallInternet()
        let validated = try await ValidatingEngine.start(in: small)
        try await validated.changes.wait { $0.state.ipv4.connectivity == .full && $0.state.ipv6.connectivity == .full }
        let proof = try #require(try await validated.ask { $0.linkProofs(internet: nil) }["up0"])
        let age = try #require(proof.checked).duration(to: SystemClock.now.wall)
        #expect(proof.connectivity == .full && proof.quality == nil && age >= .zero && age < .seconds(10))
        #expect(proof.roundTrip.map { $0 > .zero && $0 < .seconds(1) } == true)
        let checks = try await validated.ask { $0.lastChecks(of: .internet) }
        #expect(checks.count == 2 && checks.values.allSatisfy { $0.found == .full })
        try small.goDark()
        validated.restart()
        try await validated.wait(for: .limited, within: .seconds(20))
        let later = try #require(try await validated.ask { $0.linkProofs(internet: nil) }["up0"])
        #expect(later.connectivity == .limited && later.roundTrip == nil)
    }

    @Test func `a silent name server is reported within the time limit of a check`() async throws {
        let small = try SmallInternet()
        try small.goDark("udp dport 53")
        let start = ContinuousClock.now
        let validated = try await ValidatingEngine.start(in: small)
        let reported = try await validated.wait(for: .limited)
        #expect(reported - start < .milliseconds(1500))
    }

    @Test func `a check whose first queries are lost asks again in its time`() async throws {
        let small = try SmallInternet()
        // Two rounds of the queries for both families.
        try small.goDark("udp dport 53 numgen inc mod 1000 < 4")
        let validated = try await ValidatingEngine.start(in: small, timeout: .seconds(2))
        try await validated.wait(for: .full)
        #expect(validated.changes.values.allSatisfy { $0.state.connectivity != .limited })
    }

    @Test func `broken IPv6 is limited by itself, and connectivity stays full by IPv4`() async throws {
        let small = try SmallInternet()
        try small.goDarkInIPv6()
        let validated = try await ValidatingEngine.start(in: small)
        try await validated.wait(for: .full)
        try await validated.changes.wait { $0.state.ipv6.connectivity == .limited }
        #expect(validated.state?.connectivity == .full)
        #expect(validated.changes.values.allSatisfy { [.unknown, .full].contains($0.state.connectivity) })
    }

    @Test func `connectivity is limited where HTTP works and HTTPS does not`() async throws {
        let small = try SmallInternet()
        try small.goDark("tcp dport 443")
        let validated = try await ValidatingEngine.start(in: small)
        try await validated.wait(for: .limited)
    }

    @Test func `an expired certificate does not limit connectivity`() async throws {
        let small = try SmallInternet(validity: .expired)
        let validated = try await ValidatingEngine.start(in: small)
        try await validated.wait(for: .full)
        #expect(!validated.changes.values.contains { $0.state.connectivity == .limited })
    }

    @Test func `an outage is reported after one cycle of checks, and its end when traffic starts`()
        async throws
    {
        let small = try SmallInternet()
        let timeout = Duration.milliseconds(500)
        let validated = try await ValidatingEngine.start(in: small, timeout: timeout)
        try await validated.changes.wait { $0.state.ipv4.connectivity == .full && $0.state.ipv6.connectivity == .full }
        try small.goDark()
        let begin = ContinuousClock.now
        // A check runs every five minutes, or at once after a doubt.
        validated.doubt()
        // That check runs at the earliest five seconds after the first.
        let reported = try await validated.wait(for: .limited, within: .seconds(20))
        // Three checks time out, with 1 s and 2 s between them.
        let cycle = timeout * 3 + .seconds(3)
        #expect(reported - begin < .seconds(5) + cycle + .milliseconds(1000))
        // A survey of the sockets, once a second, has to find no traffic before it can detect that traffic starts.
        try await Task.sleep(for: .milliseconds(2500))
        try small.comeBack()
        let connection = try await TCPConnection.make(
            from: small.machine, to: small.internet, "198.51.100.7", port: 5222)
        connection.exchangeBytes()
        let sent = ContinuousClock.now
        let back = try await validated.wait(for: .full)
        #expect(back - sent < .seconds(2))
    }

    @Test func `a short connection after an outage is enough to detect its end`() async throws {
        let small = try SmallInternet()
        try small.goDark()
        let validated = try await ValidatingEngine.start(in: small)
        try await validated.wait(for: .limited)
        // The validator's own checks become rarer, and a survey of the sockets has to find no traffic.
        try await Task.sleep(for: .milliseconds(4500))
        try small.comeBack()
        do {
            let connection = try await TCPConnection.make(
                from: small.machine, to: small.internet, "198.51.100.7", port: 5222)
            connection.exchangeBytes()
            connection.shutDown(farFirst: true)
        }
        let sent = ContinuousClock.now
        #expect(try await validated.wait(for: .full) - sent < .seconds(2))
    }

    @Test func `a check looks up each name once in each family`() async throws {
        let small = try SmallInternet()
        try small.router.run("nft", "add table inet n; add chain inet n f { type filter hook forward priority 0; }")
        try small.router.run("nft", "add rule inet n f udp dport 53 counter")
        let validated = try await ValidatingEngine.start(in: small)
        try await validated.changes.wait { $0.state.ipv4.connectivity == .full && $0.state.ipv6.connectivity == .full }
        #expect(try small.router.run("nft", "list", "table", "inet", "n").contains("packets 2 "))
    }

    @Test func `another gateway is another network, which is validated again`() async throws {
        let small = try SmallInternet()
        let validated = try await ValidatingEngine.start(in: small)
        try await validated.changes.wait { $0.state.ipv4.connectivity == .full && $0.state.ipv6.connectivity == .full }
        try small.router.run("ip", "address", "add", "192.0.2.3/24", "dev", "up1")
        try small.goDark("meta nfproto ipv4")
        let count = validated.changes.values.count
        try small.machine.run("ip", "route", "replace", "default", "via", "192.0.2.3")
        let values = try await validated.changes.wait(for: count + 1)
        #expect(values[count].aspects == [.path, .connectivity])
        #expect(values[count].state.ipv4.connectivity == .unknown)
        #expect(values[count].state.connectivity == .full, "IPv6 has not changed")
        try await validated.changes.wait { $0.state.ipv4.connectivity == .limited }
        // With the first gateway, the path is validated again, and not remembered.
        try small.comeBack()
        try small.machine.run("ip", "route", "replace", "default", "via", "192.0.2.1")
        try await validated.changes.wait {
            $0.state.ipv4.connectivity == .full && $0.state.ipv4.gateway == IPAddress("192.0.2.1") && $0.cause == .probe
        }
    }

    /// Unreachable paths are checked too: nothing else would detect that the gateway works again.
    @Test func `checks continue after they find a failed gateway`() async throws {
        let small = try SmallInternet()
        try small.machine.run("ip", "-6", "route", "del", "default")
        let validated = try await ValidatingEngine.start(in: small)
        try await validated.wait(for: .full)
        try small.router.run("ip", "address", "del", "192.0.2.1/24", "dev", "up1")
        try small.machine.run("ip", "neigh", "flush", "dev", "up0")
        validated.doubt()
        try await validated.changes.wait(within: .seconds(20)) {
            $0.state.reason == .gatewayUnreachable && $0.state.connectivity == .none
        }
        try small.router.run("ip", "address", "add", "192.0.2.1/24", "dev", "up1")
        // Only the checks send anything.
        try await validated.changes.wait(within: .seconds(30)) { changes in
            changes.last?.state.status == .reachable && changes.last?.state.connectivity == .full
        }
    }

    @Test func `connectivity is none after its link goes down`() async throws {
        let small = try SmallInternet()
        let validated = try await ValidatingEngine.start(in: small)
        try await validated.wait(for: .full)
        try small.machine.run("ip", "link", "set", "up0", "down")
        try await validated.wait(for: .none)
        #expect(validated.state?.status == .notReachable)
    }

    @Test func `another link is validated separately, unless the kernel would drop the replies`() async throws {
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
        var options = ReachabilityEngine.Options()
        options.observer.policy.rules = [.init(pattern: Glob("second"), linkClass: .wired)]
        let target = try Target("interface:second")
        let loose = try await ValidatingEngine.start(target, in: small, engineOptions: options)
        try await loose.wait(for: .full)
        #expect(loose.state?.ipv6.connectivity == Connectivity.none)
        try small.machine.run("sysctl", "-qw", "net.ipv4.conf.second.rp_filter=1")
        let strict = try await ValidatingEngine.start(target, in: small, engineOptions: options)
        let main = try await ValidatingEngine.start(in: small, engineOptions: options)
        try await main.wait(for: .full)
        #expect(strict.state?.connectivity == .unknown)
    }

    @Test func `with a working path only checks wake the thread`() async throws {
        let small = try SmallInternet()
        let validated = try await ValidatingEngine.start(in: small)
        try await validated.changes.wait { $0.state.ipv4.connectivity == .full && $0.state.ipv6.connectivity == .full }
        // Wait until connections end. The kernel makes the gateway's entries stale when they have not been used for a
        // while; until then TCP's counters are read.
        try await Task.sleep(for: .seconds(1))
        for gateway in ["192.0.2.1", "2001:db8::1"] {
            try small.machine.run("ip", "neighbour", "change", gateway, "dev", "up0", "nud", "stale")
        }
        try await Task.sleep(for: .milliseconds(500))
        let before = validated.switches
        try await Task.sleep(for: .seconds(3))
        #expect(validated.switches - before <= 1)
    }
}
