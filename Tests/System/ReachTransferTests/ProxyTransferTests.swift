import ReachCore
import ReachTesting
import Testing

@testable import ReachTransfer

/// Transfers through proxies of HTTP and SOCKS5.
@Suite(.timeLimit(.minutes(1))) struct ProxyTransferTests {
    /// A server that keeps its connections, and counts them.
    private final class Target: Sendable {
        let server: ScriptedServer
        let connections = EventLog<Int>()

        init() throws {
            let connections = connections
            server = try ScriptedServer { connection in
                connections.append(1)
                while !connection.readRequest().isEmpty {
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                }
            }
        }

        var last: String { server.requests.values.last ?? "" }
    }

    private static func request(
        _ url: String, by proxy: TestProxy, _ scheme: String = "http", login: String = ""
    ) throws -> TransferRequest {
        var request = TransferRequest(url: try TransferURL(url))
        request.proxy = .explicit(try TransferURL(proxy: "\(scheme)://\(login)127.0.0.1:\(proxy.port)"))
        return request
    }

    private static let login = TestProxy.Login(user: "me@x", password: "s:3")
    private static let written = "me%40x:s%3A3@"

    @Test func `plain http goes to the proxy as a whole URL, with the proxy's credentials`() async throws {
        let target = try Target()
        let proxy = try TestProxy(.http, to: target.server.port, login: Self.login)
        let report = try await TransferStage().run(
            try Self.request("http://far.example/x?y", by: proxy, login: Self.written))
        #expect(report.response?.status == 200 && report.body == Array("ok".utf8))
        #expect(proxy.targets.values == ["http://far.example/x?y"])
        #expect(proxy.heads.values.first?.contains("\r\nHost: far.example\r\n") == true)
    }

    @Test(arguments: ["socks5h", "socks5"])
    func `SOCKS5 gets the name or an address, and its own credentials`(scheme: String) async throws {
        let target = try Target()
        let proxy = try TestProxy(.socks5, to: target.server.port, login: Self.login)
        let request = try Self.request("http://localhost:81/x", by: proxy, scheme, login: Self.written)
        #expect(try await TransferStage().run(request).response?.status == 200)
        let asked = proxy.targets.values.first ?? ""
        #expect(
            scheme == "socks5h" ? asked == "localhost:81" : ["127.0.0.1:81", "[::1]:81"].contains(asked), "\(asked)")
        #expect(target.last.hasPrefix("GET /x HTTP/1.1\r\nHost: localhost:81\r\n"))
        #expect(!target.last.lowercased().contains("proxy"))
    }

    @Test func `SOCKS5 gets given addresses and those of URLs`() async throws {
        let target = try Target()
        let proxy = try TestProxy(.socks5, to: target.server.port)
        let stage = try TransferStage()
        var given = try Self.request("http://far.example/", by: proxy, "socks5")
        given.addresses = [IPAddress("2001:db8::1"), IPAddress("192.0.2.7")].compactMap(\.self)
        #expect(try await stage.run(given).response?.status == 200)
        #expect(target.last.contains("\r\nHost: far.example\r\n"))
        for scheme in ["socks5", "socks5h"] {
            #expect(try await stage.run(try Self.request("http://192.0.2.9/", by: proxy, scheme)).failure == nil)
        }
        #expect(proxy.targets.values == ["[2001:db8::1]:80", "192.0.2.9:80", "192.0.2.9:80"])
    }

    // MARK: - Refusals

    @Test(arguments: [
        // Of the proxy, by http and https: the status, and the word of the failure.
        ("403 No", "-", "proxy-refused"), ("502 Bad Gateway", "-", "proxy-refused"),
        ("504 Late", "-", "proxy-refused"), ("301 Away", "-", "proxy-refused"),
        ("407 Who", "proxy-authentication", "proxy-authentication"),
    ])
    func `an HTTP proxy that refuses has words of its own`(status: String, plain: String, tunnel: String) async throws {
        let proxy = try TestProxy(.http, to: 1, refusal: status)
        let stage = try TransferStage()
        let reports = [
            try await stage.run(try Self.request("http://far.example/", by: proxy)),
            try await stage.run(try Self.request("https://far.example/", by: proxy)),
        ]
        // What a proxy answers to plain http may as well be the server's.
        #expect(reports.map { $0.failure?.reason.rawValue ?? "-" } == [plain, tunnel])
        #expect(reports[1].failure?.message.contains("127.0.0.1:\(proxy.port)") == true)
        #expect(proxy.targets.values.last == "far.example:443")
    }

    @Test(arguments: [("1", "proxy-refused"), ("2", "proxy-refused"), ("4", "proxy-refused"), ("5", "proxy-refused")])
    func `a SOCKS proxy that refuses has words of its own`(reply: String, word: String) async throws {
        let proxy = try TestProxy(.socks5, to: 1, refusal: reply)
        let report = try await TransferStage().run(try Self.request("http://far.example/", by: proxy, "socks5h"))
        #expect(report.failure?.reason.rawValue == word, "\(report.outcome)")
    }

    @Test(arguments: [TestProxy.Kind.http, .socks5], ["", "me:wrong@"])
    func `a proxy that wants other credentials has a word of its own`(
        kind: TestProxy.Kind, login: String
    ) async throws {
        let proxy = try TestProxy(kind, to: 1, login: Self.login)
        let scheme = kind == .http ? "http" : "socks5h"
        for url in ["http://far.example/", "https://far.example/"] {
            let report = try await TransferStage().run(try Self.request(url, by: proxy, scheme, login: login))
            #expect(report.failure?.reason == .proxyAuthentication, "\(url) \(report.outcome)")
            #expect(report.failure?.kind == .refused)
        }
    }

    @Test(arguments: ["http", "socks5h"], ["", "garbage\r\n\r\n"])
    func `a proxy that speaks something else, or hangs up, has a word of its own`(
        scheme: String, answer: String
    ) async throws {
        let proxy = try ScriptedServer { connection in
            _ = connection.read(3)
            connection.write(answer)
        }
        var request = TransferRequest(url: try TransferURL("https://far.example/"))
        request.proxy = .explicit(try TransferURL(proxy: "\(scheme)://127.0.0.1:\(proxy.port)"))
        let report = try await TransferStage().run(request)
        #expect(report.failure?.reason == .proxyFailed, "\(report.outcome)")
    }

    @Test(arguments: ["http", "socks5", "socks5h"])
    func `a proxy that is not there has a word of its own`(scheme: String) async throws {
        let port = try TestProgram.freePort()
        var request = TransferRequest(url: try TransferURL("http://192.0.2.1/"))
        request.proxy = .explicit(try TransferURL(proxy: "\(scheme)://127.0.0.1:\(port)"))
        let report = try await TransferStage().run(request)
        #expect(report.failure?.reason == .proxyFailed && report.failure?.kind == .destination, "\(report.outcome)")
    }

    // MARK: - Connections

    @Test func `connections are shared by requests with the same proxy and the same credentials only`() async throws {
        let target = try Target()
        let proxy = try TestProxy(.socks5, to: target.server.port)
        let other = try TestProxy(.socks5, to: target.server.port)
        let stage = try TransferStage()
        var reused: [Bool] = []
        for (proxy, login) in [
            (proxy, ""), (proxy, ""), (other, ""), (proxy, "me:1@"), (proxy, "me:1@"), (proxy, "me:2@"),
        ] {
            let report = try await stage.run(
                try Self.request("http://far.example/", by: proxy, "socks5h", login: login))
            reused.append(report.hops.first?.reusedConnection ?? false)
        }
        #expect(reused == [false, true, false, false, true, false])
        #expect(target.connections.values.count == 4)
    }

    @Test func `a transfer without a proxy uses no connection of one with a proxy`() async throws {
        let target = try Target()
        let proxy = try TestProxy(.socks5, to: target.server.port)
        let stage = try TransferStage()
        let url = "http://127.0.0.1:\(target.server.port)/"
        #expect(try await stage.run(try Self.request(url, by: proxy, "socks5h")).failure == nil)
        let direct = try await stage.run(TransferRequest(url: try TransferURL(url)))
        #expect(direct.failure == nil && direct.hops.first?.reusedConnection == false)
        #expect(proxy.targets.values.count == 1)
    }

    // MARK: - Names

    @Test(arguments: [
        ("http", ["resolve proxy.example", "attempt 192.0.2.1"]),
        ("socks5h", ["resolve proxy.example", "attempt 192.0.2.1"]),
        ("socks5", ["resolve far.example", "resolve proxy.example", "attempt 192.0.2.1"]),
    ])
    func `the proxy's name is resolved, and for socks5 the target's before it`(
        scheme: String, expected: [String]
    ) throws {
        var request = TransferRequest(url: try TransferURL("http://far.example/"))
        request.proxy = .explicit(try TransferURL(proxy: "\(scheme)://proxy.example:1"))
        var script = MachineScript(request)
        script.apply(.begin)
        if scheme == "socks5" { script.apply(.resolved(.success([IPAddress(ipv4: 0xc633_6401)]))) }
        script.apply(.resolved(.success([IPAddress(ipv4: 0xc000_0201)])))
        #expect(script.actions == expected)
        #expect(script.machine.targetAddress == (scheme == "socks5" ? IPAddress("198.51.100.1") : nil))
    }

    @Test(arguments: [("socks5", "name-not-found"), ("http", "proxy-failed")])
    func `a name that is not resolved is the target's or the proxy's`(scheme: String, word: String) throws {
        var request = TransferRequest(url: try TransferURL("http://far.example/"))
        request.proxy = .explicit(try TransferURL(proxy: "\(scheme)://proxy.example:1"))
        var script = MachineScript(request)
        script.apply(.begin)
        script.apply(.resolved(.failure(.notFound("none"))))
        #expect(script.actions.last == "end \(word)")
    }
}

/// https through proxies.
@Suite(
    .enabled(if: WebServer.isAvailable, "\(WebServer.whyNot)"),
    .enabled(if: CertificateAuthority.isAvailable, "\(CertificateAuthority.whyNot)"), .timeLimit(.minutes(1)))
struct ProxyTunnelTests {
    private final class Scene {
        let authority: CertificateAuthority
        let port: UInt16
        private let web: WebServer

        init() throws {
            authority = try CertificateAuthority()
            port = try TestProgram.freePort()
            let identity = try authority.issue("far", names: ["DNS:far.example"])
            web = try WebServer(
                """
                server { listen 127.0.0.1:\(port) ssl; ssl_certificate \(identity.certificatePath);
                ssl_certificate_key \(identity.keyPath);
                location / { return 200 "$http_authorization|$http_cookie|$http_proxy_authorization"; } }
                """, listensOn: [port])
        }

        func stage() throws -> TransferStage {
            var options = TransferEngine.Options()
            options.certificatesPath = authority.root.certificatePath
            return try TransferStage(options: options)
        }
    }

    @Test(arguments: ["http", "socks5h"])
    func `a tunnel carries the request's secrets to the target, and the proxy's to the proxy`(scheme: String)
        async throws
    {
        let scene = try Scene()
        let login = TestProxy.Login(user: "me", password: "secret")
        let proxy = try TestProxy(scheme == "http" ? .http : .socks5, to: scene.port, login: login)
        var request = TransferRequest(url: try TransferURL("https://far.example/"))
        request.headers = [HeaderField("Authorization", "Bearer mine"), HeaderField("X-Mine", "1")]
        request.cookies = "a=1"
        request.proxy = .explicit(try TransferURL(proxy: "\(scheme)://me:secret@127.0.0.1:\(proxy.port)"))
        let report = try await scene.stage().run(request)
        #expect(String(decoding: report.body, as: UTF8.self) == "Bearer mine|a=1|", "\(report.outcome)")
        #expect(proxy.targets.values == ["far.example:443"])
        let heads = proxy.heads.values.joined()
        #expect(!heads.contains("mine") && !heads.contains("Mine") && !heads.contains("a=1"))
    }

    @Test(arguments: ["http", "socks5h"])
    func `the target's certificate is judged through a proxy as without one`(scheme: String) async throws {
        let scene = try Scene()
        let proxy = try TestProxy(scheme == "http" ? .http : .socks5, to: scene.port)
        for (host, word) in [("far.example", "-"), ("other.example", "certificate-wrong-host")] {
            var request = TransferRequest(url: try TransferURL("https://\(host)/"))
            request.proxy = .explicit(try TransferURL(proxy: "\(scheme)://127.0.0.1:\(proxy.port)"))
            #expect(try await scene.stage().run(request).failure?.reason.rawValue ?? "-" == word)
        }
        var request = TransferRequest(url: try TransferURL("https://far.example/"))
        request.proxy = .explicit(try TransferURL(proxy: "\(scheme)://127.0.0.1:\(proxy.port)"))
        #expect(try await TransferStage().run(request).failure?.reason == .certificateUntrusted)
    }
}
