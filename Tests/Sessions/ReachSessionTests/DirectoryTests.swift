import ReachCore
import ReachSession
import ReachTesting
import Testing

/// Sessions that keep their requests in a directory.
@Suite(.timeLimit(.minutes(1))) struct DirectoryTests {
    private func session(
        _ directory: TemporaryDirectory, _ change: (inout RequestSessionOptions) -> Void = { _ in }
    ) throws -> RequestSession {
        var options = RequestSessionOptions()
        change(&options)
        return try RequestSession(keeping: .directory(directory.path + "/queue"), options: options)
    }

    @Test func `who asks for the tasks of a session that is closed gets an answer`() async throws {
        let directory = try TemporaryDirectory()
        let session = try session(directory)
        async let tasks = session.tasks()
        async let more = session.tasks()
        await Task.yield()
        #expect(await session.closeAndWait())
        #expect(await tasks.isEmpty)
        #expect(await more.isEmpty)
    }

    @Test func `a later run sends stored requests, and handlers can be added to their tasks`() async throws {
        let directory = try TemporaryDirectory()
        let server = try ScriptedServer { connection in connection.write(SessionStage.echo(connection.readRequest())) }
        let url = "http://127.0.0.1:\(server.port)/"
        let first = try session(directory)
        var options = RequestOptions()
        options.constraint = .interface("none0")
        options.priority = .high
        options.orderKey = "mine"
        let waiting = try first.post(url + "later", parameters: ["a": "b"], options: options)
        let log = EventLog<String>()
        waiting.whenComplete { result in
            if case .failure(let error) = result { log.append(error.summary) }
        }
        let number = try await waiting.stored()
        let held = try first.get(url + "held").resume()
        held.suspend()
        try await held.stored()
        #expect(await first.closeAndWait())
        #expect(log.values == ["closed closed"])
        #expect(server.requests.values.isEmpty)

        let second = try session(directory)
        let tasks = await second.tasks()
        try #require(tasks.count == 2)
        #expect(tasks.map(\.storedNumber) == [number, number + 1])
        var expected = options
        expected.idempotencyKey = tasks[0].options.idempotencyKey
        expected.retries = .untilExpiry
        expected.expiresAfter = .seconds(14 * 86_400)
        #expect(tasks[0].options == expected)
        #expect(tasks[0].originalRequest.method == .post && tasks[0].originalRequest.url.path == "/later")
        #expect(tasks[0].suspensionReasons == .network && tasks[1].suspensionReasons == .user)
        #expect(await second.tasks().map(\.identifier) == tasks.map(\.identifier))
        tasks[1].resume()
        let value = try await tasks[1].value()
        #expect(value?.json?["line"]?.string == "GET /held HTTP/1.1")
        tasks[0].cancel()
        await second.closeAndWait()
    }

    @Test func `an answer that no caller fetched is stored, even a long one`() async throws {
        let directory = try TemporaryDirectory()
        let long = String(repeating: "long ", count: 40_000)
        let server = try ScriptedServer { connection in
            let request = connection.readRequest()
            let body = request.contains("/long") ? long : "short"
            connection.write(
                SessionStage.answer(body, status: request.contains("/no") ? "403 No" : "200 OK", type: "text/plain"))
        }
        let url = "http://127.0.0.1:\(server.port)"
        let first = try session(directory) { $0.responseSerializer = DataResponseSerializer() }
        let ends = EventLog<String>()
        first.addObserver(forName: .didComplete) { ends.append($0.task.originalRequest.url.path) }
        for path in ["/long", "/short", "/no", "/fetched"] {
            let task = try first.get(url + path).resume()
            try await ends.wait { $0 == path }
            if path == "/fetched" { #expect(try await task.response().text == "short") }
        }
        await first.closeAndWait()

        let second = try session(directory) { $0.responseSerializer = DataResponseSerializer() }
        let tasks = await second.tasks()
        try #require(tasks.count == 3)
        #expect(tasks.allSatisfy { $0.requestState == .completed })
        #expect(try await tasks[0].response().text == long)
        #expect(try await tasks[1].response().text == "short")
        #expect(await failure { try await tasks[2].response() } == "response bad-status")
        await second.closeAndWait()

        let third = try session(directory)
        #expect(await third.tasks().isEmpty)
        await third.closeAndWait()
        #expect(try ChildProcess.run(["ls", directory.path + "/queue/spool"]) == "")
    }

    @Test func `a download resumes where an earlier run stopped`() async throws {
        let directory = try TemporaryDirectory()
        let server = try HalvingServer()
        let path = directory.path + "/there"
        let first = try session(directory)
        _ = try await server.begunDownload(by: first, to: path)
        await first.closeAndWait()
        server.gate.open()
        let second = try session(directory)
        let tasks = await second.tasks()
        try #require(tasks.map(\.kind) == [.download])
        #expect(try await tasks[0].response().path == path)
        #expect(try ChildProcess.run(["cat", path]) == HalvingServer.body)
        #expect(server.ranges.count == 1 && server.ranges != ["Range: bytes=0-"])
        await second.closeAndWait()
        #expect(try ChildProcess.run(["ls", directory.path]) == "queue\nthere\n")
    }

    @Test func `only one session at a time can use a directory`() async throws {
        let directory = try TemporaryDirectory()
        let first = try session(directory)
        #expect(await failure { _ = try session(directory) } == "not-taken storage")
        #expect(
            await failure { _ = try RequestSession(keeping: .directory("/nonexistent/queue")) } == "not-taken storage")
        await first.closeAndWait()
        let second = try session(directory)
        #expect(await second.tasks().isEmpty)
        await second.closeAndWait()
    }

    @Test func `a long body of bytes is on disk once the request is stored`() async throws {
        let directory = try TemporaryDirectory()
        let server = try ScriptedServer { connection in connection.write(SessionStage.echo(connection.readRequest())) }
        let body = String(repeating: "body ", count: 400_000)
        let first = try session(directory)
        let task = try first.upload(Array(body.utf8), to: "http://127.0.0.1:\(server.port)/").resume()
        task.suspend()
        try await task.stored()
        await first.closeAndWait()
        let second = try session(directory)
        let tasks = await second.tasks()
        #expect(tasks.map(\.kind) == [.upload])
        try await tasks[0].resume().response()
        #expect(server.requests.values.count == 1 && server.requests.values[0].hasSuffix("\r\n\r\n" + body))
        await second.closeAndWait()
    }

    @Test func `two tasks with a kept name are handles of one request`() async throws {
        let slow = try SlowServer()
        let directory = try TemporaryDirectory()
        let session = try session(directory)
        var options = RequestOptions()
        options.uniqueness = .keep("sync")
        let first = try session.get(slow.url, options: options)
        let second = try session.get(slow.url, options: options)
        let numbers = [try await first.stored(), try await second.stored()]
        #expect(numbers[0] == numbers[1])
        try await slow.server.requests.wait(for: 1)
        slow.gate.open()
        #expect(try await first.response().statusCode == 200)
        #expect(try await second.response().statusCode == 200)
        #expect(slow.server.requests.values.count == 1)
        options.uniqueness = .replace("sync")
        options.constraint = .interface("none0")
        let old = try session.get(slow.url, options: options)
        try await old.stored()
        try await session.get(slow.url, options: options).stored()
        #expect(await failure { try await old.response() } == "cancelled superseded")
        #expect(old.requestState == .cancelled)
        await session.closeAndWait()
    }
}
