import Foundation
import ReachCore
import ReachSession
import ReachSessionFoundation
import ReachTesting
import Testing

/// Time limits and tags of single requests, requests that do not wait, headers of a session, its end, and metrics.
@Suite(.timeLimit(.minutes(1))) struct OptionTests {
    // MARK: - Time limits

    private static func limits(
        _ change: (inout RequestSessionOptions.Timeouts) -> Void
    ) -> RequestOptions {
        var (options, timeouts) = (RequestOptions(), RequestSessionOptions.Timeouts())
        change(&timeouts)
        options.timeouts = timeouts
        return options
    }

    @Test func `a request's own time limits end its attempts`() async throws {
        let slow = try SlowServer()
        let session = try RequestSession()
        let idle = Self.limits { $0.idle = .milliseconds(200) }
        #expect(
            await failure { try await session.get(slow.url, options: idle).response() } == "destination idle-timeout")
        let total = Self.limits { $0.total = .milliseconds(200) }
        #expect(await failure { try await session.get(slow.url, options: total).response() } == "destination timeout")
        let none = Self.limits { $0.idle = .zero }
        #expect(await failure { _ = try session.get(slow.url, options: none) } == "request bad-timeouts")
        // Other requests have the session's limits.
        let other = try session.get(slow.url).resume()
        try await slow.server.requests.wait(for: 3)
        slow.gate.open()
        #expect(try await other.response().statusCode == 200)
    }

    @Test(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"))
    func `a request's own limit for connecting ends its attempt`() async throws {
        let scene = try NetworkScene { $0.timeouts.connect = .seconds(3600) }
        // The peer drops what is sent to this port.
        try scene.peer.run("nft", "add table ip f; add chain ip f i { type filter hook input priority 0; }")
        try scene.peer.run("nft", "add rule ip f i tcp dport 81 drop")
        let options = Self.limits { $0.connect = .milliseconds(200) }
        #expect(
            await failure { try await scene.session.get("http://192.0.2.1:81/", options: options).response() }
                == "destination connect-timeout")
    }

    @Test func `time limits, a tag and the rest are found again in a later run`() async throws {
        let directory = try TemporaryDirectory()
        let keeping = RequestSession.Keeping.directory(directory.path + "/queue")
        var options = Self.limits {
            $0.connect = .milliseconds(1500)
            $0.idle = nil
            $0.total = .seconds(90)
        }
        options.tag = "order 7, \u{fc}"
        options.waitsForConnectivity = false
        let first = try RequestSession(keeping: keeping)
        let task = try first.get("http://127.0.0.1:1/", options: options).resume()
        task.suspend()
        try await task.stored()
        #expect(task.tag == "order 7, \u{fc}")
        await first.closeAndWait()
        let second = try RequestSession(keeping: keeping)
        let found = await second.tasks(tagged: "order 7, \u{fc}")
        #expect(found.map(\.options.timeouts) == [options.timeouts])
        #expect(found.map(\.options.waitsForConnectivity) == [false])
        #expect(await second.tasks(tagged: "order 7").isEmpty)
        await second.closeAndWait()
    }

    // MARK: - Offline

    @Test(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"))
    func `a request that does not wait fails while the network does not allow it, in the explanation's words`()
        async throws
    {
        let scene = try NetworkScene()
        var options = RequestOptions()
        options.waitsForConnectivity = false
        options.constraint = .wifi
        #expect(try await scene.session.get("http://192.0.2.1/", options: options).response().statusCode == 200)
        options.constraint = .wired
        func error(_ task: RequestTask) async throws -> RequestError {
            guard case .failure(let error) = await task.awaitedResult else { throw TestFailure("no error") }
            return error
        }
        let refused = try await error(scene.session.get("http://192.0.2.1/", options: options))
        #expect(refused.summary == "offline class")
        #expect(
            refused.description
                == "The path to http://192.0.2.1:80, by up0, does not satisfy 'wired'. It starts when there is one that does."
        )
        try scene.link(up: false)
        for constraint in [RequestConstraint.any, .wifi, .reachable] {
            options.constraint = constraint
            #expect(try await error(scene.session.get("http://192.0.2.1/", options: options)).kind == .offline)
        }
        // One that waits is not affected.
        let waiting = try scene.session.get("http://192.0.2.1/", when: .any).resume()
        try scene.link(up: true)
        #expect(try await waiting.response().statusCode == 200)
    }

    @Test(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"))
    func `a request that does not wait fails when the network is lost, before and while it is sent`() async throws {
        let scene = try NetworkScene { $0.maximumRunning = 1 }
        let gate = ThreadGate()
        let server = try ScriptedServer(in: scene.peer, at: IPAddress(ipv4: 0xc000_0201), port: 8080) { connection in
            connection.readRequest()
            gate.wait()
        }
        defer { gate.open() }
        var options = RequestOptions()
        options.waitsForConnectivity = false
        options.constraint = .wifi
        let running = try scene.session.get("http://192.0.2.1:8080/", options: options).resume()
        let ready = try scene.session.get("http://192.0.2.1:8080/", options: options).resume()
        try await server.requests.wait(for: 1)
        try await ready.stored()
        try scene.link(up: false)
        for task in [running, ready] {
            guard case .failure(let error) = await task.awaitedResult else { throw TestFailure("no error") }
            #expect(error.kind == .offline)
        }
    }

    // MARK: - Headers

    @Test func `a session's headers are those of requests created later`() async throws {
        let stage = try SessionStage()
        let before = try stage.session.get("x")
        stage.session.changeHeaders { headers in
            headers["X-Session"] = "one"
            headers[.userAgent] = "mine/1"
        }
        try await before.response()
        try await stage.session.get("x").response()
        try await stage.session.get("x", headers: ["X-Session": "own"]).response()
        try await stage.session.postForm("x") { $0.append(Array("a".utf8), name: "b") }.response()
        var request = WebRequest(method: .get, url: try WebAddress(stage.root))
        try request.headers.set("User-Agent", "built/1")
        try await stage.session.task(for: request).response()
        stage.session.changeHeaders { $0["x-session"] = nil }
        try await stage.session.get("x").response()
        let sent = stage.server.requests.values
        #expect(sent.map { $0.contains("X-Session: one\r\n") } == [false, true, false, true, true, false])
        #expect(sent[1].contains("User-Agent: mine/1\r\n") && !sent[1].contains("User-Agent: stage"))
        #expect(sent[2].contains("X-Session: own\r\n"))
        #expect(sent[4].contains("User-Agent: built/1\r\n") && !sent[4].contains("mine/1"))
        #expect(stage.session.headers["User-Agent"] == "mine/1")
    }

    @Test func `a session's header that cannot be sent is named by the next request, until it is removed`() throws {
        let session = try RequestSession()
        session.changeHeaders { $0["X-Token"] = "a\r\nb: c" }
        let error = #expect(throws: RequestError.self) { try session.get("http://127.0.0.1/") }
        #expect(error?.word == "bad-header" && error?.description.contains("X-Token") == true)
        session.changeHeaders { $0["x-token"] = nil }
        #expect(try session.get("http://127.0.0.1/").originalRequest.headers["X-Token"] == nil)
    }

    @Test func `many threads may change a session's headers`() async throws {
        let session = try RequestSession()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<50 {
                group.addTask { session.changeHeaders { $0["X-\(number)"] = "1" } }
            }
        }
        #expect(session.headers.count == 50)
    }

    // MARK: - The end

    @Test func `the end of a session is reported once, after its tasks, also where it is released`() async throws {
        let slow = try SlowServer()
        let log = EventLog<String>()
        let session = try RequestSession()
        session.whenClosed { log.append("closed \($0)") }
        let task = try session.get(slow.url).resume()
        task.whenComplete { _ in log.append("task") }
        try await slow.server.requests.wait(for: 1)
        session.close()
        session.close()
        #expect(try await log.wait(for: 2) == ["task", "closed true"])
        session.whenClosed { log.append("late \($0)") }
        #expect(try await log.wait(for: 3).last == "late true")
        do {
            let released = try RequestSession()
            released.whenClosed { log.append("released \($0)") }
        }
        #expect(try await log.wait(for: 4).last == "released true")
    }

    @Test func `the end of a session is posted to Foundation's notification centre`() async throws {
        let (center, log) = (NotificationCenter(), EventLog<Bool>())
        let session = try RequestSession()
        session.postNotifications(to: center)
        let token = center.addObserver(forName: .requestSessionDidClose, object: nil, queue: nil) { notification in
            if let isWritten = notification.userInfo?[RequestSession.isWrittenKey] as? Bool { log.append(isWritten) }
        }
        defer { center.removeObserver(token) }
        await session.closeAndWait()
        #expect(try await log.wait(for: 1) == [true])
    }

    // MARK: - Metrics

    @Test func `a response has the metrics of its exchanges, redirects and attempts`() async throws {
        let stage = try SessionStage(answer: { request in
            if request.contains(" /v1/from ") {
                return "HTTP/1.1 302 There\r\nLocation: /v1/to\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            }
            return SessionStage.echo(request)
        })
        let log = EventLog<TaskMetrics>()
        stage.session.addObserver(forName: .didComplete) { event in
            if let metrics = event.userInfo[.metrics] as? TaskMetrics { log.append(metrics) }
        }
        let response = try await stage.session.put("from", parameters: ["a": "b"]).response()
        let metrics = try #require(response.metrics)
        #expect(metrics.attempts == 1 && metrics.redirects == 1)
        #expect(metrics.exchanges.map(\.status) == [302, 200])
        #expect(metrics.exchanges.map(\.url.path) == ["/v1/from", "/v1/to"])
        #expect(metrics.exchanges.map { "\($0.method) \($0.httpVersion ?? "")" } == ["PUT HTTP/1.1", "PUT HTTP/1.1"])
        #expect(try await log.wait(for: 1) == [metrics])
        let sent = stage.server.requests.values
        let answers = [
            "HTTP/1.1 302 There\r\nLocation: /v1/to\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            SessionStage.echo(sent[1]),
        ]
        for (index, exchange) in metrics.exchanges.enumerated() {
            #expect(exchange.sentBytes == sent[index].utf8.count && exchange.sentBodyBytes == 3)
            #expect(exchange.receivedBytes == answers[index].utf8.count)
            #expect(exchange.remoteAddress == IPAddress(ipv4: 0x7f00_0001) && exchange.localAddress != nil)
            #expect(exchange.interface == "lo" && !exchange.isReusedConnection && exchange.failure == nil)
            let phases = [exchange.name, exchange.connect, exchange.firstByte].compactMap { $0 }
            #expect(phases.count == 3 && phases.allSatisfy { $0 >= .zero && $0 <= exchange.total })
            #expect(exchange.tls == nil)
        }
        #expect(metrics.exchanges[1].receivedBodyBytes == response.body.count)
        #expect(metrics.exchanges[0].started <= metrics.exchanges[1].started)
    }

    @Test func `metrics count failed attempts, and reused connections`() async throws {
        let number = EventLog<Int>()
        let server = try ScriptedServer { connection in
            while !connection.readRequest().isEmpty {
                number.append(1)
                let status = number.values.count == 1 ? "503 Later" : "200 OK"
                connection.write("HTTP/1.1 \(status)\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
            }
        }
        let session = try RequestSession()
        var options = RequestOptions()
        options.retries = .attempts(3)
        let task = try session.get("http://127.0.0.1:\(server.port)/", options: options)
        let metrics = try #require(try await task.response().metrics)
        #expect(metrics.attempts == 2 && metrics.redirects == 0 && metrics.exchanges.map(\.status) == [503, 200])
        #expect(metrics.exchanges.map(\.isReusedConnection) == [false, true])
        #expect(metrics.exchanges[1].name == nil && metrics.exchanges[1].connect == nil)
        #expect(task.metrics == metrics)
        let port = try TestProgram.freePort()
        let refused = try session.get("http://127.0.0.1:\(port)/")
        _ = await refused.awaitedResult
        #expect(refused.metrics.exchanges.map(\.failure) == ["connection-refused"])
    }
}
