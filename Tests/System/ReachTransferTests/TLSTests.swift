import ReachCore
import ReachTesting
import ReachTransfer
import Testing

/// The security policy, against a real TLS server with good and bad certificates.
@Suite(
    .enabled(if: WebServer.isAvailable, "\(WebServer.whyNot)"),
    .enabled(if: CertificateAuthority.isAvailable, "\(CertificateAuthority.whyNot)"))
struct TLSTests {
    /// Certificates, and one nginx that presents each on its own port.
    final class Scene: Sendable {
        enum Server: String, CaseIterable, Sendable {
            case good, expired, notYet, wrongHost, selfSigned, renewed, other, asksClient, oldTLS, impostor
        }

        let authority: CertificateAuthority
        let identities: [Server: CertificateAuthority.Identity]
        let client: CertificateAuthority.Identity
        let ports: [Server: UInt16]
        nonisolated(unsafe) private let web: WebServer

        init() throws {
            authority = try CertificateAuthority()
            let here = ["DNS:localhost", "IP:127.0.0.1"]
            let good = try authority.issue("good", names: here)
            client = try authority.issue("client", names: ["DNS:client.example"])
            let identities: [Server: CertificateAuthority.Identity] = [
                .good: good,
                .expired: try authority.issue("expired", names: here, validity: .expired),
                .notYet: try authority.issue("not-yet", names: here, validity: .notYet),
                .wrongHost: try authority.issue("wrong-host", names: ["DNS:other.example"]),
                .selfSigned: try authority.selfSigned("self-signed", names: here),
                .renewed: try authority.issue("renewed", names: here, key: good),
                .other: try authority.issue("other", names: here),
                .asksClient: good, .oldTLS: good, .impostor: try authority.impostor("impostor", names: here),
            ]
            let ports = try Dictionary(
                uniqueKeysWithValues: Server.allCases.map { ($0, try TestProgram.freePort()) })
            let root = authority.root.certificatePath
            let servers = try Server.allCases.map { server in
                let identity = try #require(identities[server])
                let port = try #require(ports[server])
                let extra =
                    switch server {
                    case .asksClient:
                        "ssl_verify_client on; ssl_client_certificate \(root);"
                    case .oldTLS: "ssl_protocols TLSv1; ssl_ciphers ALL:@SECLEVEL=0;"
                    default: ""
                    }
                return """
                    server { listen 127.0.0.1:\(port) ssl http2; ssl_certificate \(identity.certificatePath);
                    ssl_certificate_key \(identity.keyPath); \(extra) location / { return 200 "$ssl_protocol"; }
                    location /session { return 200 "$ssl_session_reused"; }
                    location /away { return 302 https://localhost:\(port)/; }
                    location /http { return 302 http://127.0.0.1:\(port)/; }
                    location /here { return 302 /; } }
                    """
            }
            (self.identities, self.ports) = (identities, ports)
            web = try WebServer(servers.joined(separator: "\n"), listensOn: Array(ports.values))
        }

        func request(_ server: Server, _ policy: SecurityPolicy, _ path: String = "/") throws -> TransferRequest {
            let port = try #require(ports[server])
            var request = try TransferRequest(port: port, path, scheme: "https")
            request.security = policy
            return request
        }

        func certificate(_ server: Server) throws -> CertificateData {
            let identity = try #require(identities[server])
            return try #require(CertificateData(pem: identity.certificatePEM))
        }

        var root: CertificateData {
            get throws { try #require(CertificateData(pem: authority.root.certificatePEM)) }
        }
    }

    private static let shared = Result { try Scene() }
    private var scene: Scene { get throws { try Self.shared.get() } }

    private func result(
        _ server: Scene.Server, _ policy: SecurityPolicy, _ path: String = "/"
    ) async throws -> TransferReport {
        try await TransferStage().run(try scene.request(server, policy, path))
    }

    /// The failure with each server under each policy; `nil` for a response.
    @Test func `every certificate meets every policy`() async throws {
        let scene = try scene
        let (root, good) = (try scene.root, try scene.certificate(.good))
        let key = try #require(good.publicKeyDigest)
        let rootKey = try #require(root.publicKeyDigest)
        let own = SecurityPolicy.Anchors.only([root])
        let policies: [(String, SecurityPolicy, [Scene.Server: TransferFailure.Reason])] = [
            (
                "the system's list", .standard,
                .init(
                    uniqueKeysWithValues: [Scene.Server.good, .wrongHost, .selfSigned, .renewed, .other]
                        .map { ($0, .certificateUntrusted) })
            ),
            (
                "own anchors", try SecurityPolicy(anchors: own),
                [
                    .expired: .certificateExpired, .notYet: .certificateNotYetValid, .wrongHost: .certificateWrongHost,
                    .selfSigned: .certificateUntrusted,
                ]
            ),
            (
                "own anchors, any host", try SecurityPolicy(anchors: own, validatesDomainName: false),
                [
                    .expired: .certificateExpired, .notYet: .certificateNotYetValid,
                    .selfSigned: .certificateUntrusted,
                ]
            ),
            ("anything", try SecurityPolicy(allowsInvalidCertificates: true, validatesDomainName: false), [:]),
            (
                "the good one's key", try SecurityPolicy(pins: .publicKeys([key]), anchors: own),
                [
                    .expired: .certificateExpired, .notYet: .certificateNotYetValid, .wrongHost: .pinMismatch,
                    .selfSigned: .certificateUntrusted, .other: .pinMismatch,
                ]
            ),
            (
                "the root's key", try SecurityPolicy(pins: .publicKeys([rootKey]), anchors: own),
                [
                    .expired: .certificateExpired, .notYet: .certificateNotYetValid, .wrongHost: .certificateWrongHost,
                    .selfSigned: .certificateUntrusted,
                ]
            ),
            (
                "the good certificate", try SecurityPolicy(pins: .certificates([good]), anchors: own),
                [
                    .expired: .certificateExpired, .notYet: .certificateNotYetValid, .wrongHost: .pinMismatch,
                    .selfSigned: .certificateUntrusted, .renewed: .pinMismatch, .other: .pinMismatch,
                ]
            ),
            (
                "the self-signed one, and no others",
                try SecurityPolicy(
                    pins: .certificates([try scene.certificate(.selfSigned)]), allowsInvalidCertificates: true),
                [
                    .good: .pinMismatch, .expired: .pinMismatch, .notYet: .pinMismatch, .wrongHost: .pinMismatch,
                    .renewed: .pinMismatch, .other: .pinMismatch,
                ]
            ),
            (
                "the good one's key, whoever signed it",
                try SecurityPolicy(
                    pins: .publicKeys([key]), allowsInvalidCertificates: true, validatesDomainName: false),
                [
                    .expired: .pinMismatch, .notYet: .pinMismatch, .wrongHost: .pinMismatch, .selfSigned: .pinMismatch,
                    .other: .pinMismatch,
                ]
            ),
        ]
        let stage = try TransferStage()
        for (name, policy, failures) in policies {
            for server in [Scene.Server.good, .expired, .notYet, .wrongHost, .selfSigned, .renewed, .other] {
                if name == "the system's list", server == .expired || server == .notYet { continue }
                let report = try await stage.run(try scene.request(server, policy))
                #expect(report.failure?.reason == failures[server], "\(name), \(server): \(report.outcome)")
                let verdict = policy.evaluate(chain: [try scene.certificate(server)], host: "127.0.0.1")
                #expect(verdict.word == failures[server]?.rawValue ?? "trusted", "\(name), \(server): \(verdict)")
                let hop = try #require(report.hops.first)
                #expect(hop.phases.connected != nil, "the connection was made, whatever the result of TLS")
                #expect(hop.phases.isMonotone)
                #expect((hop.phases.requestStarted != nil) == (failures[server] == nil), "\(name), \(server)")
                #expect(hop.certificate != nil, "\(name), \(server)")
                if report.failure != nil { #expect(report.failure?.kind == .security) }
            }
        }
    }

    @Test func `a wrong pin, an expired certificate, a wrong host and old TLS have libcurl's numbers`()
        async throws
    {
        let scene = try scene
        let own = SecurityPolicy.Anchors.only([try scene.root])
        let key = try #require(scene.certificate(.good).publicKeyDigest)
        let pinned = try await result(.other, try SecurityPolicy(pins: .publicKeys([key]), anchors: own))
        #expect(pinned.failure?.curlCode == 90)
        let expired = try await result(.expired, try SecurityPolicy(anchors: own))
        #expect(expired.failure?.curlCode == 60)
        let wrongHost = try await result(.wrongHost, try SecurityPolicy(anchors: own))
        #expect(wrongHost.failure?.curlCode == 60)
        let old = try await result(.oldTLS, try SecurityPolicy(anchors: own))
        #expect(old.failure?.curlCode == 35)
        #expect(old.failure?.reason == .tlsHandshake)
        #expect(old.failure?.kind == .destination)
        #expect(old.hops.first?.phases.connected != nil)
    }

    @Test func `HTTP/2 is used where both support it, unless HTTP/1.1 is asked for`() async throws {
        let scene = try scene
        var request = try scene.request(.good, try SecurityPolicy(anchors: .only([try scene.root])))
        let stage = try TransferStage()
        // Over one connection at the same time.
        let logs = (0..<20).map { _ in stage.start(request) }
        for log in logs { #expect(try await log.report().response?.version == "HTTP/2") }
        request.version = .http1
        request.connection = .fresh
        #expect(try await stage.run(request).response?.version == "HTTP/1.1")
    }

    @Test func `a certificate has its days, names and fingerprints`() async throws {
        let scene = try scene
        let report = try await result(.good, try SecurityPolicy(anchors: .only([try scene.root])))
        let certificate = try #require(report.hops.first?.certificate)
        #expect(certificate.subject == "CN=good")
        #expect(certificate.issuer == "CN=Test Root")
        #expect(certificate.names == ["localhost", "127.0.0.1"])
        #expect(certificate.validFrom.description.hasPrefix("2020-01-01T00:00:00"))
        #expect(certificate.validUntil.description.hasPrefix("2049-01-01T00:00:00"))
        #expect(certificate.publicKeyFingerprint == (try scene.certificate(.good)).publicKeyDigest)
        #expect(certificate.verification == 0)
    }

    @Test func `a pinned certificate that is only sent along with another one proves nothing`() async throws {
        let scene = try scene
        let root = try scene.root
        let key = try #require(root.publicKeyDigest)
        let pins: [SecurityPolicy.Pins] = [.publicKeys([key]), .certificates([root])]
        for pins in pins {
            let lax = try SecurityPolicy(pins: pins, allowsInvalidCertificates: true, validatesDomainName: false)
            let report = try await result(.impostor, lax)
            #expect(report.failure?.reason == .pinMismatch, "\(pins)")
            let strict = try SecurityPolicy(pins: pins, anchors: .only([root]))
            #expect(try await result(.impostor, strict).failure?.reason == .certificateUntrusted)
        }
    }

    @Test func `a client certificate is presented to a server that asks for it, and its lack is a failure`()
        async throws
    {
        let scene = try scene
        var request = try scene.request(.asksClient, try SecurityPolicy(anchors: .only([try scene.root])))
        let without = try await TransferStage().run(request)
        #expect(without.response?.status == 400)
        request.clientCertificate = ClientCertificate(
            certificatePEM: Array(scene.client.certificatePEM.utf8), keyPEM: Array(scene.client.keyPEM.utf8))
        let with = try await TransferStage().run(request)
        #expect(with.response?.status == 200)
    }

    @Test func `with pins a redirect to another origin is refused, and one within the origin is not`() async throws {
        let scene = try scene
        let key = try #require(scene.certificate(.good).publicKeyDigest)
        let policy = try SecurityPolicy(pins: .publicKeys([key]), anchors: .only([try scene.root]))
        let stage = try TransferStage()
        for (path, reason) in [("/away", TransferFailure.Reason.redirectRefused), ("/http", .redirectRefused)] {
            var request = try scene.request(.good, policy, path)
            request.redirects = .follow(limit: 5)
            let report = try await stage.run(request)
            #expect(report.failure?.reason == reason)
            #expect(report.failure?.kind == .refused)
        }
        var request = try scene.request(.good, policy, "/here")
        request.redirects = .follow(limit: 5)
        let report = try await stage.run(request)
        #expect(report.response?.status == 200)
        #expect(report.hops.count == 2)
    }

    @Test func `no redirect leads from https to http`() async throws {
        var request = try scene.request(.good, try SecurityPolicy(anchors: .only([try scene.root])), "/http")
        request.redirects = .follow(limit: 5)
        #expect(try await TransferStage().run(request).failure?.reason == .redirectRefused)
    }

    @Test func `a connection of one policy is not used by another`() async throws {
        let scene = try scene
        let stage = try TransferStage()
        let trusting = try SecurityPolicy(allowsInvalidCertificates: true, validatesDomainName: false)
        #expect(try await stage.run(try scene.request(.good, trusting)).response?.status == 200)
        let again = try await stage.run(try scene.request(.good, trusting))
        #expect(again.hops.first?.reusedConnection == true)
        let strict = try await stage.run(try scene.request(.good, .standard))
        #expect(strict.failure?.reason == .certificateUntrusted)
    }

    @Test func `no TLS session is resumed, neither by another owner nor by the same`() async throws {
        let stage = try TransferStage()
        let policy = try SecurityPolicy(anchors: .only([try scene.root]))
        let exchanges: [(UInt32, HTTPVersion)] = [(1, .automatic), (2, .automatic), (3, .http1), (4, .http1)]
        for (owner, version) in exchanges {
            var request = try scene.request(.good, policy, "/session")
            request.owner = .user(owner)
            request.version = version
            request.connection = .fresh
            // How nginx marks a session that is not resumed.
            #expect(try await stage.run(request).body == Array(".".utf8))
            request.connection = .pooled
            let pooled = try await stage.run(request)
            #expect(pooled.body == Array(".".utf8) && pooled.hops.first?.reusedConnection == false)
        }
    }

    @Test func `a connection without a request reports its TLS, and sends nothing`() async throws {
        let scene = try scene
        var request = try scene.request(.good, try SecurityPolicy(anchors: .only([try scene.root])))
        request.connection = .connectOnly
        let report = try await TransferStage().run(request)
        #expect(report.failure == nil)
        #expect(report.response == nil)
        #expect(report.hops.first?.phases.secured != nil)
        #expect(report.hops.first?.certificate?.subject == "CN=good")
    }

    @Test(
        arguments: [
            { _ = try SecurityPolicy(allowsInvalidCertificates: true) },
            { _ = try SecurityPolicy(pins: .publicKeys([])) },
            { _ = try SecurityPolicy(pins: .certificates([])) },
            { _ = try SecurityPolicy(anchors: .only([])) },
        ] as [@Sendable () throws -> Void])
    func `a contradictory policy cannot be made`(attempt: @Sendable () throws -> Void) {
        #expect(throws: SecurityPolicy.Contradiction.self) { try attempt() }
    }

    @Test func `pins without https are refused`() async throws {
        let digest = try #require(SecurityPolicy.Digest(bytes: [UInt8](repeating: 0, count: 32)))
        var request = try TransferRequest(port: 1)
        request.security = try SecurityPolicy(pins: .publicKeys([digest]))
        #expect(try await TransferStage().run(request).failure?.reason == .badRequest)
    }
}
