import InMemoryTracing
import ReachServices
import ReachSession
import ReachTesting
import Testing
import Tracing

@Suite(.timeLimit(.minutes(1))) struct TracingTests {
    private let tracer = InMemoryTracer()

    private func spans(named name: String) -> [FinishedInMemorySpan] {
        tracer.finishedSpans.filter { $0.operationName == name }
    }

    private func text(_ span: FinishedInMemorySpan, _ name: String) -> String? {
        guard case .string(let text) = span.attributes.get(name) else { return nil }
        return text
    }

    private func number(_ span: FinishedInMemorySpan, _ name: String) -> Int64? {
        switch span.attributes.get(name) {
        case .int64(let number): number
        case .int32(let number): Int64(number)
        default: nil
        }
    }

    @Test func `a task belongs to the caller's span, and the server to that of the request`() async throws {
        let server = try ScriptedServer { connection in
            while !connection.readRequest().isEmpty {
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            }
        }
        let session = try makeSession { $0.trace(by: tracer) }
        try await tracer.withSpan("caller") { _ in
            let url = "http://user:secret@127.0.0.1:\(server.port)/x?key=secret"
            _ = await session.result(of: try session.get(url))
        }
        let caller = try #require(spans(named: "caller").first)
        let task = try #require(spans(named: "request").first)
        let wait = try #require(spans(named: "wait").first)
        let sent = try #require(spans(named: "GET").first)
        #expect(task.parentSpanID == caller.spanID && task.traceID == caller.traceID)
        #expect(wait.parentSpanID == task.spanID && sent.parentSpanID == task.spanID)
        #expect(sent.kind == .client && task.kind == .internal)
        #expect(text(sent, "url.full") == "http://127.0.0.1:\(server.port)/x")
        #expect(text(sent, "server.address") == "127.0.0.1" && number(sent, "server.port") == Int64(server.port))
        #expect(text(sent, "network.peer.address") == "127.0.0.1")
        #expect(number(sent, "http.response.status_code") == 200 && sent.status == nil)
        let request = try #require(server.requests.values.first)
        #expect(request.contains("\(InMemoryTracer.spanIDKey): \(sent.spanID)\r\n"))
        #expect(request.contains("\(InMemoryTracer.traceIDKey): \(caller.traceID)\r\n"))
    }

    @Test func `each attempt and each redirect has a span, and what lies between is a wait`() async throws {
        let server = try ScriptedServer { connection in
            while true {
                let request = connection.readRequest()
                if request.isEmpty { return }
                connection.write(
                    request.hasPrefix("GET /old ")
                        ? "HTTP/1.1 302 Found\r\nLocation: /new\r\nContent-Length: 0\r\n\r\n"
                        : "HTTP/1.1 503 Later\r\nContent-Length: 0\r\n\r\n")
            }
        }
        let session = try makeSession { $0.trace(by: tracer) }
        var options = RequestOptions()
        options.retries = .attempts(2)
        _ = await session.result(of: try session.get("http://127.0.0.1:\(server.port)/old", options: options))
        let sent = spans(named: "GET")
        #expect(sent.map { number($0, "http.response.status_code") } == [302, 503, 302, 503])
        #expect(sent.map { number($0, "http.request.resend_count") } == [nil, 1, 2, 3])
        #expect(sent.map { text($0, "error.type") } == [nil, "503", nil, "503"])
        let seen = server.requests.values.map { request in
            request.split(separator: "\r\n").first { $0.hasPrefix(InMemoryTracer.spanIDKey) }.map(String.init)
        }
        #expect(seen == sent.map { "\(InMemoryTracer.spanIDKey): \($0.spanID)" })
        #expect(spans(named: "wait").count >= 2)
        #expect(spans(named: "request").first?.status?.code == .error)
        #expect(tracer.activeSpans.isEmpty)
    }

    @Test func `a task that is cancelled while it is sent leaves no open span`() async throws {
        let server = try ScriptedServer { connection in
            connection.readRequest()
            connection.waitForEnd()
        }
        let session = try makeSession { $0.trace(by: tracer) }
        let task = try session.get("http://127.0.0.1:\(server.port)/").resume()
        while server.requests.values.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        task.cancel()
        _ = await task.ending
        await session.closeAndWait()
        #expect(spans(named: "GET").map { text($0, "error.type") } == ["cancelled"])
        #expect(spans(named: "request").map { text($0, "error.type") } == ["cancelled"])
        #expect(tracer.activeSpans.isEmpty)
    }
}
