import ReachCore
import ReachSession
import ReachTesting
import Synchronization
import Testing

/// Interceptors that are asked about attempts without an answer.
@Suite(.timeLimit(.minutes(1))) struct FailureRetryTests {
    private static func options(_ change: (inout RequestOptions) -> Void = { _ in }) -> RequestOptions {
        var options = RequestOptions()
        options.interceptor = "api"
        change(&options)
        return options
    }

    /// A server that closes its first connections without an answer.
    private static func flaky(_ failures: Int) throws -> ScriptedServer {
        let left = Mutex(failures)
        return try ScriptedServer { connection in
            let request = connection.readRequest()
            let fails = left.withLock { left in
                left -= 1
                return left >= 0
            }
            if !fails { connection.write(SessionStage.echo(request)) }
        }
    }

    @Test func `an interceptor has a request sent again after failures, though it has one attempt`() async throws {
        let server = try Self.flaky(2)
        let session = try RequestSession()
        let seen = EventLog<String>()
        session.setInterceptor(
            ClosureInterceptor(retryFailure: { attempt, error in
                seen.append("\(attempt.retryCount) \(error.summary)")
                return .retryAfter(.milliseconds(10))
            }), named: "api")
        let task = try session.get("http://127.0.0.1:\(server.port)/", options: Self.options())
        #expect(try await task.response().statusCode == 200)
        #expect(seen.values == ["0 destination empty-response", "1 destination empty-response"])
        #expect(task.metrics.attempts == 3)
    }

    @Test func `what an interceptor could not adapt counts among its retries`() async throws {
        struct Broken: Error {}
        let server = try Self.flaky(1)
        let session = try RequestSession()
        let (adapted, asked) = (EventLog<Int>(), EventLog<Int>())
        session.setInterceptor(
            ClosureInterceptor(
                adapt: { attempt in
                    adapted.append(attempt.retryCount)
                    if attempt.retryCount < 2 { throw Broken() }
                },
                retryFailure: { attempt, _ in
                    asked.append(attempt.retryCount)
                    return .retry
                }), named: "api")
        let task = try session.get("http://127.0.0.1:\(server.port)/", options: Self.options())
        #expect(try await task.response().statusCode == 200)
        #expect(adapted.values == [0, 1, 2, 3] && asked.values == [0, 1, 2])
    }

    @Test func `an interceptor is asked about a refused connection, and may give it up`() async throws {
        struct Enough: Error {}
        let port = try TestProgram.freePort()
        let session = try RequestSession()
        let count = Mutex(0)
        session.setInterceptor(
            ClosureInterceptor(retryFailure: { attempt, error in
                count.withLock { $0 += 1 }
                return error.word == "connection-refused" && attempt.retryCount < 2 ? .retry : .fail(Enough())
            }), named: "api")
        let result = await (try session.get("http://127.0.0.1:\(port)/", options: Self.options())).awaitedResult
        guard case .failure(let error) = result else { throw TestFailure("\(result)") }
        #expect(error.kind == .interceptor && error.underlyingError is Enough && count.withLock { $0 } == 3)
        // One that lets it stand leaves the error as it is.
        session.setInterceptor(ClosureInterceptor(retryFailure: { _, _ in .doNotRetry }), named: "api")
        #expect(
            await failure { try await session.get("http://127.0.0.1:\(port)/", options: Self.options()).response() }
                == "destination connection-refused")
    }

    @Test func `an interceptor is asked about its own failed adaptation`() async throws {
        struct Broken: Error {}
        let stage = try SessionStage()
        let count = Mutex(0)
        stage.session.setInterceptor(
            ClosureInterceptor(
                adapt: { attempt in
                    let number = count.withLock { count in
                        count += 1
                        return count
                    }
                    guard number > 2 else { throw Broken() }
                    try attempt.headers.set("X-Try", "\(number)")
                },
                retryFailure: { _, error in error.underlyingError is Broken ? .retry : .doNotRetry }), named: "api")
        try await stage.session.get("x", options: Self.options()).response()
        #expect(stage.server.requests.values.last?.contains("X-Try: 3\r\n") == true)
        // A request that is cancelled meanwhile ends.
        stage.session.setInterceptor(
            ClosureInterceptor(adapt: { _ in throw Broken() }, retryFailure: { _, _ in .retryAfter(.seconds(60)) }),
            named: "api")
        let task = try stage.session.get("y", options: Self.options()).resume()
        try await Task.sleep(for: .milliseconds(50))
        task.cancel()
        #expect(await failure { try await task.response() } == "cancelled cancelled")
    }

    @Test func `a request that must not be repeated is not offered to it once it may have arrived`() async throws {
        let server = try Self.flaky(1)
        let session = try RequestSession()
        let seen = EventLog<String>()
        session.setInterceptor(
            ClosureInterceptor(retryFailure: { _, error in
                seen.append(error.word)
                return .retry
            }), named: "api")
        let options = Self.options { $0.idempotency = .never }
        #expect(
            await failure { try await session.post("http://127.0.0.1:\(server.port)/", options: options).response() }
                == "indeterminate indeterminate")
        #expect(seen.values.isEmpty && server.requests.values.count == 1)
    }

    @Test func `the first interceptor of a chain that decides about a failure counts`() async throws {
        let server = try Self.flaky(1)
        let session = try RequestSession()
        let chain = InterceptorChain([
            ClosureInterceptor(), ClosureInterceptor(retryFailure: { _, _ in .doNotRetry }),
            ClosureInterceptor(retryFailure: { _, _ in .retry }),
        ])
        session.setInterceptor(chain, named: "api")
        let response = try await session.get("http://127.0.0.1:\(server.port)/", options: Self.options()).response()
        #expect(response.statusCode == 200)
    }
}
