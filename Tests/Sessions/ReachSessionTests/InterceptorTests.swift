import Glibc
import ReachCore
import ReachLoop
import ReachSession
import ReachTesting
import Synchronization
import Testing

/// Interceptors: adapted attempts, judged answers, and tokens that are refreshed once.
@Suite(.timeLimit(.minutes(1))) struct InterceptorTests {
    /// An interceptor made of blocks.
    private struct Blocks: RequestInterceptor {
        var adaptation: @Sendable (inout RequestAttempt) async throws -> Void = { _ in }
        var decision: @Sendable (RequestAttempt, RequestResponse) async -> RetryDecision = { _, _ in .doNotRetry }
        var judged: @Sendable (Int) -> Bool = { $0 == 401 }

        func adapt(_ attempt: inout RequestAttempt) async throws { try await adaptation(&attempt) }
        func judges(_ response: RequestResponse) -> Bool { judged(response.statusCode) }
        func retry(_ attempt: RequestAttempt, after response: RequestResponse) async -> RetryDecision {
            await decision(attempt, response)
        }
    }

    private static func token(_ text: String) -> @Sendable (inout RequestAttempt) async throws -> Void {
        { try $0.headers.set("Authorization", "Bearer \(text)") }
    }

    /// Answers 401 unless the request has the token that is valid now, and gives tokens at `/token`.
    private final class TokenServer: Sendable {
        let valid = Mutex("none")
        let issued = EventLog<String>()
        let accepts: Bool

        init(accepts: Bool = true) { self.accepts = accepts }

        func answer(_ request: String) -> String {
            if request.hasPrefix("GET /v1/token ") || request.hasPrefix("GET /token ") {
                let token = "t\(issued.values.count + 1)"
                issued.append(token)
                valid.withLock { $0 = token }
                return SessionStage.answer(#"{"token":"\#(token)"}"#)
            }
            let token = valid.withLock { $0 }
            guard accepts, request.contains("Authorization: Bearer \(token)\r\n") else {
                return SessionStage.answer("{}", status: "401 No")
            }
            return SessionStage.echo(request)
        }

        func interceptor(_ credential: String? = nil) -> AuthenticationInterceptor<String> {
            AuthenticationInterceptor(credential: credential) { token, attempt in
                try? attempt.headers.set("Authorization", "Bearer \(token)")
            } refresh: { _, session in
                try await session.get("token").value()?.json?["token"]?.string ?? ""
            }
        }
    }

    private static func options(_ name: String = "api") -> RequestOptions {
        var options = RequestOptions()
        options.interceptor = name
        return options
    }

    private final class Compared: Sendable {
        private let block = Mutex<(@Sendable () -> Void)?>(nil)

        func call(_ new: @escaping @Sendable () -> Void) { block.withLock { $0 = new } }

        func takeBlock() -> (@Sendable () -> Void)? {
            block.withLock { block in
                defer { block = nil }
                return block
            }
        }
    }

    /// A server that accepts one token, and an interceptor whose refresh waits for a gate.
    private final class SlowRefresh: Sendable {
        let gate = ThreadGate()
        let begun = EventLog<Bool>()
        /// Called once, the next time that an attempt which was refused is compared with the credential.
        let compared: Compared
        let stage: SessionStage
        let interceptor: AuthenticationInterceptor<String>

        /// - Parameters:
        ///   - accepted: The token that the server accepts.
        ///   - refreshed: What the refresh returns; it fails with `nil`.
        init(_ credential: String?, accepted: String, refreshed: String?) throws {
            stage = try SessionStage(answer: { request in
                request.contains("Authorization: Bearer \(accepted)\r\n")
                    ? SessionStage.echo(request) : SessionStage.answer("{}", status: "401 No")
            })
            let compared = Compared()
            self.compared = compared
            interceptor = AuthenticationInterceptor(credential: credential) { token, attempt in
                if attempt.headers["Authorization"] != nil { compared.takeBlock()?() }
                try? attempt.headers.set("Authorization", "Bearer \(token)")
            } refresh: { [begun, gate] _, _ in
                begun.append(true)
                await withCheckedContinuation { continuation in
                    BackgroundThread.start(named: "test-refresh") {
                        gate.wait()
                        continuation.resume()
                    }
                }
                guard let refreshed else { throw TestFailure("no token") }
                return refreshed
            }
            stage.session.setInterceptor(interceptor, named: "api")
        }

        func send() throws -> RequestTask { try stage.session.get("x", options: InterceptorTests.options()).resume() }
    }

    @Test(arguments: [nil, "old"], ["refreshed", nil])
    func `a credential that the program sets counts for those that wait for a refresh, whatever becomes of it`(
        first: String?, refreshed: String?
    ) async throws {
        let scene = try SlowRefresh(first, accepted: "new", refreshed: refreshed)
        let waiting = try scene.send()
        try await scene.begun.wait(for: 1)
        scene.interceptor.setCredential("new")
        // One that begins now does not wait.
        #expect(try await scene.send().response().statusCode == 200)
        scene.gate.open()
        #expect(try await waiting.response().statusCode == 200)
        #expect(scene.stage.server.requests.values.last?.contains("Authorization: Bearer new\r\n") == true)
        #expect(scene.interceptor.credential == "new" && scene.begun.values.count == 1)
    }

    /// A token that can be refreshed once would be lost.
    @Test func `a refusal that is judged while the refresh ends begins no second one`() async throws {
        let scene = try SlowRefresh("old", accepted: "fresh", refreshed: "fresh")
        let first = try scene.send()
        try await scene.begun.wait(for: 1)
        scene.compared.call { [gate = scene.gate, interceptor = scene.interceptor] in
            gate.open()
            for _ in 0..<4_000 where interceptor.credential != "fresh" { usleep(5_000) }
        }
        let second = try scene.send()
        #expect(try await first.response().statusCode == 200)
        #expect(try await second.response().statusCode == 200)
        #expect(scene.interceptor.credential == "fresh" && scene.begun.values.count == 1)
    }

    @Test func `the same credential, set again during its refresh, is not refreshed twice`() async throws {
        let scene = try SlowRefresh("old", accepted: "fresh", refreshed: "fresh")
        let first = try scene.send()
        try await scene.begun.wait(for: 1)
        scene.interceptor.setCredential("old")
        let second = try scene.send()
        try await scene.stage.server.requests.wait(for: 2)
        scene.gate.open()
        #expect(try await first.response().statusCode == 200)
        #expect(try await second.response().statusCode == 200)
        #expect(scene.interceptor.credential == "fresh" && scene.begun.values.count == 1)
    }

    // MARK: - Adapting

    @Test func `an interceptor adds, replaces and removes headers of one attempt`() async throws {
        let stage = try SessionStage()
        stage.session.setInterceptor(
            Blocks(adaptation: { attempt in
                #expect(attempt.method == "GET" && attempt.url.path == "/v1/x" && attempt.task != nil)
                try attempt.headers.set("X-Added", "new")
                try attempt.headers.set("X-Replaced", "new")
                attempt.headers[try #require(HTTPField.Name("X-Removed"))] = nil
            }), named: "api")
        let task = try stage.session.get(
            "x", headers: ["X-Replaced": "old", "X-Removed": "old", "X-Kept": "old"], options: Self.options())
        try await task.response()
        let sent = stage.server.requests.values[0]
        #expect(sent.contains("X-Added: new\r\n") && sent.contains("X-Replaced: new\r\n"))
        #expect(sent.contains("X-Kept: old\r\n") && !sent.contains("X-Removed") && !sent.contains("X-Replaced: old"))
        #expect(task.originalRequest.headers["X-Added"] == nil)
    }

    @Test func `each attempt is adapted, also after a failure that the queue retries`() async throws {
        let number = Mutex(0)
        let stage = try SessionStage(answer: { request in
            request.contains("X-Number: 1\r\n")
                ? SessionStage.answer("{}", status: "503 Later") : SessionStage.echo(request)
        })
        stage.session.setInterceptor(
            Blocks(adaptation: { attempt in
                let next = number.withLock { number in
                    number += 1
                    return number
                }
                try attempt.headers.set("X-Number", "\(next)")
            }), named: "api")
        var options = Self.options()
        options.retries = .attempts(3)
        #expect(try await stage.session.get("x", options: options).response().statusCode == 200)
        #expect(stage.server.requests.values.count == 2)
    }

    @Test func `an error in an adaptation ends the request before anything is sent`() async throws {
        struct Broken: Error {}
        let stage = try SessionStage()
        stage.session.setInterceptor(Blocks(adaptation: { _ in throw Broken() }), named: "api")
        let result = try await stage.session.get("x", options: Self.options()).awaitedResult
        guard case .failure(let error) = result else { throw TestFailure("\(result)") }
        #expect(error.summary == "interceptor interceptor" && error.underlyingError is Broken)
        #expect(stage.server.requests.values.isEmpty)
    }

    @Test func `a header that frames the message is rejected from an interceptor`() async throws {
        let stage = try SessionStage()
        stage.session.setInterceptor(
            Blocks(adaptation: { try $0.headers.set("Content-Length", "3") }), named: "api")
        #expect(
            await failure { try await stage.session.get("x", options: Self.options()).response() }
                == "request bad-request")
        #expect(stage.server.requests.values.isEmpty)
    }

    @Test func `what an interceptor adds does not go to another origin`() async throws {
        let other = try ScriptedServer { connection in connection.write(SessionStage.echo(connection.readRequest())) }
        let stage = try SessionStage(answer: { request in
            request.contains(" /v1/here ")
                ? SessionStage.echo(request)
                : "HTTP/1.1 302 There\r\nLocation: "
                    + (request.contains(" /v1/away ") ? "http://127.0.0.1:\(other.port)/" : "/v1/here")
                    + "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        })
        stage.session.setInterceptor(
            Blocks(adaptation: { attempt in
                try attempt.headers.set("X-Api-Key", "secret")
                try attempt.headers.set("X-Replaced", "secret")
                try attempt.headers.set("Authorization", "Bearer secret")
            }), named: "api")
        let headers = ["X-Replaced": "own", "Authorization": "own"]
        try await stage.session.get("there", headers: Headers(headers), options: Self.options()).response()
        #expect(stage.server.requests.values[1].contains("X-Api-Key: secret\r\n"))
        try await stage.session.get("away", headers: Headers(headers), options: Self.options()).response()
        let sent = other.requests.values[0]
        #expect(!sent.contains("secret") && sent.contains("X-Replaced: own\r\n") && !sent.contains("Authorization"))
    }

    @Test func `what an interceptor removed comes back once at other origins, and no secret does`() async throws {
        let last = try ScriptedServer { connection in connection.write(SessionStage.echo(connection.readRequest())) }
        let redirect: @Sendable (UInt16) -> String = {
            "HTTP/1.1 302 There\r\nLocation: http://127.0.0.1:\($0)/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        }
        let other = try ScriptedServer { connection in
            _ = connection.readRequest()
            connection.write(redirect(last.port))
        }
        let stage = try SessionStage(answer: { _ in redirect(other.port) })
        stage.session.setInterceptor(
            Blocks(adaptation: { attempt in
                attempt.headers[try #require(HTTPField.Name("X-Removed"))] = nil
                attempt.headers[try #require(HTTPField.Name("X-Github-Otp"))] = nil
            }), named: "api")
        let headers = ["X-Removed": "own", "X-Github-Otp": "secret", "X-Passcode": "secret"]
        try await stage.session.get("x", headers: Headers(headers), options: Self.options()).response()
        #expect(stage.server.requests.values[0].contains("X-Passcode: secret\r\n"))
        for sent in [other.requests.values[0], last.requests.values[0]] {
            #expect(!sent.contains("secret"))
            #expect(sent.split(separator: "\r\n").count { $0 == "X-Removed: own" } == 1)
        }
    }

    @Test func `cancelling a request cancels its adaptation, and holds nothing up`() async throws {
        let log = EventLog<String>()
        let stage = try SessionStage { $0.maximumRunning = 1 }
        stage.session.setInterceptor(
            Blocks(adaptation: { attempt in
                guard attempt.url.path == "/v1/slow" else { return }
                log.append("begun")
                do { try await Task.sleep(for: .seconds(600)) } catch {
                    log.append("cancelled")
                    throw error
                }
            }), named: "api")
        let slow = try stage.session.get("slow", options: Self.options()).resume()
        try await log.wait(for: 1)
        let explanation = await slow.explanation()
        #expect(explanation.description == "Its interceptor 'api' prepares it. It starts when that is done.")
        #expect(explanation.reasons.map(\.word) == ["interceptor"])
        #expect(try await stage.session.get("x").response().statusCode == 200)
        slow.cancel()
        #expect(try await log.wait(for: 2) == ["begun", "cancelled"])
        #expect(await failure { try await slow.response() } == "cancelled cancelled")
        #expect(try await stage.session.get("y", options: Self.options()).response().statusCode == 200)
    }

    // MARK: - Judging

    @Test func `an interceptor has a request sent again, at once and later, and counts its retries`() async throws {
        let log = EventLog<Int>()
        let stage = try SessionStage(answer: { request in
            request.contains("X-Retries: 2\r\n")
                ? SessionStage.echo(request) : SessionStage.answer(#"{"why":"no"}"#, status: "401 No")
        })
        stage.session.setInterceptor(
            Blocks(
                adaptation: { try $0.headers.set("X-Retries", "\($0.retryCount)") },
                decision: { attempt, response in
                    #expect(response.text == #"{"why":"no"}"#)
                    #expect(attempt.headers["X-Retries"] == "\(attempt.retryCount)")
                    log.append(attempt.retryCount)
                    return attempt.retryCount == 0 ? .retry : .retryAfter(.milliseconds(50))
                }), named: "api")
        let response = try await stage.session.post("x", parameters: ["a": "b"], options: Self.options()).response()
        #expect(response.statusCode == 200 && log.values == [0, 1])
        #expect(stage.server.requests.values.allSatisfy { $0.hasSuffix("\r\n\r\na=b") })
    }

    @Test(arguments: [nil, "given up"])
    func `an interceptor lets an answer stand, or ends the request with an error of its own`(text: String?)
        async throws
    {
        struct GivenUp: Error { let text: String }
        let stage = try SessionStage(answer: { _ in SessionStage.answer("{}", status: "418 Teapot") })
        stage.session.setInterceptor(
            Blocks(
                decision: { _, _ in text.map { .fail(GivenUp(text: $0)) } ?? .doNotRetry },
                judged: { $0 == 418 }), named: "api")
        let result = try await stage.session.get("x", options: Self.options()).awaitedResult
        guard case .failure(let error) = result else { throw TestFailure("\(result)") }
        #expect(error.summary == (text == nil ? "response bad-status" : "interceptor interceptor"))
        #expect((error.underlyingError as? GivenUp)?.text == text)
        #expect(error.response?.statusCode == 418 && stage.server.requests.values.count == 1)
    }

    @Test(arguments: [(1, 0), (5, 0), (6, 2), (7, 4), (12, 128), (14, 300), (1_000_000, 300)])
    func `retries without end get longer waits`(number: Int, seconds: Int) {
        #expect(RetryDecision.wait(beforeRetry: number) == .seconds(seconds))
    }

    // MARK: - Tokens

    @Test(arguments: [(1, 1), (16, 4)])
    func `many requests that are refused share one refresh, even with one slot`(slots: Int, perHost: Int) async throws {
        let tokens = TokenServer()
        let stage = try SessionStage {
            $0.maximumRunning = slots
            $0.maximumRunningPerHost = perHost
        } answer: {
            tokens.answer($0)
        }
        stage.session.setInterceptor(tokens.interceptor("old"), named: "api")
        let tasks = try (0..<12).map { try stage.session.get("x\($0)", options: Self.options()).resume() }
        for task in tasks { #expect(try await task.response().statusCode == 200) }
        #expect(tokens.issued.values == ["t1"])
        // The server's change of mind is noticed, and refreshed once again.
        tokens.valid.withLock { $0 = "other" }
        let more = try (0..<12).map { try stage.session.get("y\($0)", options: Self.options()).resume() }
        for task in more { #expect(try await task.response().statusCode == 200) }
        #expect(tokens.issued.values == ["t1", "t2"])
    }

    @Test func `the first token is fetched before the first request is sent, also where all requests are intercepted`()
        async throws
    {
        let tokens = TokenServer()
        let stage = try SessionStage({ $0.requests.interceptor = "api" }, answer: { tokens.answer($0) })
        stage.session.setInterceptor(tokens.interceptor(), named: "api")
        #expect(try await stage.session.get("x").response().statusCode == 200)
        #expect(stage.server.requests.values.count == 2)
    }

    @Test func `a server that refuses every token ends the requests after five refreshes`() async throws {
        let tokens = TokenServer(accepts: false)
        let stage = try SessionStage(answer: { tokens.answer($0) })
        stage.session.setInterceptor(tokens.interceptor("old"), named: "api")
        let tasks = try (0..<4).map { try stage.session.get("x\($0)", options: Self.options()).resume() }
        for task in tasks {
            guard case .failure(let error) = await task.awaitedResult else { throw TestFailure("no error") }
            #expect(error.underlyingError as? AuthenticationError == .tooManyRefreshes)
            #expect(error.response?.statusCode == 401)
        }
        #expect(tokens.issued.values.count == 5)
    }

    @Test func `a failed refresh ends the requests that wait for it, and the next one tries again`() async throws {
        let tokens = TokenServer()
        let fails = Mutex(true)
        let stage = try SessionStage(answer: { request in
            request.contains(" /v1/token ") && fails.withLock { $0 }
                ? SessionStage.answer("{}", status: "500 No") : tokens.answer(request)
        })
        stage.session.setInterceptor(tokens.interceptor(), named: "api")
        #expect(
            await failure { try await stage.session.get("x", options: Self.options()).response() }
                == "response bad-status")
        fails.withLock { $0 = false }
        #expect(try await stage.session.get("x", options: Self.options()).response().statusCode == 200)
    }

    @Test func `a window admits so many refreshes in its length`() {
        var window = RefreshWindow(count: 2, length: .seconds(10))
        func time(_ seconds: Int64) -> BootTime { BootTime(nanoseconds: seconds * 1_000_000_000) }
        let admitted = [0, 1, 2, 9, 10, 11, 12, 19, 20].map { window.admit(at: time($0)) }
        #expect(admitted == [true, true, false, false, true, true, false, false, true])
    }

    // MARK: - Later runs

    @Test func `a stored request waits for its interceptor in a later run, and goes out with that run's token`()
        async throws
    {
        let directory = try TemporaryDirectory()
        let server = try ScriptedServer { connection in connection.write(SessionStage.echo(connection.readRequest())) }
        let keeping = RequestSession.Keeping.directory(directory.path + "/queue")
        let first = try RequestSession(keeping: keeping)
        first.setInterceptor(Blocks(adaptation: Self.token("yesterday")), named: "api")
        var options = Self.options()
        options.tag = "orders/7"
        let held = try first.get("http://127.0.0.1:\(server.port)/", options: options).resume()
        held.suspend()
        try await held.stored()
        await first.closeAndWait()

        let second = try RequestSession(keeping: keeping)
        #expect(await second.tasks(tagged: "orders/8").isEmpty)
        let tasks = await second.tasks(tagged: "orders/7")
        try #require(tasks.count == 1)
        #expect(tasks[0].options.interceptor == "api" && tasks[0].tag == "orders/7")
        tasks[0].resume()
        while await tasks[0].explanation().reasons.map(\.word) != ["interceptor"] { await Task.yield() }
        #expect(
            await tasks[0].explanation().description
                == "No interceptor is registered as 'api'. It starts when the program registers one.")
        second.setInterceptor(Blocks(adaptation: Self.token("today")), named: "api")
        #expect(try await tasks[0].response().statusCode == 200)
        #expect(server.requests.values.count == 1)
        #expect(server.requests.values[0].contains("Authorization: Bearer today\r\n"))
        await second.closeAndWait()
        let bytes = try ChildProcess.run(["sh", "-c", "cat \(directory.path)/queue/* 2>/dev/null | strings"])
        #expect(!bytes.contains("Bearer today"))
    }

    @Test func `a request of an earlier run without a task is adapted and judged`() async throws {
        let directory = try TemporaryDirectory()
        let tokens = TokenServer()
        let server = try ScriptedServer { connection in connection.write(tokens.answer(connection.readRequest())) }
        let keeping = RequestSession.Keeping.directory(directory.path + "/queue")
        let root = "http://127.0.0.1:\(server.port)/"
        let first = try RequestSession(keeping: keeping)
        first.suspend()
        try await first.post(root + "orders", parameters: ["a": "b"], options: Self.options()).stored()
        await first.closeAndWait()

        let second = try RequestSession(keeping: keeping, baseURL: root)
        second.setInterceptor(tokens.interceptor("old"), named: "api")
        second.resume()
        try await server.requests.wait(for: 3)
        #expect(tokens.issued.values == ["t1"])
        let tasks = await second.tasks()
        try #require(tasks.count == 1)
        #expect(try await tasks[0].response().statusCode == 200)
        await second.closeAndWait()
    }
}
