import ReachCore
import ReachSession
import ReachTesting
import Testing

/// Policies of trust under AFSecurityPolicy's names, against a real TLS server. The evaluation itself is tested with
/// `ReachTransfer`.
@Suite(
    .enabled(if: WebServer.isAvailable, "\(WebServer.whyNot)"),
    .enabled(if: CertificateAuthority.isAvailable, "\(CertificateAuthority.whyNot)"), .timeLimit(.minutes(1)))
struct TrustTests {
    private final class Scene {
        let authority: CertificateAuthority
        let client: CertificateAuthority.Identity
        let expiredPort: UInt16
        let good: CertificateAuthority.Identity
        let port: UInt16
        let strictPort: UInt16
        private let web: WebServer

        init() throws {
            authority = try CertificateAuthority()
            good = try authority.issue("good", names: ["DNS:localhost", "IP:127.0.0.1"])
            client = try authority.issue("client", names: ["DNS:client.example"])
            let expired = try authority.issue("expired", names: ["IP:127.0.0.1"], validity: .expired)
            (port, strictPort) = (try TestProgram.freePort(), try TestProgram.freePort())
            expiredPort = try TestProgram.freePort()
            let identity = "ssl_certificate \(good.certificatePath); ssl_certificate_key \(good.keyPath);"
            let answer = "location / { default_type application/json; return 200 '{}'; }"
            web = try WebServer(
                """
                server { listen 127.0.0.1:\(port) ssl; \(identity) \(answer) }
                server { listen 127.0.0.1:\(expiredPort) ssl; \(answer)
                  ssl_certificate \(expired.certificatePath); ssl_certificate_key \(expired.keyPath); }
                server { listen 127.0.0.1:\(strictPort) ssl; \(identity) \(answer)
                  ssl_verify_client on; ssl_client_certificate \(authority.root.certificatePath); }
                """, listensOn: [port, strictPort, expiredPort])
        }

        func outcome(port: UInt16? = nil, _ change: (inout RequestSessionOptions) throws -> Void) async throws -> String
        {
            var options = RequestSessionOptions()
            try change(&options)
            let session = try RequestSession(baseURL: "https://127.0.0.1:\(port ?? self.port)", options: options)
            return await failure { try await session.get("/").response() }
        }

        func certificate(_ identity: CertificateAuthority.Identity) throws -> CertificateData {
            try #require(CertificateData(pem: identity.certificatePEM))
        }
    }

    @Test func `the policy decides which servers are trusted`() async throws {
        let scene = try Scene()
        let root = try scene.certificate(scene.authority.root)
        let own = try scene.certificate(scene.good)
        let other = try scene.certificate(scene.client)
        #expect(try await scene.outcome { _ in } == "security certificate-untrusted")
        #expect(try await scene.outcome { $0.security = try SecurityPolicy(anchors: .only([root])) } == "none")
        #expect(
            try await scene.outcome {
                $0.security = try SecurityPolicy(allowsInvalidCertificates: true, validatesDomainName: false)
            } == "none")
        for (certificate, outcome) in [(own, "none"), (root, "none"), (other, "security pin-mismatch")] {
            #expect(
                try await scene.outcome {
                    $0.security = try SecurityPolicy(pins: .certificates([certificate]), anchors: .only([root]))
                } == outcome)
            let key = try #require(certificate.publicKeyDigest)
            #expect(
                try await scene.outcome {
                    $0.security = try SecurityPolicy(pins: .publicKeys([key]), anchors: .only([root]))
                } == outcome)
        }
    }

    @Test func `a certificate that its issuer revoked is refused, with a list or its absence`() async throws {
        let scene = try Scene()
        let root = try scene.certificate(scene.authority.root)
        func policy(_ lists: String...) throws -> SecurityPolicy {
            var policy = try SecurityPolicy(anchors: .only([root]))
            policy.revocation = SecurityPolicy.Revocation(
                lists.compactMap { RevocationList(pem: $0) }, wholeChain: true)
            return policy
        }
        let own = try scene.certificate(scene.good)
        let before = try scene.authority.revocationList()
        #expect(try await scene.outcome { $0.security = try policy(before) } == "none")
        #expect(try policy(before).evaluate(chain: [own], host: "127.0.0.1").isTrusted)
        // Without a list nothing says that the certificate is still good.
        #expect(try await scene.outcome { $0.security = try policy() } == "security certificate-invalid")
        try scene.authority.revoke(scene.good)
        let after = try scene.authority.revocationList()
        #expect(try await scene.outcome { $0.security = try policy(after) } == "security certificate-invalid")
        let verdict = try policy(after).evaluate(chain: [own], host: "127.0.0.1")
        #expect(!verdict.isTrusted && verdict.description == "127.0.0.1: certificate revoked")
        var lenient = try SecurityPolicy(allowsInvalidCertificates: true, validatesDomainName: false)
        #expect(lenient.evaluate(chain: [own], host: "127.0.0.1").isTrusted)
        #expect(RevocationList(pem: scene.good.certificatePEM) == nil && RevocationList(bytes: [1, 2]) == nil)
        lenient.revocation = try policy(after).revocation
        // A list that no trusted certificate signed proves nothing.
        #expect(lenient.evaluate(chain: [own], host: "127.0.0.1").isTrusted)
    }

    /// Also where the kernel says that no time source has synchronised its clock.
    @Test func `an expired certificate ends the request`() async throws {
        let scene = try Scene()
        let root = try scene.certificate(scene.authority.root)
        #expect(
            try await scene.outcome(port: scene.expiredPort) {
                $0.security = try SecurityPolicy(anchors: .only([root]))
            } == "security certificate-expired")
    }

    @Test func `a hook decides about a server in place of the policy`() async throws {
        let scene = try Scene()
        let root = try scene.certificate(scene.authority.root)
        let log = EventLog<String>()
        func outcome(port: UInt16, _ accepts: Bool) async throws -> String {
            try await scene.outcome(port: port) {
                $0.security = try SecurityPolicy(anchors: .only([root]))
                $0.hooks.trust = { trust in
                    log.append("\(trust.host) \(trust.verdict.word) \(trust.chain.count)")
                    return accepts
                }
            }
        }
        #expect(try await outcome(port: scene.port, true) == "none")
        #expect(try await outcome(port: scene.port, false) == "security certificate-untrusted")
        #expect(try await outcome(port: scene.expiredPort, true) == "none")
        #expect(try await outcome(port: scene.expiredPort, false) == "security certificate-expired")
        let expected = ["127.0.0.1 trusted 1", "127.0.0.1 certificate-expired 1"]
        #expect(log.values == expected.flatMap { [$0, $0] })
    }

    @Test func `a client certificate is sent to a server that asks for it`() async throws {
        let scene = try Scene()
        let root = try scene.certificate(scene.authority.root)
        #expect(
            try await scene.outcome(port: scene.strictPort) {
                $0.security = try SecurityPolicy(anchors: .only([root]))
            } == "response bad-status")
        #expect(
            try await scene.outcome(port: scene.strictPort) {
                $0.security = try SecurityPolicy(anchors: .only([root]))
                $0.clientCertificate = ClientCertificate(
                    certificatePEM: Array(scene.client.certificatePEM.utf8), keyPEM: Array(scene.client.keyPEM.utf8))
            } == "none")
    }

    @Test func `pins need https`() async throws {
        var options = RequestSessionOptions()
        let digest = try #require(SecurityPolicy.Digest(bytes: [UInt8](repeating: 0, count: 32)))
        options.security = try SecurityPolicy(pins: .publicKeys([digest]))
        #expect(
            await failure { _ = try RequestSession(baseURL: "http://example.org", options: options) }
                == "request bad-url")
        let session = try RequestSession(options: options)
        #expect(await failure { try await session.get("http://127.0.0.1:1/").response() } == "request bad-request")
        #expect(throws: SecurityPolicy.Contradiction.noPins) { _ = try SecurityPolicy(pins: .certificates([])) }
    }
}
