import ReachCore
import ReachSession
import ReachTesting
import ReachTransfer
import Testing

/// Challenges of servers, answers to them, and stored credentials.
@Suite(.timeLimit(.minutes(1))) struct AuthenticationTests {
    // MARK: - Challenges

    @Test(arguments: [
        ("Basic realm=\"a\"", "a"), ("basic realm=a", "a"), ("Basic", ""), ("Basic charset=\"UTF-8\"", ""),
        ("Basic charset=\"UTF-8\", realm=\"a, b\"", "a, b"), ("Negotiate, Basic realm=\"x\"", "x"),
        ("Digest realm=\"d\", nonce=\"Basic realm=1\", Basic realm=\"b\"", "b"), ("Basic realm=\"a\\\"b\"", "a\"b"),
        ("Basic realm=\"open", "open"), ("BASIC   REALM = \"a\"", "a"), ("Basic charset=\"x\", realm = \"b\"", "b"),
    ])
    func `a Basic challenge is found among others`(field: String, realm: String) {
        #expect(ServerChallenge([field]) == .basic(realm: realm))
    }

    @Test(arguments: [
        "", "Digest realm=\"Basic\"", "Bearer", "Bearer realm=\"a\", error=\"Basic\"", ",,,", "=", "\"", "Basi c",
        "Digest realm=\"a\", nonce=\"n\"", "Digest realm=\"a\", nonce=\"n\", qop=\"auth-int\"",
        "Digest realm=\"a\", qop=auth", "Digest nonce=\"a\", qop=auth",
        "Digest realm=\"a\", nonce=\"n\", qop=auth, algorithm=SHA-1",
    ])
    func `a field without a challenge that can be answered is ignored`(field: String) {
        #expect(ServerChallenge([field]) == nil)
    }

    @Test func `of several challenges the strongest is answered`() {
        func digest(_ algorithm: String) -> String {
            "Digest realm=\"\(algorithm)\", nonce=\"n\", qop=\"auth, auth-int\", algorithm=\(algorithm)"
        }
        #expect(ServerChallenge(["Basic realm=b", digest("MD5"), digest("SHA-256")])?.realmForTest == "SHA-256")
        #expect(ServerChallenge([digest("SHA-256") + ", " + digest("MD5")])?.realmForTest == "SHA-256")
        #expect(ServerChallenge([digest("MD5-sess"), digest("MD5")])?.realmForTest == "MD5-sess")
        #expect(ServerChallenge(["Basic realm=b", digest("unknown")]) == .basic(realm: "b"))
    }

    // MARK: - RFC 7616's examples

    /// RFC 7616, 3.9.1.
    @Test(arguments: [
        ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
        ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
    ])
    func `the first example of RFC 7616 is answered as there`(algorithm: String, response: String) throws {
        let field =
            "Digest realm=\"http-auth@example.org\", qop=\"auth, auth-int\", algorithm=\(algorithm), "
            + "nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", "
            + "opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\""
        let challenge = try #require(ChallengeField.read(field).first.flatMap(DigestChallenge.init))
        let answer = challenge.authorization(
            method: "GET", target: "/dir/index.html", user: "Mufasa", password: "Circle of Life",
            clientNonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ")
        #expect(
            answer
                == "Digest username=\"Mufasa\", realm=\"http-auth@example.org\", uri=\"/dir/index.html\", "
                + "algorithm=\(algorithm), nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", nc=00000001, "
                + "cnonce=\"f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ\", qop=auth, response=\"\(response)\", "
                + "opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\"")
    }

    /// RFC 7616, 3.9.2, with the numbers of erratum 4897.
    @Test func `the second example of RFC 7616 hashes the user's name`() throws {
        let field =
            "Digest realm=\"api@example.org\", qop=\"auth\", algorithm=SHA-512-256, "
            + "nonce=\"5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK\", "
            + "opaque=\"HRPCssKJSGjCrkzDg8OhwpzCiGPChXYjwrI2QmXDnsOS\", charset=UTF-8, userhash=true"
        let challenge = try #require(ChallengeField.read(field).first.flatMap(DigestChallenge.init))
        let answer = try #require(
            challenge.authorization(
                method: "GET", target: "/doe.json", user: "J\u{e4}s\u{f8}n Doe", password: "Secret, or not?",
                clientNonce: "NTg6RKcb9boFIAS3KrFK9BGeh+iDa/sm6jUMp2wds69v"))
        #expect(answer.contains("username=\"793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b\""))
        #expect(answer.contains("response=\"3798d4131c277846293534c3edc11bd8a5e4cdcbff78b05db9d95eeb1cec68a5\""))
        #expect(answer.hasSuffix(", userhash=true"))
    }

    /// The digests were computed with Python's hashlib.
    @Test func `a session's algorithm, a name beyond ASCII, quotes and counts are written as the RFC says`() throws {
        let field = "Digest realm=\"a \\\"b\\\"\", nonce=\"n\", qop=auth, algorithm=MD5-sess"
        let challenge = try #require(ChallengeField.read(field).first.flatMap(DigestChallenge.init))
        let answer = try #require(
            challenge.authorization(
                method: "PUT", target: "/x?y", user: "\u{fc} v", password: "p", count: 171, clientNonce: "c"))
        #expect(answer.contains("username*=UTF-8\u{27}\u{27}%C3%BC%20v, realm=\"a \\\"b\\\"\""))
        #expect(answer.contains("nc=000000ab, ") && !answer.contains("opaque") && !answer.contains("userhash"))
        #expect(answer.contains("response=\"ecf3c4a972e21550e851e265adc2436e\""))
        #expect(
            challenge.authorization(method: "GET", target: "/", user: "a\r\n", password: "p", clientNonce: "c") == nil)
    }

    @Test func `hash functions give the digests of their standards`() {
        #expect(MessageDigest.md5.hexadecimal("abc") == "900150983cd24fb0d6963f7d28e17f72")
        #expect(
            MessageDigest.sha256.hexadecimal("abc")
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(
            MessageDigest.sha512_256.hexadecimal("abc")
                == "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23")
    }

    // MARK: - Sessions

    /// A server that wants Digest authentication of ann with the password "secret".
    private static func digest(_ request: String, nonce: String = "n1", stale: String? = nil) -> String {
        let isRight = request.contains("response=\"\(expected(request) ?? "-")\"")
        if isRight, !(stale.map { request.contains("nonce=\"\($0)\"") } ?? false) { return SessionStage.echo(request) }
        return
            "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"zoo\"\r\n"
            + "WWW-Authenticate: Digest realm=\"zoo\", nonce=\"\(nonce)\", qop=\"auth\", algorithm=SHA-256"
            + (isRight ? ", stale=true" : "") + "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    }

    /// The right response to the request's own nonces.
    private static func expected(_ request: String) -> String? {
        func parameter(_ name: String) -> String {
            guard let start = request.firstRange(of: " \(name)=\"")?.upperBound else { return "" }
            return String(request[start...].prefix { $0 != "\"" })
        }
        let line = request.split(separator: " ").prefix(2)
        guard let first = MessageDigest.sha256.hexadecimal("ann:zoo:secret"),
            let second = MessageDigest.sha256.hexadecimal(line.joined(separator: ":"))
        else { return nil }
        return MessageDigest.sha256.hexadecimal(
            "\(first):\(parameter("nonce")):00000001:\(parameter("cnonce")):auth:\(second)")
    }

    @Test func `Digest is preferred to Basic, for a request with a body and a query too`() async throws {
        let log = EventLog<String>()
        let stage = try SessionStage {
            $0.hooks.challenge = { _, challenge in
                log.append("\(challenge.scheme) \(challenge.realm) \(challenge.failureCount)")
                return UserCredentials(user: "ann", password: challenge.failureCount == 0 ? "wrong" : "secret")
            }
        } answer: {
            Self.digest($0)
        }
        let response = try await stage.session.post("x?y=z", parameters: ["a": "b"]).response()
        #expect(response.statusCode == 200 && log.values == ["digest zoo 0", "digest zoo 1"])
        #expect(stage.server.requests.values.last?.hasSuffix("\r\n\r\na=b") == true)
        #expect(stage.server.requests.values.allSatisfy { !$0.contains("Authorization: Basic") })
    }

    @Test func `an old nonce is replaced without asking for credentials again`() async throws {
        let log = EventLog<Int>()
        let stage = try SessionStage {
            $0.hooks.challenge = { _, challenge in
                log.append(challenge.failureCount)
                return UserCredentials(user: "ann", password: "secret")
            }
        } answer: { request in
            Self.digest(request, nonce: request.contains("Authorization") ? "n2" : "n1", stale: "n1")
        }
        #expect(try await stage.session.get("x").response().statusCode == 200)
        #expect(log.values == [0] && stage.server.requests.values.count == 3)
    }

    @Test func `a redirect gets a Digest answer of its own, and the credentials stay`() async throws {
        let storage = CredentialStorage()
        let stage = try SessionStage {
            $0.credentials = storage
        } answer: { request in
            let answer = Self.digest(request)
            guard request.hasPrefix("GET /v1/x"), answer.hasPrefix("HTTP/1.1 200") else { return answer }
            return "HTTP/1.1 302 Found\r\nLocation: /y\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        }
        let server = try WebAddress(stage.root)
        storage.setCredentials(UserCredentials(user: "ann", password: "secret"), for: server)
        #expect(try await stage.session.get("x").response().statusCode == 200)
        #expect(storage.credentials(for: server, realm: "zoo")?.password == "secret")
        let redirected = stage.server.requests.values.first { $0.hasPrefix("GET /y") }
        #expect(redirected?.contains("Authorization") == false)
    }

    @Test func `a server that invents realms fills no storage`() async throws {
        let storage = CredentialStorage()
        let stage = try SessionStage {
            $0.credentials = storage
            $0.hooks.challenge = { _, _ in UserCredentials(user: "ann", password: "secret") }
        } answer: { request in
            let number = request.split(separator: " ").dropFirst().first?.split(separator: "/").last ?? ""
            if request.contains("Authorization: Basic"), !request.contains("/v1/long") {
                return SessionStage.echo(request)
            }
            let realm = number == "long" ? String(repeating: "x", count: 2000) : String(number)
            return "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"\(realm)\"\r\nContent-Length: 0\r\n"
                + "Connection: close\r\n\r\n"
        }
        let server = try WebAddress(stage.root)
        for number in 0..<70 { try await stage.session.get("d\(number)/\(number)").response() }
        let kept = (0..<70).count { storage.credentials(for: server, realm: "\($0)") != nil }
        #expect(kept > 0 && kept <= 64)
    }

    @Test func `stored credentials answer a challenge, and the hook is asked for others`() async throws {
        let storage = CredentialStorage()
        let log = EventLog<String>()
        let stage = try SessionStage {
            $0.credentials = storage
            $0.hooks.challenge = { _, challenge in
                log.append("\(challenge.realm) \(challenge.failureCount)")
                return UserCredentials(user: "ann", password: "secret")
            }
        } answer: {
            Self.digest($0)
        }
        let server = try WebAddress(stage.root)
        storage.setCredentials(UserCredentials(user: "ann", password: "old"), for: server)
        #expect(try await stage.session.get("x").response().statusCode == 200)
        #expect(log.values == ["zoo 1"])
        #expect(storage.credentials(for: server, realm: "zoo")?.password == "secret")
        #expect(storage.credentials(for: server, realm: "other") == nil)
        #expect(try await stage.session.get("x").response().statusCode == 200)
        #expect(log.values == ["zoo 1"])
    }

    @Test func `a challenge of another realm takes no credentials away that work in theirs`() async throws {
        let storage = CredentialStorage()
        // ann:secret and bob:other
        let accepted = ["users": "Basic YW5uOnNlY3JldA==", "admin": "Basic Ym9iOm90aGVy"]
        let stage = try SessionStage {
            $0.credentials = storage
        } answer: { request in
            let realm = request.hasPrefix("GET /admin") ? "admin" : "users"
            return request.contains("Authorization: \(accepted[realm] ?? "")\r\n")
                ? SessionStage.echo(request)
                : "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"\(realm)\"\r\nContent-Length: 0\r\n"
                    + "Connection: close\r\n\r\n"
        }
        let server = try WebAddress(stage.root)
        storage.setCredentials(UserCredentials(user: "ann", password: "secret"), for: server)
        storage.setCredentials(UserCredentials(user: "bob", password: "other"), for: server, realm: "admin")
        for path in ["/page", "/admin/x", "/page2", "/admin/y"] {
            #expect(try await stage.session.get(path).response().statusCode == 200)
        }
    }

    @Test func `accepted Basic credentials are sent without a challenge below their directory only`() async throws {
        let storage = CredentialStorage()
        let stage = try SessionStage {
            $0.credentials = storage
        } answer: { request in
            // ann:secret
            request.contains("Authorization: Basic YW5uOnNlY3JldA==\r\n")
                ? SessionStage.echo(request)
                : "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"zoo\"\r\nContent-Length: 0\r\n"
                    + "Connection: close\r\n\r\n"
        }
        let server = try WebAddress(stage.root)
        storage.setCredentials(UserCredentials(user: "ann", password: "secret"), for: server, realm: "zoo")
        var counts: [Int] = []
        for path in ["/a/b/x", "/a/b/y", "/a/b/c/z", "/a/z", "/a/b/x"] {
            try await stage.session.get(path).response()
            counts.append(stage.server.requests.values.count)
        }
        #expect(counts == [2, 3, 4, 6, 7])
        // A header of the request's own is not replaced.
        let own = await failure { try await stage.session.get("/a/x", headers: ["Authorization": "own"]).response() }
        #expect(own == "none")
        #expect(stage.server.requests.values[7].contains("Authorization: own\r\n"))
        storage.removeAll()
        #expect(await failure { try await stage.session.get("/a/b/x").response() } == "response bad-status")
    }
}

extension ServerChallenge {
    fileprivate var realmForTest: String {
        switch self {
        case .basic(let realm): realm
        case .digest(let challenge): challenge.realm
        }
    }
}
