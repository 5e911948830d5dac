import Foundation
import ReachCore
import ReachQueue
import ReachQueueRuntime
import ReachTesting
import ReachTransfer
import Testing

/// Requests, and who is at the other end of TLS.
@Suite(
    .enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"),
    .enabled(if: WebServer.isAvailable && CertificateAuthority.isAvailable, "nginx and openssl are needed"),
    .timeLimit(.minutes(2)))
struct CertificateTests {
    private static func block(_ port: Int, _ identity: CertificateAuthority.Identity, _ more: String = "") -> String {
        """
        server { listen 203.0.113.10:\(port) ssl; ssl_certificate \(identity.certificatePath);
          ssl_certificate_key \(identity.keyPath); \(more) location / { return 200 ok; } }
        """
    }

    @Test func `a certificate kills where the path works and waits where it does not, and old TLS is tried again`()
        async throws
    {
        let links = try TwoLinks(up: ["lan0"])
        let authority = try CertificateAuthority()
        let good = try authority.issue("good", names: ["IP:203.0.113.10"])
        // An expired one is judged by the clock, which not every machine that runs tests has set: see AttemptEndTests.
        let unknown = try authority.selfSigned("unknown", names: ["IP:203.0.113.10"])
        let other = try authority.issue("other", names: ["DNS:other.example"])
        let old = "ssl_protocols TLSv1; ssl_ciphers ALL:@SECLEVEL=0;"
        let web = try WebServer(
            Self.block(443, good) + Self.block(444, unknown) + Self.block(445, other) + Self.block(446, good, old),
            listensOn: [443, 444, 445, 446], in: links.internet)
        defer { withExtendedLifetime(web) {} }
        let works = EventLog<Bool>()
        let paths = PlayedPaths { !works.values.isEmpty }
        let room = try QueueRoom(in: links.machine, paths: paths) {
            $0.transfers.certificatesPath = authority.root.certificatePath
        }
        var ids: [Int: RequestID] = [:]
        for port in [443, 444, 445] { ids[port] = try await room.add("https://203.0.113.10:\(port)/") }
        try await room.wait(for: .done, of: ids[443])
        for port in [444, 445] {
            let retrying = try await room.wait(for: .retrying, of: ids[port])
            #expect(retrying.event.reason == "network", "\(port)")
        }
        works.append(true)
        for port in [444, 445] {
            // On a busy machine it has been tried several times by now, and the next try is far away.
            let dead = try await room.wait(for: .dead, of: ids[port], within: .seconds(80))
            #expect(dead.event.reason == "untrusted", "\(port)")
        }
        // What was found of the path just now holds for a while: this comes after it.
        ids[446] = try await room.add("https://203.0.113.10:446/")
        let retrying = try await room.wait(for: .retrying, of: ids[446])
        #expect(retrying.event.reason == "destination")
    }

    @Test func `a list of trusted certificates that cannot be read ends no request, which is sent when it can be`()
        async throws
    {
        let links = try TwoLinks(up: ["lan0"])
        let authority = try CertificateAuthority()
        let good = try authority.issue("good", names: ["IP:203.0.113.10"])
        let web = try WebServer(Self.block(443, good), listensOn: [443], in: links.internet)
        defer { withExtendedLifetime(web) {} }
        let directory = try TemporaryDirectory()
        let list = try directory.file("trusted.pem", "")
        let room = try QueueRoom(in: links.machine, paths: PlayedPaths { true }) {
            $0.transfers.certificatesPath = list
        }
        let id = try await room.add("https://203.0.113.10/")
        try await room.wait(for: .retrying, of: id)
        let root = try String(contentsOfFile: authority.root.certificatePath, encoding: .utf8)
        _ = try directory.file("trusted.pem", root)
        try await room.wait(for: .done, of: id)
    }

    @Test func `a wrong pin kills, whatever the path`() async throws {
        let links = try TwoLinks(up: ["lan0"])
        let authority = try CertificateAuthority()
        let good = try authority.issue("good", names: ["IP:203.0.113.10"])
        let web = try WebServer(Self.block(443, good), listensOn: [443], in: links.internet)
        defer { withExtendedLifetime(web) {} }
        let paths = PlayedPaths { false }
        let pins = SecurityPolicy.Pins.publicKeys([
            try #require(SecurityPolicy.Digest(bytes: [UInt8](repeating: 1, count: 32)))
        ])
        let security = try SecurityPolicy(pins: pins)
        let room = try QueueRoom(in: links.machine, paths: paths) {
            $0.transfers.certificatesPath = authority.root.certificatePath
            $0.attempts.security = security
        }
        let id = try await room.add("https://203.0.113.10/")
        #expect(try await room.wait(for: .dead, of: id).event.reason == "pin")
        #expect(paths.asked.values.isEmpty)
    }

    @Test func `no redirect is followed, wherever it leads`() async throws {
        let links = try TwoLinks(up: ["lan0"])
        let room = try QueueRoom(in: links.machine, paths: PlayedPaths { true })
        let server = try ScriptedServer(in: links.internet, at: TwoLinks.server, port: 80) { connection in
            connection.readRequest()
            connection.write(
                "HTTP/1.1 302 Away\r\nLocation: http://203.0.113.10/away\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            )
        }
        let id = try await room.add("http://203.0.113.10/here")
        let dead = try await room.wait(for: .dead, of: id)
        #expect(dead.event.reason == "refused" && dead.event.status == 302)
        #expect(server.requests.values.count == 1)
    }

    @Test func `an interface that does not exist is waited for, and no name is asked for meanwhile`() async throws {
        let links = try TwoLinks(up: ["lan0"])
        try links.machine.run("nft", "add table inet t; add chain inet t out { type filter hook output priority 0; }")
        try links.machine.run("nft", "add rule inet t out th dport 53 counter")
        let server = try #require(IPAddress("203.0.113.10"))
        let room = try QueueRoom(in: links.machine) {
            $0.transfers.resolver.configuration = ResolverConfiguration(servers: [.init(server)])
        }
        let id = try await room.add("http://host.example/", when: "interface=none0")
        try await room.wait(for: .waiting, of: id)
        #expect(await room.explain(id)?.reasons.map(\.blocker) == [.linkClass])
        func asked() throws -> String { try links.machine.run("nft", "list", "chain", "inet", "t", "out") }
        #expect(try asked().contains("packets 0 "))
        // Which is not because it does not count.
        try await room.wait(for: .started, of: try await room.add("http://other.example/"))
        let deadline = ContinuousClock.now + .seconds(10)
        while try asked().contains("packets 0 "), ContinuousClock.now < deadline { usleepSeconds(0.01) }
        #expect(try !asked().contains("packets 0 "))
        #expect(!room.kinds(of: id).contains(.started))
    }
}
