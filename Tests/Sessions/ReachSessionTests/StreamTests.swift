import Foundation
import ReachCore
import ReachSession
import ReachTesting
import Testing

/// Answers in pieces as they arrive.
@Suite(.timeLimit(.minutes(1))) struct StreamTests {
    /// A server that sends a head, and then what the script writes.
    private func server(
        _ head: String = "Content-Type: text/plain\r\n",
        _ script: @escaping @Sendable (ScriptedServer.Connection) -> Void
    ) throws -> ScriptedServer {
        try ScriptedServer { connection in
            guard !connection.readRequest().isEmpty else { return }
            connection.write("HTTP/1.1 200 OK\r\nConnection: close\r\n\(head)\r\n")
            script(connection)
        }
    }

    private func url(_ server: ScriptedServer) -> String { "http://127.0.0.1:\(server.port)/" }

    @Test func `pieces are read while the answer arrives`() async throws {
        let gate = ThreadGate()
        let server = try server { connection in
            connection.write("first")
            gate.wait()
            connection.write("second")
        }
        defer { gate.open() }
        let task = try RequestSession().get(url(server))
        let stream = try await task.stream()
        #expect(stream.head.status == .ok && stream.head.mediaType == "text/plain")
        var text = ""
        for try await piece in stream {
            text += String(decoding: piece, as: UTF8.self)
            if text == "first" { gate.open() }
        }
        #expect(text == "firstsecond")
        #expect(try await task.response().statusCode == 200 && task.requestState == .completed)
    }

    @Test func `the body of a redirect is not that of the error after it`() async throws {
        let server = try ScriptedServer { connection in
            let isFirst = connection.readRequest().hasPrefix("GET / ")
            let (status, body) = isFirst ? ("302 Found\r\nLocation: /x", "moved") : ("404 No", "missing")
            connection.write(
                "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)")
        }
        let task = try RequestSession().get(url(server))
        do {
            _ = try await task.stream()
            Issue.record("a 404 is no stream")
        } catch {
            #expect(error.response?.statusCode == 404 && error.response?.text == "missing")
        }
    }

    @Test func `a stream that is refused ends, however much the server sends`() async throws {
        let server = try ScriptedServer { connection in
            guard !connection.readRequest().isEmpty else { return }
            connection.write("HTTP/1.1 404 No\r\nConnection: close\r\n\r\n")
            while connection.write([UInt8](repeating: 7, count: 100_000)) {}
        }
        var options = RequestSessionOptions()
        options.maximumAnswerBytes = 2_000_000
        let session = try RequestSession(options: options)
        #expect(await failure { _ = try await session.get(url(server)).stream() } == "response response-too-large")
    }

    @Test func `a slow reader pauses the connection, and gets every byte`() async throws {
        let (count, sent) = (60_000_000, EventLog<Int>())
        let server = try server { connection in
            let piece = [UInt8](repeating: 7, count: 1_000_000)
            for number in 0..<60 {
                guard connection.write(piece) else { return }
                sent.append(number)
            }
        }
        let stream = try await RequestSession().get(url(server)).stream()
        var iterator = stream.makeAsyncIterator()
        var read = try #require(try await iterator.next(isolation: nil)).count
        // The kernel's buffers and the session's are full long before the end.
        var before = -1
        while sent.values.count != before {
            before = sent.values.count
            try await Task.sleep(for: .milliseconds(200))
        }
        #expect(before < 40, "\(before) MB of 60 were sent to a reader of \(read) bytes")
        while let piece = try await iterator.next(isolation: nil) {
            #expect(piece.allSatisfy { $0 == 7 })
            read += piece.count
        }
        #expect(read == count)
    }

    @Test func `the end of the iteration ends the request`() async throws {
        let ended = EventLog<Int>()
        let server = try server { connection in
            connection.write("a\nb\nc\n")
            connection.waitForEnd()
            ended.append(0)
        }
        let task = try RequestSession().get(url(server))
        for try await line in try await task.stream().lines {
            #expect(line == "a")
            break
        }
        try await ended.wait(for: 1)
        #expect(task.requestState == .cancelled)
    }

    @Test func `cancelling the Swift task ends the iteration and the request`() async throws {
        let (ended, read) = (EventLog<Int>(), EventLog<String>())
        let server = try server { connection in
            connection.write("a\n")
            connection.waitForEnd()
            ended.append(0)
        }
        let task = try RequestSession().get(url(server))
        let reading = Task {
            for try await line in try await task.stream().lines { read.append(line) }
        }
        #expect(try await read.wait(for: 1) == ["a"])
        reading.cancel()
        try await ended.wait(for: 1)
        let result = await reading.result
        #expect(throws: RequestError.self) { try result.get() }
        #expect(task.requestState == .cancelled)
    }

    @Test func `lines are text, whatever pieces they arrive in`() async throws {
        let server = try server { connection in
            for piece in ["gr", "\u{fc}n\r", "\n\nlast"] { connection.write(piece) }
        }
        var lines: [String] = []
        for try await line in try await RequestSession().get(url(server)).stream().lines { lines.append(line) }
        #expect(lines == ["gr\u{fc}n", "", "last"])
    }

    @Test func `a status that is not accepted is thrown, with the body`() async throws {
        let stage = try SessionStage(answer: { _ in SessionStage.answer(#"{"why":"no"}"#, status: "404 Not Found") })
        let error = await #expect(throws: RequestError.self) { try await stage.session.get("").stream() }
        #expect(error?.summary == "response bad-status" && error?.response?.object?.json?["why"] == "no")
    }

    @Test func `an answer that breaks off is not repeated, and its error follows its bytes`() async throws {
        let server = try server("Content-Length: 10\r\n") { $0.write("half") }
        var options = RequestOptions()
        options.retries = .attempts(5)
        let stream = try await RequestSession().get(url(server), options: options).stream()
        var text = ""
        let error = await #expect(throws: RequestError.self) {
            for try await piece in stream { text += String(decoding: piece, as: UTF8.self) }
        }
        #expect(text == "half" && error?.summary == "destination truncated" && server.requests.values.count == 1)
    }

    @Test func `a server without an answer is an error of the stream, and one that follows is repeated`() async throws {
        let port = try TestProgram.freePort()
        #expect(
            await failure { _ = try await RequestSession().get("http://127.0.0.1:\(port)/").stream() }
                == "destination connection-refused")
        let tries = EventLog<Int>()
        let stage = try SessionStage(answer: { _ in
            tries.append(0)
            return tries.values.count == 1 ? SessionStage.answer("", status: "503 Busy") : SessionStage.answer("there")
        })
        var options = RequestOptions()
        options.retries = .attempts(3)
        var text = ""
        for try await piece in try await stage.session.get("", options: options).stream() {
            text += String(decoding: piece, as: UTF8.self)
        }
        #expect(text == "there" && tries.values.count == 2)
    }

    @Test func `only a task that was not resumed is read in pieces`() async throws {
        let stage = try SessionStage()
        let task = try stage.session.get("").resume()
        #expect(await failure { _ = try await task.stream() } == "request already-started")
        let empty = try SessionStage(answer: { _ in "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n" })
        var pieces = 0
        for try await _ in try await empty.session.get("").stream() { pieces += 1 }
        #expect(pieces == 0)
    }

    @Test func `redirects are followed and compressed pieces decoded, as for other requests`() async throws {
        let stub = StubTransport([
            "/a": .status(302, headers: ["Location": "/b"]), "/b": .pieces(["x", "y"], interval: .milliseconds(1)),
        ])
        let session = try RequestSession(baseURL: "http://example.org", options: RequestSessionOptions(stub: stub))
        let stream = try await session.get("a").stream()
        #expect(stream.url.path == "/b")
        var pieces: [String] = []
        for try await piece in stream { pieces.append(String(decoding: piece, as: UTF8.self)) }
        #expect(pieces == ["x", "y"])
    }

    @Test func `an answer that was read in pieces is not kept for a later run`() async throws {
        let directory = try TemporaryDirectory()
        let stub = StubTransport { _ in .pieces(["a", "b"]) }
        for isRead in [true, false] {
            let path = "\(directory.path)/\(isRead)"
            let session = try RequestSession(keeping: .directory(path), options: RequestSessionOptions(stub: stub))
            let task = try session.get("http://example.org/")
            if isRead {
                for try await _ in try await task.stream() {}
            } else {
                let ends = session.events(forName: .didComplete)
                task.resume()
                for await _ in ends { break }
            }
            await session.closeAndWait()
            let later = try RequestSession(keeping: .directory(path), options: RequestSessionOptions(stub: stub))
            #expect(await later.tasks().isEmpty == isRead)
            await later.closeAndWait()
        }
    }

    @Test func `two readers of a stream share its pieces`() async throws {
        let pieces = (0..<100).map { "\($0);" }
        let stub = StubTransport { _ in .pieces(pieces, interval: .microseconds(100)) }
        let session = try RequestSession(options: RequestSessionOptions(stub: stub))
        let stream = try await session.get("http://example.org/").stream()
        @Sendable func read() async throws -> [String] {
            var read: [String] = []
            for try await piece in stream { read.append(String(decoding: piece, as: UTF8.self)) }
            return read
        }
        async let first = read()
        async let second = read()
        #expect(try await Set(first + second) == Set(pieces))
    }

    // MARK: - Server-sent events

    @Test func `events arrive over connections that begin where the last one ended`() async throws {
        let server = try ScriptedServer { connection in
            let request = connection.readRequest()
            guard !request.isEmpty else { return }
            connection.write("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/event-stream\r\n\r\n")
            if request.contains("Last-Event-ID: 2\r\n") {
                connection.write("id: 3\nevent: end\ndata: three\n\n")
                connection.waitForEnd()
            } else {
                connection.write("retry: 20\nid: 1\ndata: one\n\nid: 2\ndata: two\n\ndata: lost")
            }
        }
        var events: [ServerSentEvent] = []
        for try await event in try RequestSession().serverSentEvents(url(server)) {
            events.append(event)
            if event.type == "end" { break }
        }
        #expect(
            events == [
                ServerSentEvent(data: "one", id: "1"), ServerSentEvent(data: "two", id: "2"),
                ServerSentEvent(type: "end", data: "three", id: "3"),
            ])
        let requests = server.requests.values
        #expect(requests.count == 2 && requests[0].contains("\r\nAccept: text/event-stream\r\n"))
        #expect(!requests[0].contains("Last-Event-ID") && requests[0].contains("\r\nCache-Control: no-store\r\n"))
    }

    @Test func `without reconnection the events end with the connection`() async throws {
        let stub = StubTransport(["/e": .pieces(["data: a\n", "\ndata: b\n\n"], type: "text/event-stream")])
        let session = try RequestSession(baseURL: "http://example.org", options: RequestSessionOptions(stub: stub))
        var data: [String] = []
        for try await event in session.serverSentEvents("e", reconnects: false) { data.append(event.data) }
        #expect(data == ["a", "b"] && stub.requests.count == 1)
        data = []
        for try await event in try await session.get("e").stream().serverSentEvents { data.append(event.data) }
        #expect(data == ["a", "b"])
    }

    @Test(arguments: [
        (StubResponse.text("x"), "response bad-content-type"), (.status(404), "response bad-status"),
        (.failing(.certificateUntrusted), "security certificate-untrusted"), (.status(204), "none"),
    ])
    func `what another connection does not mend ends the events`(response: StubResponse, end: String) async throws {
        let stub = StubTransport { _ in response }
        let session = try RequestSession(options: RequestSessionOptions(stub: stub))
        #expect(await failure { for try await _ in session.serverSentEvents("http://example.org/") {} } == end)
        #expect(stub.requests.count == 1)
    }

    @Test func `a failed connection is followed by another`() async throws {
        let tries = EventLog<Int>()
        let stub = StubTransport { _ in
            tries.append(0)
            if tries.values.count == 2 { return .failing(.connectionRefused) }
            let text = tries.values.count == 1 ? "retry: 1\ndata: a\n\n" : "data: b\n\n"
            return .pieces([text], type: "text/event-stream").failing(.connectionReset)
        }
        let session = try RequestSession(options: RequestSessionOptions(stub: stub))
        var data: [String] = []
        for try await event in session.serverSentEvents("http://example.org/") {
            data.append(event.data)
            if data.count == 2 { break }
        }
        #expect(data == ["a", "b"] && tries.values.count == 3)
    }
}
