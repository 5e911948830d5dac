import ReachCore
import ReachSession
import ReachTesting
import Testing

/// One request for all who want the same.
@Suite(.timeLimit(.minutes(1))) struct FetcherTests {
    @Test func `many who fetch the same cause one request, and later ones none`() async throws {
        let slow = try SlowServer()
        let session = try RequestSession()
        let fetcher = SharedFetcher(session)
        let log = EventLog<Int>()
        for _ in 0..<20 { try fetcher.fetch(slow.url) { log.append((try? $0.get())?.statusCode ?? 0) } }
        try await slow.server.requests.wait(for: 1)
        slow.gate.open()
        #expect(try await log.wait(for: 20) == Array(repeating: 200, count: 20))
        #expect(try await fetcher.fetch(slow.url).statusCode == 200)
        #expect(slow.server.requests.values.count == 1)
        #expect(fetcher.cachedBytes == 2)
        fetcher.removeAllCached()
        #expect(try await fetcher.fetch(slow.url).statusCode == 200)
        #expect(slow.server.requests.values.count == 2)
    }

    @Test func `a receipt that is given back ends with an error, and the others get the answer`() async throws {
        let slow = try SlowServer()
        let session = try RequestSession()
        let fetcher = SharedFetcher(session)
        let log = EventLog<String>()
        let first = try #require(
            try fetcher.fetch(slow.url) { result in
                if case .failure(let error) = result { log.append("1 \(error.word)") } else { log.append("1 answer") }
            })
        try fetcher.fetch(slow.url) { result in log.append((try? result.get()) == nil ? "2 error" : "2 answer") }
        fetcher.cancel(first)
        fetcher.cancel(first)
        #expect(try await log.wait(for: 1) == ["1 cancelled"])
        let waiting = Task { await failure { _ = try await fetcher.fetch(slow.url) } }
        try await slow.server.requests.wait(for: 1)
        waiting.cancel()
        #expect(await waiting.value == "cancelled cancelled")
        slow.gate.open()
        #expect(try await log.wait(for: 2) == ["1 cancelled", "2 answer"])
    }

    @Test func `a fetch ends with its last receipt, and a later one asks the server again`() async throws {
        let slow = try SlowServer()
        let session = try RequestSession()
        let fetcher = SharedFetcher(session, limit: 1)
        let log = EventLog<String>()
        session.addObserver(forName: .didComplete) { log.append("\($0.task.requestState)") }
        let receipts = try (0..<2).map { _ in try #require(try fetcher.fetch(slow.url) { _ in log.append("called") }) }
        try await slow.server.requests.wait(for: 1)
        fetcher.cancel(receipts[0])
        fetcher.cancel(receipts[1])
        #expect(try await log.wait(for: 3) == ["called", "called", "cancelled"])
        #expect(await session.tasks().isEmpty)
        slow.gate.open()
        #expect(try await fetcher.fetch(slow.url).statusCode == 200)
        #expect(slow.server.requests.values.count == 2 && fetcher.cachedBytes == 2)
    }

    @Test func `failures are told to all and not kept`() async throws {
        let tries = EventLog<Int>()
        let stage = try SessionStage(answer: { _ in
            tries.append(1)
            return tries.values.count == 1 ? SessionStage.answer("{}", status: "404 No") : SessionStage.answer("{}")
        })
        let fetcher = SharedFetcher(stage.session)
        #expect(await failure { _ = try await fetcher.fetch("a") } == "response bad-status")
        #expect(try await fetcher.fetch("a").statusCode == 200)
        #expect(await failure { _ = try await fetcher.fetch("http://a b/") } == "request bad-url")
    }
}
