import ReachSession
import ReachTesting
import Testing

/// Uploads of sessions that are resumed where the server has a part of them.
@Suite(.timeLimit(.minutes(1))) struct UploadProtocolTests {
    private static let body = (0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }

    private static func options(_ retries: RequestOptions.Retries) -> RequestOptions {
        var options = RequestOptions()
        options.uploadProtocol = .tus
        options.retries = retries
        return options
    }

    @Test func `a file, and bytes, are resumed after each cut, and one retry is enough`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/body"
        try ChildProcess.run(["truncate", "-s", "700000", path])
        let session = try RequestSession()
        let server = try TusServer { $0.cuts = [100_000, 200_000, 150_000, nil, 100_000, nil] }
        let url = "http://127.0.0.1:\(server.port)/files"
        let first = try await session.upload(file: path, to: url, method: "POST", options: Self.options(.attempts(2)))
            .response()
        #expect(first.statusCode == 204)
        let second = try await session.upload(Self.body, to: url, method: "POST", options: Self.options(.attempts(2)))
            .response()
        #expect(second.statusCode == 204)
        let state = server.state.withLock { $0 }
        #expect(state.uploads == [1: [UInt8](repeating: 0, count: 700_000), 2: Self.body])
        #expect(state.log.count { $0.hasPrefix("POST") } == 2 && !state.log.contains { $0.hasSuffix("409") })
    }

    @Test func `it is refused with another method, and found again in a later run`() async throws {
        let directory = try TemporaryDirectory()
        let keeping = RequestSession.Keeping.directory(directory.path + "/queue")
        let first = try RequestSession(keeping: keeping)
        #expect(throws: RequestError.self) {
            try first.upload([1], to: "http://127.0.0.1:1/", options: Self.options(.untilExpiry))
        }
        let task = try first.upload(
            [1], to: "http://127.0.0.1:1/", method: "POST", options: Self.options(.untilExpiry)
        ).resume()
        task.suspend()
        try await task.stored()
        await first.closeAndWait()
        let second = try RequestSession(keeping: keeping)
        #expect(await second.tasks().map(\.options.uploadProtocol) == [.tus])
        await second.closeAndWait()
    }

    private static let ann = UserCredentials(user: "ann", password: "secret")

    private func send(_ session: RequestSession, _ server: TusServer) async throws -> RequestResponse {
        try await session.upload(
            Self.body, to: "http://127.0.0.1:\(server.port)/files", method: "POST", options: Self.options(.attempts(2))
        ).response()
    }

    private static let digest = "Digest realm=\"zoo\", nonce=\"nNUMBER\", qop=\"auth\", algorithm=SHA-256"

    /// Each attempt is asked once: the first has a POST and a PATCH that is cut, the second a HEAD and a PATCH. A
    /// server that takes a nonce once asks each exchange, and the PATCHs are sent again.
    @Test(arguments: [("Basic realm=\"zoo\"", false, 1), (digest, false, 2), (digest, true, 4)])
    func `each exchange has an answer to the server's challenge, and none makes the credentials wrong`(
        challenge: String, takesNoncesOnce: Bool, challenges: Int
    ) async throws {
        let log = EventLog<Int>()
        let storage = CredentialStorage()
        var options = RequestSessionOptions()
        options.credentials = storage
        options.hooks.challenge = { _, challenge in
            log.append(challenge.failureCount)
            return Self.ann
        }
        let session = try RequestSession(options: options)
        let server = try TusServer {
            $0.challenge = challenge
            $0.takesNoncesOnce = takesNoncesOnce
            $0.cuts = [100_000]
        }
        let address = try WebAddress("http://127.0.0.1:\(server.port)/files")
        #expect(try await send(session, server).statusCode == 204)
        let state = server.state.withLock { $0 }
        #expect(state.uploads == [1: Self.body])
        #expect(state.log.count { $0.hasSuffix("401") } == challenges, "\(state.log)")
        let counts = state.heads.compactMap { head in
            head.firstRange(of: ", nc=").map { String(head[$0.upperBound...].prefix(8)) }
        }
        if challenge == Self.digest, !takesNoncesOnce {
            #expect(counts == ["00000001", "00000002", "00000001", "00000002"])
        }
        #expect(log.values == [0], "it was asked for other credentials")
        #expect(storage.credentials(for: address, realm: "zoo")?.password == "secret")
    }

    @Test func `each exchange has the cookies of those before it`() async throws {
        let session = try RequestSession()
        let server = try TusServer { $0.fields = ["Set-Cookie: node=7; Path=/"] }
        #expect(try await send(session, server).statusCode == 204)
        let heads = server.state.withLock { $0.heads }
        #expect(heads.map { $0.contains("Cookie: node=7") } == [false, true])
    }

    @Test func `an upload's parts are sent to no other origin by a redirect`() async throws {
        let session = try RequestSession()
        let other = try TusServer()
        let elsewhere = "http://127.0.0.1:\(other.port)/files"
        for redirects in [[elsewhere], [nil, elsewhere + "/1"]] {
            let server = try TusServer { $0.redirects = redirects }
            let error = await failure { _ = try await send(session, server) }
            #expect(error == "response bad-status")
        }
        #expect(other.state.withLock { $0.heads }.isEmpty)
    }

    @Test func `an upload is where its maker says, relative to the URL that answered`() async throws {
        let session = try RequestSession()
        let server = try TusServer {
            $0.redirects = ["/v2/files/"]
            $0.location = ""
        }
        #expect(try await send(session, server).statusCode == 204)
        let heads = server.state.withLock { $0.heads }
        #expect(
            heads.map { $0.prefix { $0 != "\r\n" } } == [
                "POST /files HTTP/1.1", "POST /v2/files/ HTTP/1.1", "PATCH /v2/files/1 HTTP/1.1",
            ])
    }

    @Test func `the hook for answers is asked about none, and no answer is read in pieces`() async throws {
        var options = RequestSessionOptions()
        options.hooks.disposition = { _, response in response.statusCode == 201 ? .cancel : .allow }
        let session = try RequestSession(options: options)
        let server = try TusServer()
        #expect(try await send(session, server).statusCode == 204)
        let task = try session.upload(
            Self.body, to: "http://127.0.0.1:\(server.port)/files", method: "POST", options: Self.options(.untilExpiry))
        await #expect(throws: RequestError.self) { _ = try await task.stream() }
    }
}
