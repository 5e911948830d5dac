import CReachLinux
import Glibc
import ReachCore
import ReachLoop
import ReachTesting
import ReachTransfer
import Testing

/// Names of transfers with real name servers, in namespaces.
@Suite(
    .enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"),
    .enabled(if: NameServer.isAvailable, "\(NameServer.whyNot)"))
struct NameServiceTests {
    typealias Answer = Result<[IPAddress], NameFailure>

    private func stage(
        _ servers: [ResolverConfiguration.Server], in namespace: TestNamespace,
        _ change: (inout NameService.Options) -> Void = { _ in }
    ) throws -> TransferStage {
        var options = TransferEngine.Options()
        options.resolver.configuration = ResolverConfiguration(servers: servers)
        change(&options.resolver)
        return try TransferStage(in: namespace, options: options)
    }

    private func resolve(
        _ question: NameQuestion, on stage: TransferStage, within limit: Duration = .seconds(5)
    ) async throws -> Answer {
        let log = EventLog<Answer>()
        stage.perform { room in
            _ = room.engine.resolver.resolve(question, within: limit) { log.append($0) }
        }
        return try await log.wait(for: 1, within: limit + .seconds(5))[0]
    }

    @Test func `names have addresses of both families, or of the one asked for`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let server = try NameServer(
            [
                "--host-record=two.example,192.0.2.7,2001:db8::7", "--host-record=four.example,192.0.2.8",
                "--cname=alias.example,two.example", "--local=/example/",
            ], port: 53, in: namespace)
        defer { withExtendedLifetime(server) {} }
        let stage = try stage([.init("127.0.0.1")], in: namespace)
        #expect(try await resolve(NameQuestion("two.example"), on: stage) == .success(["2001:db8::7", "192.0.2.7"]))
        #expect(try await resolve(NameQuestion("TWO.example."), on: stage).map(\.count) == .success(2))
        #expect(try await resolve(NameQuestion("two.example", family: .ipv4), on: stage) == .success(["192.0.2.7"]))
        #expect(try await resolve(NameQuestion("four.example"), on: stage) == .success(["192.0.2.8"]))
        #expect(try await resolve(NameQuestion("alias.example"), on: stage).map(\.count) == .success(2))
        for question in [NameQuestion("none.example"), NameQuestion("four.example", family: .ipv6)] {
            guard case .failure(.notFound) = try await resolve(question, on: stage) else {
                Issue.record("\(question.host) should not be found")
                continue
            }
        }
        guard case .failure(.serverFailure) = try await resolve(NameQuestion("elsewhere.test"), on: stage) else {
            Issue.record("what is refused is a server's failure")
            return
        }
    }

    @Test func `an answer that does not fit into a datagram is fetched by TCP`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let records = (1...250).map { "--host-record=many.example,192.0.2.\($0)" }
        let server = try NameServer(records + ["--edns-packet-max=512"], port: 53, in: namespace)
        defer { withExtendedLifetime(server) {} }
        let stage = try stage([.init("127.0.0.1")], in: namespace)
        let answer = try await resolve(NameQuestion("many.example", family: .ipv4), on: stage)
        #expect(answer.map(\.count) == .success(16))
    }

    @Test func `an unreachable server is skipped immediately`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let server = try NameServer(
            (0...8).map { "--host-record=name\($0).example,192.0.2.\($0)" }, port: 53, in: namespace)
        defer { withExtendedLifetime(server) {} }
        // Nothing listens on 127.0.0.2, and there is no route to 192.0.2.1.
        let stage = try stage([.init("127.0.0.2", port: 54), .init("192.0.2.1"), .init("127.0.0.1")], in: namespace)
        var number = 0
        let duration = try await shortest(within: .milliseconds(500)) {
            let start = SystemClock.boot
            let answer = try await resolve(NameQuestion("name\(number).example", family: .ipv4), on: stage)
            #expect(answer == .success([IPAddress(ipv4: 0xc000_0200 + UInt32(number))]))
            number += 1
            return SystemClock.boot - start
        }
        #expect(duration < .milliseconds(500))
    }

    @Test func `where no server can be queried the system's error is reported`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let stage = try stage([.init("192.0.2.1")], in: namespace)
        let answer = try await resolve(NameQuestion("a.example"), on: stage)
        guard case .failure(.notAsked(_, let number)) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(number == ENETUNREACH)
        var request = TransferRequest(url: try TransferURL("http://a.example/"))
        request.connection = .fresh
        let report = try await stage.run(request)
        #expect(report.failure?.reason == .networkUnreachable)
        #expect(report.failure?.kind == .localNetwork)
    }

    @Test func `a cached name is not queried again before the next epoch`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let stage = try stage([.init("127.0.0.1")], in: namespace)
        var server: NameServer? = try NameServer(
            ["--host-record=a.example,192.0.2.7", "--local-ttl=100"], port: 53, in: namespace)
        let question = NameQuestion("a.example", family: .ipv4)
        #expect(try await resolve(question, on: stage) == .success(["192.0.2.7"]))
        withExtendedLifetime(server) {}
        server = nil
        #expect(try await resolve(question, on: stage) == .success(["192.0.2.7"]))
        _ = await stage.ask { $0.engine.newEpoch() }
        guard case .failure = try await resolve(question, on: stage) else {
            Issue.record("an answer of before was used")
            return
        }
    }

    @Test func `with a DNS that drops everything, all fail in time and nothing else waits`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let peer = try namespace.vethPair()
        try peer.run("nft", "add table inet t; add chain inet t c { type filter hook input priority 0; policy drop; }")
        let stage = try stage([.init("192.0.2.1"), .init("192.0.2.99")], in: namespace)
        var failures: [TransferFailure.Reason?] = []
        let duration = try await shortest(within: .milliseconds(1050)) {
            let start = SystemClock.boot
            let logs = try (0..<8).map { number in
                var request = TransferRequest(url: try TransferURL("http://probe\(number).example/"))
                request.timeouts.connect = .seconds(1)
                request.connection = .fresh
                return stage.start(request)
            }
            var last = start
            for log in logs {
                let report = try await log.report()
                failures.append(report.failure?.reason)
                last = max(last, try #require(report.hops.first?.phases.finished))
            }
            return last - start
        }
        #expect(failures.allSatisfy { $0 == .nameServerSilent })
        #expect(duration >= .seconds(1) && duration < .milliseconds(1050))
        // Another transfer meanwhile.
        let longest = try await shortest(within: .milliseconds(50)) {
            let watch = stage.watchLateness()
            var request = TransferRequest(url: try TransferURL("http://probe.example/"))
            request.timeouts.connect = .milliseconds(300)
            _ = try await stage.run(request)
            return watch.inLoop
        }
        #expect(longest < .milliseconds(50))
    }

    @Test func `each interface gets its own name server's answer, even where both have one address`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        var servers: [NameServer] = []
        var peers: [TestNamespace] = []
        for (interface, address) in [("one", "198.51.100.1"), ("two", "198.51.100.2")] {
            let peer = try TestNamespace()
            peers.append(peer)
            try namespace.run("ip", "link", "add", interface, "type", "veth", "peer", "name", "far", "netns", peer.name)
            try peer.run("ip", "address", "add", "192.0.2.1/24", "dev", "far")
            try peer.run("ip", "link", "set", "far", "up")
            try namespace.run("ip", "address", "add", "192.0.2.2/24", "dev", interface)
            try namespace.run("ip", "link", "set", interface, "up")
            servers.append(try NameServer(["--host-record=a.example,\(address)"], port: 53, in: peer))
        }
        defer { withExtendedLifetime(servers) { peers.forEach { $0.remove() } } }
        let stage = try stage([.init("192.0.2.1")], in: namespace)
        for (interface, address) in [("one", "198.51.100.1"), ("two", "198.51.100.2")] as [(String, IPAddress)] {
            let question = NameQuestion("a.example", family: .ipv4, interface: InterfaceBinding(name: interface))
            #expect(try await resolve(question, on: stage) == .success([address]), "\(interface)")
        }
    }

    @Test func `an interface that does not exist is refused, and no query leaves the machine`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let peer = try namespace.vethPair()
        try peer.run(
            "nft",
            "add table inet t; add chain inet t c { type filter hook prerouting priority 0; }; "
                + "add rule inet t c udp dport 53 counter")
        let stage = try stage([.init("192.0.2.1")], in: namespace)
        for url in ["http://a.example/", "http://192.0.2.1/"] {
            var request = TransferRequest(url: try TransferURL(url))
            request.interface = InterfaceBinding(name: "wlan7", index: 99)
            let report = try await stage.run(request)
            #expect(report.failure?.reason == .noDevice, "\(String(describing: report.failure))")
            #expect(report.failure?.kind == .localNetwork)
        }
        #expect(try peer.run("nft", "list ruleset").contains("counter packets 0 bytes 0"))
    }

    @Test func `a server at a link-local address is queried over its zone's link`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let peer = try namespace.vethPair()
        try peer.run("ip", "address", "add", "fe80::1/64", "dev", "up1", "nodad")
        try namespace.run("ip", "address", "add", "fe80::2/64", "dev", "up0", "nodad")
        let server = try NameServer(["--host-record=a.example,192.0.2.7"], port: 53, in: peer)
        defer { withExtendedLifetime(server) {} }
        // The first one has no link and cannot be queried, so the next one is.
        let stage = try stage([.init("fe80::1"), .init("fe80::1", zone: "up0")], in: namespace)
        for interface in [nil, InterfaceBinding(name: "up0")] {
            let question = NameQuestion("a.example", family: .ipv4, interface: interface)
            #expect(try await resolve(question, on: stage) == .success(["192.0.2.7"]))
        }
    }

    @Test func `a cancelled question is not answered`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let server = try NameServer(["--host-record=a.example,192.0.2.7"], port: 53, in: namespace)
        defer { withExtendedLifetime(server) {} }
        let stage = try stage([.init("127.0.0.1")], in: namespace)
        let log = EventLog<String>()
        stage.perform { room in
            let resolver = room.engine.resolver
            let first = resolver.resolve(NameQuestion("a.example"), within: .seconds(5)) { _ in log.append("cancelled")
            }
            _ = resolver.resolve(NameQuestion("a.example"), within: .seconds(5)) { _ in log.append("kept") }
            resolver.cancel(first)
        }
        #expect(try await log.wait(for: 1) == ["kept"])
    }
}
