import ReachCore
import ReachTesting
import ReachTransfer
import Testing

/// What a server may ask for in a handshake, with a certificate of a trusted root.
@Suite(
    .enabled(if: WebServer.isAvailable, "\(WebServer.whyNot)"),
    .enabled(if: CertificateAuthority.isAvailable, "\(CertificateAuthority.whyNot)"), .timeLimit(.minutes(1)))
struct HandshakeTests {
    private let authority: CertificateAuthority
    private let here = ["DNS:localhost", "IP:127.0.0.1"]

    init() throws { authority = try CertificateAuthority() }

    private func report(
        _ identity: CertificateAuthority.Identity, _ settings: String = "", host: String? = nil
    ) async throws -> TransferReport {
        let port = try TestProgram.freePort()
        let web = try WebServer(
            """
            server { listen 127.0.0.1:\(port) ssl; ssl_certificate \(identity.certificatePath);
            ssl_certificate_key \(identity.keyPath); \(settings) location / { return 200 "$ssl_protocol $ssl_curve"; } }
            """, listensOn: [port])
        defer { withExtendedLifetime(web) {} }
        let root = try #require(CertificateData(pem: authority.root.certificatePEM))
        var request = try TransferRequest(url: TransferURL("https://\(host ?? "127.0.0.1"):\(port)/"))
        request.addresses = [IPAddress(ipv4: 0x7f00_0001)]
        request.security = try SecurityPolicy(anchors: .only([root]))
        return try await TransferStage().run(request)
    }

    private func key(_ algorithm: String, _ options: String...) -> [String] {
        ["-algorithm", algorithm] + options.flatMap { ["-pkeyopt", $0] }
    }

    @Test func `a name of the subject is no name of a host`() async throws {
        for host in ["127.0.0.1", "localhost"] {
            let named = try await report(try authority.issue(host, names: []), host: host)
            #expect(named.failure?.reason == .certificateWrongHost, "\(named)")
            #expect(named.failure?.description == "the certificate is not for \(host)")
        }
        let other = try authority.issue("localhost", names: ["IP:127.0.0.1"])
        #expect(try await report(other).failure == nil)
        #expect(try await report(other, host: "localhost").failure?.reason == .certificateWrongHost)
        #expect(try await report(try authority.issue("usual", names: here), host: "localhost.").failure == nil)
    }

    @Test func `no key is agreed on in a finite field`() async throws {
        let directory = try TemporaryDirectory()
        let field = directory.path + "/dh.pem"
        try ChildProcess.run(
            ["openssl", "genpkey", "-genparam", "-out", field] + key("DH", "group:ffdhe2048"))
        let identity = try authority.issue("rsa", names: here, key("RSA", "rsa_keygen_bits:2048"))
        let settings = "ssl_protocols TLSv1.2; ssl_dhparam \(field); ssl_ciphers"
        #expect(try await report(identity, "\(settings) DHE;").failure?.reason == .tlsHandshake)
        #expect(try await report(identity, "\(settings) DHE:ECDHE;").failure == nil)
        let named = "ssl_protocols TLSv1.3; ssl_ecdh_curve ffdhe2048;"
        #expect(try await report(identity, named).failure?.reason == .tlsHandshake)
    }

    @Test(arguments: ["ssl_protocols TLSv1.2;", "ssl_protocols TLSv1.3;"])
    func `a certificate with a curve of its own is refused before OpenSSL reads it`(settings: String) async throws {
        let explicit = try authority.issue(
            "explicit", names: here, key("EC", "ec_paramgen_curve:P-256", "ec_param_enc:explicit"))
        let refused = try await report(explicit, settings)
        #expect(refused.failure?.reason == .certificateInvalid)
        #expect(refused.failure?.description == "127.0.0.1: a certificate's key is of a kind that is not read")
        #expect(try await report(try authority.issue("usual", names: here), settings).failure == nil)
    }
}
