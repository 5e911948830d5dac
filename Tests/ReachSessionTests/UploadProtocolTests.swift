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
}
