import ReachCore
import ReachSession
import ReachTesting
import Testing

/// Tasks that join a request of their unique name whose answer another task reads in pieces.
@Suite(.timeLimit(.minutes(1))) struct JoinedStreamTests {
    private static let size = 3_000_000

    private static let named: RequestOptions = {
        var options = RequestOptions()
        options.uniqueness = .keep("log")
        return options
    }()

    /// A server that sends a head, and a body in two halves, each when its gate is opened.
    private static func server(_ first: ThreadGate, _ second: ThreadGate) throws -> ScriptedServer {
        try ScriptedServer { connection in
            guard !connection.readRequest().isEmpty else { return }
            connection.write("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: \(size)\r\n\r\n")
            first.wait()
            connection.write([UInt8](repeating: 1, count: size / 2))
            second.wait()
            connection.write([UInt8](repeating: 2, count: size / 2))
        }
    }

    private static let whole = [UInt8](repeating: 1, count: size / 2) + [UInt8](repeating: 2, count: size / 2)

    private struct Stage {
        let first = ThreadGate()
        let second = ThreadGate()
        let server: ScriptedServer
        let session: RequestSession

        init(_ change: (inout RequestSessionOptions) -> Void = { _ in }) throws {
            server = try JoinedStreamTests.server(first, second)
            var options = RequestSessionOptions()
            options.responseSerializer = DataResponseSerializer()
            change(&options)
            session = try RequestSession(baseURL: "http://127.0.0.1:\(server.port)/", options: options)
        }

        func task() throws -> RequestTask { try session.get("log", options: JoinedStreamTests.named) }

        func open() {
            first.open()
            second.open()
        }
    }

    private static func read(_ stream: ResponseStream) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        for try await piece in stream { bytes += piece }
        return bytes
    }

    @Test func `a task that joins before the first piece receives the whole answer`() async throws {
        let stage = try Stage()
        defer { stage.open() }
        let stream = try await stage.task().stream()
        let joined = try stage.task()
        try await joined.stored()
        stage.open()
        #expect(try await Self.read(stream) == Self.whole)
        #expect(try await joined.response().body == Self.whole && stage.server.requests.values.count == 1)
    }

    @Test func `tasks that join before the request is sent receive the whole answer, in pieces too`() async throws {
        let stage = try Stage()
        defer { stage.open() }
        let resumed = EventLog<UInt64>()
        stage.session.addObserver(forName: .didResume) { resumed.append($0.task.identifier) }
        stage.session.suspend()
        let (reader, plain, other) = (try stage.task(), try stage.task(), try stage.task())
        async let stream = reader.stream()
        try await resumed.wait(for: 1)
        try await reader.stored()
        try await plain.stored()
        async let later = other.stream()
        try await resumed.wait(for: 3)
        try await other.stored()
        stage.session.resume()
        stage.open()
        #expect(try await Self.read(stream) == Self.whole)
        #expect(try await plain.response().body == Self.whole)
        #expect(try await Self.read(later) == Self.whole)
        #expect(stage.server.requests.values.count == 1)
    }

    @Test func `a task that joins after the first piece is refused by name`() async throws {
        let stage = try Stage()
        defer { stage.open() }
        let stream = try await stage.task().stream()
        stage.first.open()
        var iterator = stream.makeAsyncIterator()
        var read = try #require(try await iterator.next(isolation: nil))
        let late = try stage.task()
        #expect(await failure { try await late.response() } == "not-taken being-read")
        stage.open()
        while let piece = try await iterator.next(isolation: nil) { read += piece }
        #expect(read == Self.whole)
    }

    @Test func `a task that joined receives the whole answer when the reader leaves`() async throws {
        let stage = try Stage()
        defer { stage.open() }
        let reader = try stage.task()
        let stream = try await reader.stream()
        let joined = try stage.task()
        try await joined.stored()
        stage.first.open()
        var iterator: ResponseStream.AsyncIterator? = stream.makeAsyncIterator()
        _ = try await iterator?.next(isolation: nil)
        iterator = nil
        reader.cancel()
        stage.open()
        #expect(try await joined.response().body == Self.whole)
    }

    @Test func `a task that joined ends where the answer is larger than the session keeps, and the reader goes on`()
        async throws
    {
        let stage = try Stage { $0.maximumAnswerBytes = 1_000_000 }
        defer { stage.open() }
        let stream = try await stage.task().stream()
        let joined = try stage.task()
        try await joined.stored()
        stage.open()
        #expect(try await Self.read(stream) == Self.whole)
        #expect(await failure { try await joined.response() } == "response response-too-large")
    }
}
