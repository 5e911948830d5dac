import Glibc
import ReachCore
import ReachTesting
import ReachTransfer
import Testing

/// Connections that the router between forgot: it drops their packets without a word, as a firewall does after its time
/// limit or its start.
@Suite(
    .enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"),
    .enabled(if: WebServer.isAvailable, "\(WebServer.whyNot)"),
    .enabled(if: TestProgram.path("nft") != nil, "nft is not installed"),
    .enabled(if: CertificateAuthority.isAvailable, "\(CertificateAuthority.whyNot)"), .timeLimit(.minutes(2)))
struct ForgottenConnectionTests {
    /// A machine, a router with nftables that knows a connection for a second after its last packet, and a server with
    /// HTTP/2 in TLS.
    private struct Scene {
        private let machine: TestNamespace
        private let router: TestNamespace
        private let servers: TestNamespace
        private let server: WebServer
        private let authority: CertificateAuthority
        let stage: TransferStage

        init() throws {
            machine = try TestNamespace()
            router = try machine.vethPair()
            servers = try TestNamespace()
            try router.run("ip", "link", "add", "rs", "type", "veth", "peer", "name", "sr", "netns", servers.name)
            try router.run("ip", "address", "add", "198.51.100.1/24", "dev", "rs")
            try router.run("ip", "link", "set", "rs", "up")
            try servers.run("ip", "address", "add", "198.51.100.2/24", "dev", "sr")
            try servers.run("ip", "link", "set", "sr", "up")
            try servers.run("ip", "route", "add", "default", "via", "198.51.100.1")
            try router.run(
                "sh", "-ec",
                """
                echo 1 > /proc/sys/net/ipv4/ip_forward
                nft add table inet f
                nft 'add chain inet f out { type filter hook forward priority 0; policy drop; }'
                nft add rule inet f out ct state established accept
                nft add rule inet f out ct state new tcp flags syn accept
                echo 0 > /proc/sys/net/netfilter/nf_conntrack_tcp_loose
                echo 1 > /proc/sys/net/netfilter/nf_conntrack_tcp_timeout_established
                """)
            authority = try CertificateAuthority()
            let identity = try authority.issue("far", names: ["IP:198.51.100.2"])
            server = try WebServer(
                """
                server { listen 80; listen 443 ssl http2; ssl_certificate \(identity.certificatePath);
                  ssl_certificate_key \(identity.keyPath); location / { return 200 ok; } }
                """, listensOn: [80, 443], in: servers)
            var options = TransferEngine.Options()
            options.certificatesPath = authority.root.certificatePath
            stage = try TransferStage(in: machine, options: options)
        }

        func remove() {
            machine.remove()
            servers.remove()
        }

        func awaitForgetting() throws {
            while try router.run("cat", "/proc/net/nf_conntrack").contains("ESTABLISHED") { usleep(100_000) }
        }

        func request(_ method: String, _ scheme: String) throws -> TransferRequest {
            var request = TransferRequest(method, url: try TransferURL("\(scheme)://198.51.100.2/"))
            if method == "POST" { request.headers.append(HeaderField("Idempotency-Key", "k")) }
            if method != "GET" { request.body = .bytes(Array("whole".utf8)) }
            return request
        }
    }

    @Test(arguments: ["http", "https"], ["GET", "PUT"])
    func `a request that may arrive twice leaves the connection long before the idle limit`(
        scheme: String, method: String
    ) async throws {
        let scene = try Scene()
        defer { scene.remove() }
        #expect(try await scene.stage.run(try scene.request("GET", scheme)).response?.status == 200)
        try scene.awaitForgetting()
        let requests = try (0..<3).map { _ in try scene.request(method, scheme) }
        let logs = requests.map { scene.stage.start($0) }
        for log in logs {
            let report = try await log.report(within: .seconds(30))
            #expect(report.failure == nil && report.response?.status == 200)
        }
        // No later request meets the dead connection.
        #expect(try await scene.stage.run(try scene.request("GET", scheme), within: .seconds(3)).failure == nil)
    }

    @Test(arguments: ["http", "https"])
    func `a request that may not arrive twice says that the connection is silent`(scheme: String) async throws {
        let scene = try Scene()
        defer { scene.remove() }
        #expect(try await scene.stage.run(try scene.request("GET", scheme)).response?.status == 200)
        try scene.awaitForgetting()
        let report = try await scene.stage.run(try scene.request("POST", scheme), within: .seconds(45))
        #expect(report.failure?.reason == .connectionSilent)
        #expect(try await scene.stage.run(try scene.request("POST", scheme), within: .seconds(3)).failure == nil)
    }

    @Test func `a server that is slow on a connection that was used before is waited for`() async throws {
        let server = try ScriptedServer { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            connection.readRequest()
            sleep(5)
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nslow")
        }
        let stage = try TransferStage()
        let request = try TransferRequest(port: server.port)
        #expect(try await stage.run(request).response?.status == 200)
        let report = try await stage.run(request)
        #expect(report.body == Array("slow".utf8) && report.hops.first?.reusedConnection == true)
    }
}
