import ReachSession
import ReachTesting
import Testing

/// Requests that must not be sent twice, and what the answer to one request means for others.
@Suite(.timeLimit(.minutes(1))) struct RepetitionTests {
    /// A server that answers a connection's first request, and reads the second without an answer.
    private func forgetful() throws -> ScriptedServer {
        try ScriptedServer { connection in
            guard !connection.readRequest().isEmpty else { return }
            connection.write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
            connection.readRequest()
        }
    }

    @Test func `a request that must not be repeated is delivered once, and the error says that it may have arrived`()
        async throws
    {
        let server = try ScriptedServer { connection in connection.readRequest() }
        let session = try RequestSession()
        for method in ["GET", "PUT", "POST"] {
            var options = RequestOptions()
            options.idempotency = .never
            options.retries = .attempts(3)
            let task = try session.task(
                for: WebRequest(method: method, url: WebAddress("http://127.0.0.1:\(server.port)/\(method)")),
                options: options)
            #expect(await failure { try await task.response() } == "indeterminate indeterminate")
            #expect(task.metrics.exchanges.count == 1)
        }
        #expect(server.requests.values.count == 3)
        #expect(server.requests.values.allSatisfy { !$0.contains("Idempotency-Key") })
    }

    @Test func `a request that must not be repeated goes by a connection of its own`() async throws {
        let server = try forgetful()
        let session = try RequestSession(baseURL: "http://127.0.0.1:\(server.port)/")
        var options = RequestOptions()
        options.idempotency = .never
        for path in ["a", "b", "c"] { try await session.get(path, options: options).response() }
        #expect(server.requests.values.filter { !$0.isEmpty }.count == 3)
    }

    @Test func `a POST with the program's own key is sent again where a connection ends, one with a made key is not`()
        async throws
    {
        let server = try forgetful()
        let session = try RequestSession(baseURL: "http://127.0.0.1:\(server.port)/")
        try await session.get("warm").response()
        #expect(await failure { try await session.post("made").response() }.hasSuffix(" connection-reset"))
        var options = RequestOptions()
        options.idempotencyKey = "own"
        try await session.get("warm").response()
        try await session.post("own", parameters: ["a": "b"], options: options).response()
        try await session.post("header", headers: ["Idempotency-Key": "h"]).response()
        let sent = server.requests.values.compactMap { $0.split(separator: " ").dropFirst().first.map(String.init) }
        #expect(sent == ["/warm", "/made", "/warm", "/own", "/own", "/header", "/header"])
        #expect(server.requests.values.filter { $0.contains(" /own ") }.allSatisfy { $0.hasSuffix("\r\n\r\na=b") })
    }

    @Test(arguments: [RequestOptions.Idempotency.never, .byMethod])
    func `a POST that must not be repeated is not interrupted by a suspension`(
        idempotency: RequestOptions.Idempotency
    ) async throws {
        let slow = try SlowServer()
        let session = try RequestSession()
        var options = RequestOptions()
        options.idempotency = idempotency
        let task = try session.post(slow.url, parameters: ["a": "b"], options: options).resume()
        try await slow.server.requests.wait(for: 1)
        task.suspend()
        task.resume()
        slow.gate.open()
        #expect(try await task.response().statusCode == 200)
        let sent = slow.server.requests.values
        #expect(sent.count == 1 && !sent[0].contains("Idempotency-Key"))
    }

    @Test func `a request that must not be repeated stays so in a later run`() async throws {
        let directory = try TemporaryDirectory()
        let keeping = RequestSession.Keeping.directory(directory.path + "/queue")
        let first = try RequestSession(keeping: keeping)
        first.suspend()
        var options = RequestOptions()
        options.idempotency = .never
        try await first.get("http://127.0.0.1:1/", options: options).stored()
        await first.closeAndWait()
        let second = try RequestSession(keeping: keeping)
        let tasks = await second.tasks()
        #expect(tasks.map(\.options.idempotency) == [.never])
        await second.closeAndWait()
    }

    // MARK: - Other requests

    @Test func `a path that asks for a wait holds no other request of its host`() async throws {
        let stage = try SessionStage(answer: { request in
            request.contains(" /busy ")
                ? "HTTP/1.1 503 Busy\r\nRetry-After: 3600\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                : SessionStage.echo(request)
        })
        let busy = try stage.session.get("/busy")
        guard case .failure(let error) = await busy.awaitedResult else { throw TestFailure("no error") }
        #expect(error.response?.head.headerFields["Retry-After"] == "3600")
        #expect(try await stage.session.get("/other").response().statusCode == 200)
        #expect(await failure { try await stage.session.get("/busy").response() } == "response bad-status")
        #expect(stage.server.requests.values.count == 3)
    }

    @Test func `failures in a row hold no other request of their host`() async throws {
        let stage = try SessionStage(answer: { request in
            request.contains(" /bad ") ? SessionStage.answer("", status: "500 Bad") : SessionStage.echo(request)
        })
        for _ in 0..<12 { _ = await failure { try await stage.session.get("/bad").response() } }
        #expect(try await stage.session.get("/good").response().statusCode == 200)
        #expect(stage.server.requests.values.count == 13)
    }

    // MARK: - Orders of calls

    @Test func `in any order of calls a fresh session ends each task once, and sends nothing that is held`()
        async throws
    {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        let server = try ScriptedServer { connection in
            if !connection.readRequest().isEmpty { connection.write(SessionStage.answer("{}")) }
        }
        let root = "http://127.0.0.1:\(server.port)"
        // Keeps the thread that sessions in memory share.
        let other = try RequestSession()
        try await other.get(root + "/other").response()
        var mayBeSent: Set<String> = ["/other"]
        for walk in 0..<1000 {
            let session = try RequestSession()
            let ends = EventLog<UInt64>()
            var (tasks, resumed, isHeld) = ([RequestTask](), Set<String>(), false)
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                let index = Int.random(in: 0...max(tasks.count - 1, 0), using: &random)
                switch Int.random(in: 0..<8, using: &random) {
                case 0:
                    session.suspend()
                    isHeld = true
                case 1:
                    session.resume()
                    isHeld = false
                case 2, 3, 4:
                    let task = try session.get("\(root)/\(walk)-\(tasks.count)")
                    task.whenComplete { [identifier = task.identifier] _ in ends.append(identifier) }
                    tasks.append(task)
                case 5 where !tasks.isEmpty: tasks[index].suspend()
                case 6 where !tasks.isEmpty: tasks[index].cancel()
                case 7 where !tasks.isEmpty:
                    tasks[index].resume()
                    resumed.insert("/\(walk)-\(index)")
                default: break
                }
                if !isHeld { mayBeSent.formUnion(resumed) }
            }
            if walk % 20 == 0 { try await Task.sleep(for: .milliseconds(5)) }
            session.close()
            for task in tasks { _ = await task.awaitedResult }
            try await ends.wait(for: tasks.count)
            #expect(ends.values.sorted() == tasks.map(\.identifier), "walk \(walk) of seed \(seed)")
        }
        let sent = server.requests.values.compactMap { $0.split(separator: " ").dropFirst().first.map(String.init) }
        #expect(sent.allSatisfy(mayBeSent.contains), "seed \(seed)")
        await other.closeAndWait()
    }
}
