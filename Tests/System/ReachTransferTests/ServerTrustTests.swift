import Foundation
import ReachCore
import ReachTesting
import ReachTransfer
import Testing

/// Judging certificates without a connection, and by a block of one's own.
@Suite(.enabled(if: CertificateAuthority.isAvailable, "\(CertificateAuthority.whyNot)"), .timeLimit(.minutes(1)))
struct ServerTrustTests {
    private final class Scene: Sendable {
        let authority: CertificateAuthority
        let root: CertificateData
        let good: CertificateAuthority.Identity

        init() throws {
            authority = try CertificateAuthority()
            root = try #require(CertificateData(pem: authority.root.certificatePEM))
            good = try authority.issue(
                "good",
                names: ["DNS:a.example", "DNS:*.b.example", "DNS:xn--bcher-kva.example", "IP:127.0.0.1", "IP:::1"])
        }

        func data(_ identity: CertificateAuthority.Identity) throws -> CertificateData {
            try #require(CertificateData(pem: identity.certificatePEM))
        }
    }

    private static let shared = Result { try Scene() }

    @Test(arguments: [
        ("a.example", "trusted"), ("BÜCHER.example", "trusted"), ("A.Example", "trusted"), ("x.b.example", "trusted"),
        ("127.0.0.1", "trusted"),
        ("::1", "trusted"), ("[::1]", "trusted"), ("x.y.b.example", "certificate-wrong-host"),
        ("b.example", "certificate-wrong-host"), ("127.0.0.2", "certificate-wrong-host"),
        ("other.example", "certificate-wrong-host"), ("a.example\0.b", "certificate-wrong-host"),
        ("", "certificate-wrong-host"),
    ])
    func `a certificate is for its names and addresses`(host: String, word: String) throws {
        let scene = try Self.shared.get()
        let policy = try SecurityPolicy(anchors: .only([scene.root]))
        let verdict = policy.evaluate(chain: [try scene.data(scene.good)], host: host)
        #expect(verdict.word == word && verdict.isTrusted == (word == "trusted"), "\(verdict)")
        let any = try SecurityPolicy(anchors: .only([scene.root]), validatesDomainName: false)
        if word != "trusted", !host.isEmpty, !host.contains("\0") {
            #expect(any.evaluate(chain: [try scene.data(scene.good)], host: host).isTrusted)
        }
    }

    @Test func `dates, issuers, pins and nonsense have their own words`() throws {
        let scene = try Self.shared.get()
        let own = SecurityPolicy.Anchors.only([scene.root])
        let policy = try SecurityPolicy(anchors: own)
        func word(_ chain: [CertificateData], _ policy: SecurityPolicy) -> String {
            policy.evaluate(chain: chain, host: "a.example").word
        }
        let names = ["DNS:a.example"]
        let expired = try scene.data(scene.authority.issue("expired", names: names, validity: .expired))
        let future = try scene.data(scene.authority.issue("future", names: names, validity: .notYet))
        let selfSigned = try scene.data(scene.authority.selfSigned("self", names: names))
        let good = try scene.data(scene.good)
        #expect(word([expired], policy) == "certificate-expired")
        #expect(word([future], policy) == "certificate-not-yet-valid")
        #expect(word([selfSigned], policy) == "certificate-untrusted")
        #expect(word([good], .standard) == "certificate-untrusted")
        #expect(word([good, scene.root], .standard) == "certificate-untrusted")
        let system = try ChildProcess.run(["sh", "-c", "cat \(scene.authority.root.certificatePath)"])
        let directory = try TemporaryDirectory()
        let path = try directory.file("roots.pem", system)
        #expect(SecurityPolicy.standard.evaluate(chain: [good], host: "a.example", certificatesPath: path).isTrusted)
        #expect(
            SecurityPolicy.standard.evaluate(chain: [good], host: "a.example", certificatesPath: "/nonexistent").word
                == "engine-failed")
        #expect(word([], policy) == "certificate-invalid")
        #expect(word([CertificateData(bytes: [1, 2, 3])], policy) == "certificate-invalid")
        #expect(word([good, CertificateData(bytes: [])], policy) == "certificate-invalid")
        let key = try #require(good.publicKeyDigest)
        #expect(word([good], try SecurityPolicy(pins: .publicKeys([key]), anchors: own)) == "trusted")
        #expect(word([expired], try SecurityPolicy(pins: .publicKeys([key]), anchors: own)) == "certificate-expired")
        let other = try #require(selfSigned.publicKeyDigest)
        #expect(word([good], try SecurityPolicy(pins: .publicKeys([other]), anchors: own)) == "pin-mismatch")
        let pinned = try SecurityPolicy(pins: .certificates([selfSigned]), allowsInvalidCertificates: true)
        #expect(word([selfSigned], pinned) == "trusted" && word([good], pinned) == "pin-mismatch")
        let anything = try SecurityPolicy(allowsInvalidCertificates: true, validatesDomainName: false)
        #expect(word([expired], anything) == "trusted")
    }

    // MARK: - A block

    @Test(.enabled(if: WebServer.isAvailable, "\(WebServer.whyNot)"))
    func `a block decides about a server, and receives its chain and the policy's verdict`() async throws {
        let scene = try Self.shared.get()
        let expired = try scene.authority.issue("late", names: ["IP:127.0.0.1"], validity: .expired)
        let (port, expiredPort) = (try TestProgram.freePort(), try TestProgram.freePort())
        let web = try WebServer(
            [(port, scene.good), (expiredPort, expired)].map { port, identity in
                """
                server { listen 127.0.0.1:\(port) ssl; ssl_certificate \(identity.certificatePath);
                ssl_certificate_key \(identity.keyPath); location / { return 200 "x"; } }
                """
            }.joined(separator: "\n"), listensOn: [port, expiredPort])
        let log = EventLog<String>()
        let chains = EventLog<[CertificateData]>()
        func report(_ port: UInt16, _ host: String = "127.0.0.1", accepts: Bool) async throws -> TransferReport {
            var request = TransferRequest(url: try TransferURL("https://\(host):\(port)/"))
            request.addresses = [IPAddress(ipv4: 0x7f00_0001)]
            request.security = try SecurityPolicy(anchors: .only([scene.root]))
            request.trustJudge = TrustJudge { trust in
                log.append("\(trust.host) \(trust.verdict.word)")
                chains.append(trust.chain)
                return accepts
            }
            return try await TransferStage().run(request)
        }
        #expect(try await report(port, accepts: true).response?.status == 200)
        #expect(try await report(port, accepts: false).failure?.reason == .certificateUntrusted)
        #expect(try await report(expiredPort, accepts: true).response?.status == 200)
        #expect(try await report(expiredPort, accepts: false).failure?.reason == .certificateExpired)
        #expect(try await report(port, "localhost", accepts: true).response?.status == 200)
        #expect(try await report(port, "localhost", accepts: false).failure?.reason == .certificateWrongHost)
        let verdicts = ["127.0.0.1 trusted", "127.0.0.1 certificate-expired", "localhost certificate-wrong-host"]
        #expect(log.values == verdicts.flatMap { [$0, $0] })
        #expect(chains.values[0] == [try scene.data(scene.good)])
        withExtendedLifetime(web) {}
    }

    @Test(.enabled(if: WebServer.isAvailable, "\(WebServer.whyNot)"))
    func `a connection that one block admitted is not used by another's requests`() async throws {
        let scene = try Self.shared.get()
        let port = try TestProgram.freePort()
        let web = try WebServer(
            """
            server { listen 127.0.0.1:\(port) ssl; ssl_certificate \(scene.good.certificatePath);
            ssl_certificate_key \(scene.good.keyPath); location / { return 200 "x"; } }
            """, listensOn: [port])
        let stage = try TransferStage()
        let log = EventLog<Int>()
        let judges = (0..<2).map { number in
            TrustJudge { _ in
                log.append(number)
                return number == 0
            }
        }
        var outcomes: [String] = []
        for number in [0, 0, 1] {
            var request = TransferRequest(url: try TransferURL("https://127.0.0.1:\(port)/"))
            request.trustJudge = judges[number]
            let report = try await stage.run(request)
            outcomes.append(report.failure?.reason.rawValue ?? "\(report.response?.status ?? 0)")
        }
        #expect(outcomes == ["200", "200", "certificate-untrusted"] && log.values == [0, 1])
        withExtendedLifetime(web) {}
    }
}
