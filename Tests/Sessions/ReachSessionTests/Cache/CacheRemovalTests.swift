import Glibc
import HTTPTypes
import ReachCore
import ReachSession
import ReachTesting
import Testing

/// What a removal of everything leaves of a cache: nothing.
@Suite(.timeLimit(.minutes(1))) struct CacheRemovalTests {
    /// A server whose answers can be stored, and are confirmed by their tag.
    private static func server(
        maxAge: Int = 1000, bytes: Int = 2, beforeAnswer: @escaping @Sendable (String) -> Void = { _ in }
    ) throws -> ScriptedServer {
        try ScriptedServer { connection in
            while case let request = connection.readRequest(), !request.isEmpty {
                beforeAnswer(request)
                let fields = "Cache-Control: max-age=\(maxAge)\r\nETag: \"1\"\r\nContent-Type: text/plain\r\n"
                if request.lowercased().contains("if-none-match") {
                    connection.write("HTTP/1.1 304 Not Modified\r\n\(fields)\r\n")
                } else {
                    let body = String(repeating: "x", count: bytes)
                    connection.write("HTTP/1.1 200 OK\r\n\(fields)Content-Length: \(bytes)\r\n\r\n\(body)")
                }
            }
        }
    }

    private static func session(_ cache: ResponseCache.Keeping, _ server: ScriptedServer) throws -> RequestSession {
        var options = RequestSessionOptions()
        options.cache = cache
        options.responseSerializer = DataResponseSerializer()
        options.maximumRunningPerHost = 8
        return try RequestSession(baseURL: "http://127.0.0.1:\(server.port)/", options: options)
    }

    private static func files(_ directory: String) throws -> [String] {
        try ChildProcess.run(["ls", directory]).split(separator: "\n").map(String.init).filter {
            $0.hasSuffix(".answer")
        }
    }

    private static let onlyStored: RequestOptions = {
        var options = RequestOptions()
        options.cachePolicy = .returnCacheDontLoad
        return options
    }()

    @Test func `when everything is removed, no file is left`() async throws {
        let directory = try TemporaryDirectory()
        let server = try Self.server(bytes: 100_000)
        let session = try Self.session(.directory(directory.path + "/cache", memoryBytes: 0), server)
        let tasks = try (1...30).map { try session.get("\($0)").resume() }
        for task in tasks { try await task.response() }
        await session.cache.removeAll()
        #expect(try Self.files(directory.path + "/cache") == [])
        #expect(session.cache.bytes == 0)
        // So with one URL.
        try await session.get("1").response()
        await session.cache.remove(try WebAddress("http://127.0.0.1:\(server.port)/1"))
        #expect(try Self.files(directory.path + "/cache") == [])
    }

    @Test func `code that cannot wait removes, too`() async throws {
        let directory = try TemporaryDirectory()
        let server = try Self.server(bytes: 1000)
        let session = try Self.session(.directory(directory.path + "/cache"), server)
        for number in 1...2 { try await session.get("\(number)").response() }
        let first = try WebAddress("http://127.0.0.1:\(server.port)/1")
        Self.withoutWaiting { session.cache.remove(first) }
        #expect(try Self.files(directory.path + "/cache").count == 1)
        Self.withoutWaiting { session.cache.removeAll() }
        #expect(try Self.files(directory.path + "/cache") == [])
    }

    private static func withoutWaiting(_ work: () -> Void) { work() }

    @Test func `what was removed does not come back after a kill`() async throws {
        let directory = try TemporaryDirectory()
        let server = try Self.server(bytes: 100_000)
        let url = "http://127.0.0.1:\(server.port)"
        let program = try BuiltProgram(named: "getonce").start([url, directory.path, "remove"])
        #expect(try program.nextLine() == "removed")
        program.send(SIGKILL)
        _ = try? program.finish()
        #expect(try Self.files(directory.path + "/cache") == [])
        let session = try Self.session(.directory(directory.path + "/cache"), server)
        for number in 1...20 {
            let task = try session.get("\(number)", options: Self.onlyStored)
            #expect(await failure { try await task.response() } == "destination not-cached")
        }
    }

    @Test(arguments: [true, false])
    func `an answer to a request from before the removal is not stored`(isOnDisk: Bool) async throws {
        let (directory, gate) = (try TemporaryDirectory(), ThreadGate())
        let arrived = EventLog<Int>()
        let server = try Self.server { _ in
            arrived.append(0)
            gate.wait()
        }
        defer { gate.open() }
        let session = try Self.session(isOnDisk ? .directory(directory.path + "/cache") : .memory(), server)
        let task = try session.get("a").resume()
        try await arrived.wait(for: 1)
        await session.cache.removeAll()
        gate.open()
        #expect(try await task.response().text == "xx")
        let stored = try session.get("a", options: Self.onlyStored)
        #expect(await failure { try await stored.response() } == "destination not-cached")
        // The next one is.
        try await session.get("a").response()
        #expect(try await session.get("a", options: Self.onlyStored).response().text == "xx")
    }

    @Test func `a response that was removed while the server confirms it is fetched again`() async throws {
        let gate = ThreadGate()
        let asked = EventLog<String>()
        let server = try Self.server(maxAge: 0) { request in
            let isConditional = request.lowercased().contains("if-none-match")
            asked.append(isConditional ? "conditional" : "plain")
            if isConditional { gate.wait() }
        }
        defer { gate.open() }
        let session = try Self.session(.memory(), server)
        try await session.get("a").response()
        let task = try session.get("a").resume()
        try await asked.wait(for: 2)
        await session.cache.removeAll()
        gate.open()
        let response = try await task.response()
        #expect(response.text == "xx" && response.cacheUse == nil)
        #expect(asked.values == ["plain", "conditional", "plain"])
    }
}
