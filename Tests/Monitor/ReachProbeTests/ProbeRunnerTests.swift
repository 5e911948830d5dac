import Glibc
import ReachCore
import ReachLoop
import ReachProbe
import ReachTesting
import ReachTransfer
import Testing

@Suite struct ProbeRunnerTests {
    // MARK: - HTTP, TCP, TLS

    @Test(.enabled(if: WebServer.isAvailable, "\(WebServer.whyNot)"))
    func `http is judged by status, header and body, against nginx`() async throws {
        let port = try TestProgram.freePort()
        let web = try WebServer(
            """
            server { listen 127.0.0.1:\(port);
              location /ok { add_header X-Health good; return 200 'all is well'; }
              location /gone { return 404; }
              location /move { return 302 /ok; } }
            """, listensOn: [port])
        defer { withExtendedLifetime(web) {} }
        let scene = try RunnerScene()
        let base = "http://127.0.0.1:\(port)"
        let good = try await scene.run(base + "/ok") {
            $0.expected.bodyContains = "is well"
            $0.expected.header = .init("x-health: good")
        }
        #expect(good.outcome == .ok)
        #expect(good.httpStatus == 200)
        #expect(good.address == IPAddress("127.0.0.1"))
        for phase in [ProbePhase.connect, .processing, .transfer] { #expect(good.phases[phase] != nil) }
        #expect(good.phases[.tls] == nil)
        #expect(good.phases.reached.reduce(.zero) { $0 + $1.duration } <= good.duration)
        #expect(try await scene.run(base + "/gone").outcome == .fail(.status))
        #expect(try await scene.run(base + "/ok") { $0.expected.bodyPrefix = "is" }.outcome == .fail(.body))
        #expect(try await scene.run(base + "/move").outcome == .fail(.status))
        #expect(try await scene.run(base + "/move") { $0.redirects = 1 }.outcome == .ok)
        #expect(try await scene.run("tcp://127.0.0.1:\(port)").outcome == .ok)
    }

    @Test func `server faults are reported with their failure words`() async throws {
        let cases: [(ScriptedServer.Script, ProbeFailure)] = [
            ({ $0.readRequest() }, .reset),
            (
                {
                    $0.readRequest(); $0.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
                }, .reset
            ),
            (
                {
                    $0.readRequest(); $0.write("no http at all\r\n\r\n")
                }, .protocolError
            ),
        ]
        let scene = try RunnerScene()
        for (script, failure) in cases {
            let server = try ScriptedServer(script)
            let result = try await scene.run("http://127.0.0.1:\(server.port)/")
            #expect(result.outcome == .fail(failure), "\(result)")
        }
        // No one listens, and the host says so at once: that is not a timeout.
        let closed = try TestProgram.freePort()
        for kind in ["http", "tcp", "tls"] {
            let result = try await scene.run("\(kind)://127.0.0.1:\(closed)")
            #expect(result.outcome == .fail(.refused))
        }
    }

    @Test(.enabled(if: WebServer.isAvailable && CertificateAuthority.isAvailable, "nginx and openssl are needed"))
    func `certificates: days left, expired, unknown issuer`() async throws {
        let authority = try CertificateAuthority()
        let good = try authority.issue("good", names: ["IP:127.0.0.1"])
        let expired = try authority.issue("expired", names: ["IP:127.0.0.1"], validity: .expired)
        let (goodPort, expiredPort) = (try TestProgram.freePort(), try TestProgram.freePort())
        func block(_ port: UInt16, _ identity: CertificateAuthority.Identity) -> String {
            """
            server { listen 127.0.0.1:\(port) ssl; ssl_certificate \(identity.certificatePath);
              ssl_certificate_key \(identity.keyPath); location / { return 204; } }
            """
        }
        let web = try WebServer(
            block(goodPort, good) + block(expiredPort, expired), listensOn: [goodPort, expiredPort])
        defer { withExtendedLifetime(web) {} }
        let scene = try RunnerScene()
        for kind in ["https", "tls"] {
            let untrusted = try await scene.run("\(kind)://127.0.0.1:\(goodPort)/")
            #expect(untrusted.outcome == .fail(.certificate), "\(untrusted)")
            let looked = try await scene.run("\(kind)://127.0.0.1:\(goodPort)/") { $0.acceptsAnyCertificate = true }
            #expect(looked.outcome == .ok, "\(looked)")
            #expect(looked.phases[.tls] != nil)
            #expect(try #require(looked.certificateDays) > 5000)
            let ending = try await scene.run("\(kind)://127.0.0.1:\(goodPort)/") {
                $0.acceptsAnyCertificate = true
                $0.expected.certificateDays = 36_500
            }
            #expect(ending.outcome == .fail(.certificateEnding))
            let old = try await scene.run("\(kind)://127.0.0.1:\(expiredPort)/")
            #expect(old.outcome == .fail(.certificate))
            #expect(try #require(old.certificateDays) < 0)
        }
    }

    // MARK: - DNS

    @Test(.enabled(if: NameServer.isAvailable, "\(NameServer.whyNot)"))
    func `dns is judged by code and records, against dnsmasq`() async throws {
        let port = try TestProgram.freePort()
        let names = try NameServer(
            [
                "--listen-address=127.0.0.1", "--bind-interfaces", "--host-record=web.example,192.0.2.80,2001:db8::80",
                "--mx-host=web.example,mail.example,10", "--txt-record=web.example,v=spf1,-all",
                "--srv-host=_sip._tcp.web.example,sip.example,5060,1,2", "--cname=alias.example,web.example",
                "--local=/example/",
            ], port: port)
        defer { withExtendedLifetime(names) {} }
        let scene = try RunnerScene()
        func ask(_ question: String, _ answers: [String] = []) async throws -> ProbeResult {
            try await scene.run("dns://127.0.0.1:\(port)/\(question)") { $0.expected.answers = answers }
        }
        let good = try await ask("web.example", ["192.0.2.80"])
        #expect(good.outcome == .ok, "\(good)")
        #expect(good.phases[.processing] != nil)
        #expect(try await ask("web.example?type=AAAA", ["2001:DB8::80"]).outcome == .ok)
        #expect(try await ask("web.example?type=MX", ["10 mail.example"]).outcome == .ok)
        #expect(try await ask("web.example?type=TXT", ["v=spf1-all"]).outcome == .ok)
        #expect(try await ask("_sip._tcp.web.example?type=SRV", ["1 2 5060 sip.example"]).outcome == .ok)
        #expect(try await ask("alias.example", ["192.0.2.80"]).outcome == .ok)
        #expect(try await ask("web.example", ["192.0.2.81"]).outcome == .fail(.answer))
        #expect(try await ask("none.example").outcome == .fail(.responseCode))
        let absent = try await scene.run("dns://127.0.0.1:\(port)/none.example") {
            $0.expected.responseCode = .noSuchName
        }
        #expect(absent.outcome == .ok)
        let silent = try TestProgram.freePort()
        #expect(try await scene.run("dns://127.0.0.1:\(silent)/web.example").outcome == .fail(.refused))
    }

    // MARK: - ICMP

    @Test(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"))
    func `icmp by ping sockets: answered, unanswered, without a path, not allowed`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        _ = try namespace.vethPair()
        try namespace.run("sysctl", "-qw", "net.ipv4.ping_group_range=0 2147483647")
        let scene = try RunnerScene(in: namespace)
        let good = try await scene.run("icmp://192.0.2.1")
        #expect(good.outcome == .ok, "\(good)")
        #expect(good.phases[.processing] != nil)
        #expect(try await scene.run("icmp://[2001:db8::1]").outcome == .ok)
        #expect(try await scene.run("icmp://[2001:db8:1::1]").outcome == .inconclusive(.noPath))
        #expect(try await scene.run("icmp://192.0.2.1", by: "up0").interface == "up0")
        #expect(try await scene.run("icmp://192.0.2.1", by: "none0").outcome == .inconclusive(.interface))
        #expect(try await scene.run("icmp://[2001:db8::1%25up0]").outcome == .ok)
        let elsewhere = try await scene.run("icmp://[2001:db8::1%25none0]")
        #expect(elsewhere.outcome == .inconclusive(.interface) && elsewhere.detail.contains("none0"), "\(elsewhere)")
        // No host has this address: ARP fails.
        #expect(try await scene.run("icmp://192.0.2.77").outcome == .fail(.unreachable))
        try namespace.run(
            "nft",
            "add table inet t; add chain inet t o { type filter hook output priority 0; }; "
                + "add rule inet t o icmp type echo-request drop")
        let dropped = try await scene.run("icmp://192.0.2.1")
        #expect(dropped.outcome == .inconclusive(.notPermitted) && dropped.detail.hasPrefix("send: "), "\(dropped)")
        try namespace.run("sysctl", "-qw", "net.ipv4.ping_group_range=1 0")
        let refused = try await scene.run("icmp://192.0.2.1")
        #expect(refused.outcome == .inconclusive(.notPermitted))
        #expect(refused.detail.contains("net.ipv4.ping_group_range"))
    }

    @Test(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"))
    func `a host that does not answer at its first address is pinged at the next one`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let peer = try namespace.vethPair()
        try namespace.run("sysctl", "-qw", "net.ipv4.ping_group_range=0 2147483647")
        try namespace.run("ip", "route", "add", "2001:db8:9::/64", "via", "2001:db8::1")
        try peer.run("ip", "route", "add", "blackhole", "2001:db8:9::/64")
        var options = NameService.Options()
        options.configuration = ResolverConfiguration(
            servers: [],
            hosts: [
                "silent.example": ["2001:db8:9::9", "192.0.2.1"].compactMap { IPAddress($0) },
                "lost.example": ["2001:db8:8::8", "192.0.2.1"].compactMap { IPAddress($0) },
            ])
        let scene = try RunnerScene(in: namespace, options)
        for name in ["silent.example", "lost.example"] {
            let result = try await scene.run("icmp://" + name)
            #expect(result.outcome == .ok && result.address == IPAddress("192.0.2.1"), "\(result)")
        }
    }

    @Test func `a name that stands for this machine is not tested where that is refused`() async throws {
        let local = [
            "127.0.0.1", "::1", "169.254.169.254", "0.0.0.0", "fe80::1", "::ffff:127.0.0.1", "::ffff:169.254.169.254",
            "64:ff9b::7f00:1", "2002:7f00:1::",
        ].compactMap { IPAddress($0) }
        var options = NameService.Options()
        options.configuration = ResolverConfiguration(servers: [], hosts: ["inside.example": local])
        let scene = try RunnerScene(options)
        for target in [
            "http://inside.example:9/", "tcp://inside.example:9", "icmp://inside.example", "dns://inside.example/a",
        ] {
            let result = try await scene.run(target) { $0.refusesLocalAddresses = true }
            #expect(result.outcome == .inconclusive(.noPath) && result.address == nil, "\(result)")
        }
        // An address that was named itself is meant.
        let named = try await scene.run("tcp://127.0.0.1:9") { $0.refusesLocalAddresses = true }
        #expect(named.outcome == .fail(.refused), "\(named)")
    }

    // MARK: - Families

    @Test(
        .enabled(
            if: TestNamespace.isAvailable && NameServer.isAvailable && WebServer.isAvailable,
            "namespaces, dnsmasq and nginx are needed"))
    func `a name with both families is tried in the requested one, or else in both until one works`()
        async throws
    {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let peer = try namespace.vethPair()
        let names = try NameServer(
            ["--host-record=web.example,192.0.2.1,2001:db8::1", "--local=/example/"], port: 53, in: peer)
        let web = try WebServer(
            "server { listen 80; listen [::]:80; location / { return 200 ok; } location /far { return 302 /a; } }",
            listensOn: [80], in: peer)
        defer { withExtendedLifetime((names, web)) {} }
        var options = NameService.Options()
        options.configuration = ResolverConfiguration(servers: [.init(try #require(IPAddress("192.0.2.1")))])
        let scene = try RunnerScene(in: namespace, options)
        let lateness = LoopLateness()
        scene.post { lateness.measure(on: $0) }
        for (family, address) in [(IPAddress.Family.ipv4, "192.0.2.1"), (.ipv6, "2001:db8::1")] {
            for target in ["http://web.example/", "tcp://web.example:80"] {
                let result = try await scene.run(target) { $0.family = family }
                #expect(result.outcome == .ok && result.address == IPAddress(address), "\(target) \(result)")
                // The phases cover the whole duration, except for short gaps.
                let sum = result.phases.reached.reduce(Duration.zero) { $0 + $1.duration }
                let gaps = result.duration - sum
                #expect(gaps >= .zero && gaps < .milliseconds(20) + lateness.total * 4, "\(result)")
            }
        }
        // Redirects are followed as far as allowed. Otherwise the redirect itself is the answer.
        #expect(try await scene.run("http://web.example/far") { $0.redirects = 1 }.httpStatus == 200)
        #expect(
            try await scene.run("http://web.example/far") { $0.expected.status = .init("302") ?? .success }.outcome
                == .ok)
        try peer.run("nft", "add table ip6 t; add chain ip6 t in { type filter hook input priority 0; }")
        try peer.run("nft", "add rule ip6 t in meta l4proto tcp drop")
        let other = try await scene.run("http://web.example/", timeout: .seconds(2))
        #expect(other.outcome == .ok && other.address == IPAddress("192.0.2.1"), "\(other)")
        #expect(
            try await scene.run("http://web.example/", timeout: .seconds(1)) { $0.family = .ipv6 }.outcome
                == .fail(.timeout))
    }

    // MARK: - Loss

    /// nft's random numbers decide which packets are lost, since netem may not be available.
    @Test(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"))
    func
        `with a tenth of all packets lost, 200 attempts never lead to down, and connect phases show resent packets`()
        async throws
    {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let peer = try namespace.vethPair()
        let server = try ScriptedServer(in: peer, at: try #require(IPAddress("192.0.2.1")), port: 9) { _ in }
        defer { withExtendedLifetime(server) {} }
        try peer.run("nft", "add table inet t; add chain inet t in { type filter hook input priority 0; }")
        try peer.run("nft", "add rule inet t in meta l4proto tcp numgen random mod 10 == 0 drop")
        try peer.run("nft", "add chain inet t out { type filter hook output priority 0; }")
        try peer.run("nft", "add rule inet t out meta l4proto tcp numgen random mod 10 == 0 drop")
        let scene = try RunnerScene(in: namespace)
        let orders = try (0..<200).map { number in
            var specification = ProbeSpecification(name: "p\(number)", target: try ProbeTarget("tcp://192.0.2.1:9"))
            specification.timeout = .seconds(5)
            return RunnerScene.Order(specification: specification, binding: nil)
        }
        let results = try await scene.run(orders, within: .seconds(20))
        var health = ProbeHealth()
        for result in results {
            _ = health.add(result.outcome)
            #expect(health.state == .up)
        }
        // One in five attempts loses the SYN or its answer. The kernel resends it after one second, and after two more.
        let slow = results.compactMap { $0.phases[.connect] }.filter { $0 >= .milliseconds(900) }
        #expect(slow.count >= 10, "\(slow)")
        #expect(slow.contains { $0 < .milliseconds(1800) }, "\(slow)")
        print("loss: \(results.count { $0.outcome != .ok }) of 200 failed, \(slow.count) connected late")
    }

    // MARK: - Time and interfaces

    @Test(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"))
    func
        `if all packets are dropped, an attempt of any kind ends at its timeout without blocking the loop`()
        async throws
    {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let peer = try namespace.vethPair()
        try namespace.run("sysctl", "-qw", "net.ipv4.ping_group_range=0 2147483647")
        try peer.run(
            "nft",
            "add table inet t; add chain inet t in { type filter hook input priority 0; }; "
                + "add rule inet t in meta l4proto { tcp, udp, icmp } drop"
        )
        let scene = try RunnerScene(in: namespace)
        let lateness = LoopLateness()
        scene.post { lateness.measure(on: $0) }
        let targets = [
            "http://192.0.2.1/", "tcp://192.0.2.1:9", "tls://192.0.2.1", "icmp://192.0.2.1", "dns://192.0.2.1/a.b",
        ]
        let orders = try targets.map { target in
            var specification = ProbeSpecification(name: target, target: try ProbeTarget(target))
            specification.timeout = .milliseconds(600)
            return RunnerScene.Order(specification: specification, binding: nil)
        }
        for result in try await scene.run(orders) {
            #expect(result.outcome == .fail(.timeout), "\(result)")
            #expect(result.duration >= .milliseconds(550), "\(result)")
            #expect(result.duration <= .milliseconds(650) + lateness.total * 4, "\(result)")
        }
        #expect(lateness.inLoop < .milliseconds(100))
    }

    @Test(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"))
    func `with a name server that drops everything, 8 probes with a timeout of 1 s all fail by 1.05 s`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let peer = try namespace.vethPair()
        try peer.run(
            "nft",
            "add table inet t; add chain inet t in { type filter hook input priority 0; }; "
                + "add rule inet t in udp dport 53 drop"
        )
        var options = NameService.Options()
        options.configuration = ResolverConfiguration(servers: [.init(try #require(IPAddress("192.0.2.1")))])
        let scene = try RunnerScene(in: namespace, options)
        let lateness = LoopLateness()
        scene.post { lateness.measure(on: $0) }
        let orders = try (0..<8).map { number in
            let url = number.isMultiple(of: 2) ? "http://web\(number).example/" : "icmp://host\(number).example"
            var specification = ProbeSpecification(name: "p\(number)", target: try ProbeTarget(url))
            specification.timeout = .seconds(1)
            return RunnerScene.Order(specification: specification, binding: nil)
        }
        for result in try await scene.run(orders) {
            #expect([.fail(.timeout), .fail(.nameNotResolved)].contains(result.outcome), "\(result)")
            #expect(result.duration < .milliseconds(1050) + lateness.total * 4, "\(result)")
        }
        #expect(lateness.inLoop < .milliseconds(100))
    }

    @Test(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"))
    func `an error of this machine proves nothing, for any kind of probe`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.run("sysctl", "-qw", "net.ipv4.ping_group_range=0 2147483647")
        let scene = try RunnerScene(in: namespace)
        for target in [
            "http://192.0.2.1/", "tcp://192.0.2.1:9", "tls://192.0.2.1", "icmp://192.0.2.1", "dns://192.0.2.1/a.b",
        ] {
            let result = try await scene.run(target)
            #expect(result.outcome == .inconclusive(.noPath), "\(target) \(result)")
            let absent = try await scene.run(target, by: "none0")
            #expect(absent.outcome == .inconclusive(.interface), "\(target) \(absent)")
        }
    }

    @Test(.enabled(if: TestNamespace.isAvailable && NameServer.isAvailable, "namespaces and dnsmasq are needed"))
    func `each probe uses the DNS answer of its own interface`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        // The same resolver address is behind both links: the answer shows which link the question used.
        let answers = try ["a": "192.0.2.7", "b": "192.0.2.8"].map { side, answer in
            let far = try TestNamespace()
            try namespace.run(
                "ip", "link", "add", "\(side)0", "type", "veth", "peer", "name", "\(side)1", "netns", far.name)
            try far.run("ip", "address", "add", "203.0.113.53/32", "dev", "lo")
            let net = side == "a" ? "198.51.100.0" : "198.51.100.128"
            let (near, other) = (net.dropLast(net.hasSuffix("128") ? 3 : 1), side == "a" ? 0 : 128)
            try far.run("ip", "address", "add", "\(near)\(other + 1)/25", "dev", "\(side)1")
            try far.run("ip", "link", "set", "\(side)1", "up")
            try namespace.run("ip", "address", "add", "\(near)\(other + 2)/25", "dev", "\(side)0")
            try namespace.run("ip", "link", "set", "\(side)0", "up")
            try namespace.run(
                "ip", "route", "add", "default", "via", "\(near)\(other + 1)", "dev", "\(side)0", "metric",
                side == "a" ? "10" : "20")
            let server = try NameServer(["--address=/web.example/\(answer)"], port: 53, in: far)
            try far.run("ip", "address", "add", answer + "/32", "dev", "lo")
            let web = try ScriptedServer(in: far, at: try #require(IPAddress(answer)), port: 9) { _ in }
            return (side, answer, far, server, web)
        }
        defer { for (_, _, far, _, _) in answers { far.remove() } }
        var options = NameService.Options()
        options.configuration = ResolverConfiguration(servers: [.init(try #require(IPAddress("203.0.113.53")))])
        let scene = try RunnerScene(in: namespace, options)
        for (side, answer, _, _, _) in answers {
            let result = try await scene.run("tcp://web.example:9", by: "\(side)0", timeout: .seconds(10)) {
                $0.family = .ipv4
            }
            #expect(result.outcome == .ok && result.address == IPAddress(answer), "\(side) \(result)")
            let asked = try await scene.run("dns:web.example", by: "\(side)0") { $0.expected.answers = [answer] }
            #expect(asked.outcome == .ok, "\(side) \(asked)")
        }
    }

    @Test func `a cancelled attempt never calls its completion`() async throws {
        let server = try ScriptedServer { connection in
            connection.readRequest()
            sleep(1)
        }
        let loop = try EventLoop()
        let runner = ProbeRunner(loop: loop, transfers: try TransferEngine(loop: loop))
        var isCompleted = false
        for target in [
            "http://127.0.0.1:\(server.port)/", "icmp://127.0.0.1", "dns://127.0.0.1:1/a.b", "tcp://127.0.0.1:1",
        ] {
            for delay in [0, 1, 5] {
                let specification = ProbeSpecification(name: "x", target: try ProbeTarget(target))
                let attempt = runner.start(ProbeTerms(specification), binding: nil) { _ in
                    isCompleted = delay > 0 ? isCompleted : true
                }
                if delay == 0 { attempt.cancel() }
                loop.schedule(at: SystemClock.boot + .milliseconds(delay)) { attempt.cancel() }
            }
        }
        loop.schedule(at: SystemClock.boot + .milliseconds(100)) { loop.stop() }
        loop.run()
        #expect(!isCompleted)
    }
}
