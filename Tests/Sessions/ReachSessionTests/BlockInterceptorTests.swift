import HTTPTypes
import ReachCore
import ReachSession
import ReachTesting
import Synchronization
import Testing

/// Interceptors of blocks, and chains of interceptors.
@Suite(.timeLimit(.minutes(1))) struct BlockInterceptorTests {
    private struct Given: Error {}

    private static func adding(_ letter: String) -> ClosureInterceptor {
        ClosureInterceptor(adapt: { attempt in
            let before = attempt.headers[.userAgent] ?? ""
            attempt.headers[.userAgent] = (before.hasPrefix("stage/") ? "" : before) + letter
        })
    }

    private static func options() -> RequestOptions {
        var options = RequestOptions()
        options.interceptor = "it"
        return options
    }

    @Test func `an interceptor is made of blocks`() async throws {
        let refusals = Mutex(1)
        let stage = try SessionStage(answer: { request in
            let isRefused = refusals.withLock { left in
                left -= 1
                return left >= 0
            }
            return isRefused ? SessionStage.answer("{}", status: "418 No") : SessionStage.echo(request)
        })
        let interceptor = ClosureInterceptor {
            $0.headers[.userAgent] = "attempt \($0.retryCount)"
        } judges: {
            $0.statusCode == 418
        } retry: { _, _ in
            .retry
        }
        stage.session.setInterceptor(interceptor, named: "it")
        #expect(try await stage.session.get("x", options: Self.options()).response().statusCode == 200)
        let agents = stage.server.requests.values.map { $0.contains("User-Agent: attempt 0") ? 0 : 1 }
        #expect(agents == [0, 1])
    }

    @Test func `a block that is left out changes nothing`() async throws {
        let stage = try SessionStage(answer: { _ in SessionStage.answer("{}", status: "401 No") })
        stage.session.setInterceptor(ClosureInterceptor(), named: "it")
        let task = try stage.session.get("x", options: Self.options())
        #expect(await failure { try await task.response() } == "response bad-status")
        #expect(stage.server.requests.values.count == 1)
    }

    @Test func `a chain adapts in order, and its first decision counts`() async throws {
        let stage = try SessionStage(answer: { _ in SessionStage.answer("{}", status: "401 No") })
        let asked = EventLog<String>()
        func deciding(_ name: String, judges: Bool = true, _ decision: RetryDecision) -> ClosureInterceptor {
            ClosureInterceptor(judges: { _ in judges }) { _, _ in
                asked.append(name)
                return decision
            }
        }
        let chain = InterceptorChain([
            Self.adding("a"), Self.adding("b"), deciding("silent", judges: false, .fail(Given())),
            deciding("first", .doNotRetry), deciding("second", .fail(Given())), deciding("third", .retry),
        ])
        #expect(chain.interceptors.count == 6)
        stage.session.setInterceptor(chain, named: "it")
        let task = try stage.session.get("x", options: Self.options())
        await #expect(throws: RequestError.self) { try await task.response() }
        guard case .failure(let error) = task.result else { return }
        #expect(error.kind == .interceptor && error.underlyingError is Given)
        #expect(asked.values == ["first", "second"])
        #expect(stage.server.requests.values.first?.contains("User-Agent: ab\r\n") == true)
    }

    @Test func `a request begins no earlier than its interceptor lets it, and delays no other`() async throws {
        let stage = try SessionStage { $0.maximumRunning = 1 }
        let (asked, gate) = (EventLog<Int>(), EventLog<Int>())
        stage.session.setInterceptor(
            ClosureInterceptor { _ in
                asked.append(1)
                try await gate.wait(for: 1)
            }, named: "it")
        let late = try stage.session.get("late", options: Self.options()).resume()
        try await asked.wait(for: 1)
        try await stage.session.get("early").response()
        #expect(stage.server.requests.values.count == 1)
        gate.append(1)
        #expect(try await late.response().statusCode == 200)
        #expect(stage.server.requests.values.last?.hasPrefix("GET /v1/late ") == true)
    }
}
